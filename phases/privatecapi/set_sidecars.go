package privatecapi

import (
	"context"
	"errors"
	"slices"

	"github.com/capstan-capi/capstan/machine"
)

// SetSidecars gives the components what the target asks of them.
func (p *Pass) SetSidecars(ctx context.Context) (machine.Result, error) {
	plan, err := p.equipment()
	if err != nil {
		return machine.Result{}, err
	}
	return p.send(ctx, "equipping", plan...)
}

// equipment are the writes that have the components speak to the target.
func (p *Pass) equipment() ([]*Write, error) {
	var plan []*Write
	target := p.sides.source.Other()
	for _, w := range p.workloads {
		plan = append(plan, w.equip(p.Equipment, target))
	}
	if target == Private && p.Equipment.Image == "" && slices.ContainsFunc(plan, func(w *Write) bool { return w != nil }) {
		return nil, errNoImage()
	}
	return present(plan), nil
}

// errNoImage is the error of components that need the proxy while nobody knows its image.
func errNoImage() error {
	return machine.Terminal(errors.New("no image with the proxy is known: give the operator flag --private-capi-image"))
}
