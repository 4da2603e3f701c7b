package privatecapi

import (
	"context"

	"github.com/capstan-capi/capstan/machine"
)

// SetSidecars gives the components what the target asks of them.
func (p *Pass) SetSidecars(ctx context.Context) (machine.Result, error) {
	return p.send(ctx, "equipping", p.equipment()...)
}

// equipment are the writes that have the components speak to the target.
func (p *Pass) equipment() []*Write {
	var plan []*Write
	for _, w := range p.workloads {
		plan = append(plan, w.equip(p.Equipment, p.sides.source.Other()))
	}
	return present(plan)
}
