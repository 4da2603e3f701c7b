package privatecapi

import (
	"context"

	"github.com/capstan-capi/capstan/machine"
)

// SetSidecars gives the components what the target asks of them.
func (p *Pass) SetSidecars(ctx context.Context) (machine.Result, error) {
	var plan []*Write
	for _, w := range p.workloads {
		plan = append(plan, w.equip(p.Equipment, p.sides.source.Other()))
	}
	return p.send(ctx, "equipping", plan...)
}
