package privatecapi

import (
	"context"

	"github.com/capstan-capi/capstan/machine"
)

// ScaleUp gives the components their replicas, but for those that wait until the source is gone.
func (p *Pass) ScaleUp(ctx context.Context) (machine.Result, error) {
	var plan []*Write
	for _, w := range p.workloads {
		if !w.of.Waits {
			plan = append(plan, w.scaleUp())
		}
	}
	result, err := p.send(ctx, "scaling up", plan...)
	if err == nil && result.LookAgain == 0 {
		result.LookAgain = soon
	}
	return result, err
}
