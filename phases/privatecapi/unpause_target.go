package privatecapi

import (
	"context"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// UnpauseTarget writes that the target runs, and then lets it: from then on the source lacks what the target does.
func (p *Pass) UnpauseTarget(ctx context.Context) (machine.Result, error) {
	if p.stage() == guards.Moving {
		if notes := p.sides.copiedNotes(); len(notes) > 0 { // a forged record may have left Rewiring out
			return p.send(ctx, "noting copies at the source", notes...)
		}
		return p.send(ctx, "saying that the target runs", p.restage(guards.Live, ""))
	}
	plan := append([]*Write{p.shut(fenceOf(p.sides.source))}, p.sides.eachCluster(true, unpause)...)
	return p.send(ctx, "letting the target run", plan...)
}
