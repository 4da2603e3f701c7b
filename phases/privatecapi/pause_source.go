package privatecapi

import (
	"context"

	"github.com/capstan-capi/capstan/machine"
)

// PauseSource pauses every Cluster of the source.
func (p *Pass) PauseSource(ctx context.Context) (machine.Result, error) {
	return p.send(ctx, "pausing the source", p.sides.eachCluster(false, pause)...)
}
