package privatecapi

import (
	"context"
	"fmt"

	"github.com/capstan-capi/capstan/machine"
)

// TakeSnapshot notes in the journal what the source was.
func (p *Pass) TakeSnapshot(ctx context.Context) (machine.Result, error) {
	if p.facts.Snapshot.IsDone() || p.lacksLock() {
		return p.send(ctx, "")
	}
	j := p.take()
	j.Owned, j.Replicas = p.journal.Owned, p.journal.Replicas
	return p.note(ctx, j, fmt.Sprintf("counted %d objects", j.total()))
}
