package privatecapi

import (
	"context"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// RestoreWorkloads gives the components back what they had, what scales the others last, and then the source its pause.
func (p *Pass) RestoreWorkloads(ctx context.Context) (machine.Result, error) {
	if fence := p.fenceAgain(guards.BothSidesAreShut); fence != nil {
		return p.send(ctx, "putting the fence back", fence)
	}
	var plan, last []*Write
	for _, w := range p.workloads {
		if w.of.Scales {
			last = append(last, w.restore(p.Equipment, p.sides.source))
		} else {
			plan = append(plan, w.restore(p.Equipment, p.sides.source))
		}
	}
	plan = append(append(plan, last...), p.sides.unmarkAll(false)...)
	return p.send(ctx, "restoring", plan...)
}
