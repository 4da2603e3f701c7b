package privatecapi

import (
	"context"
	"errors"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// RemoveCopies takes the copies away once they own nothing any more. What has no counterpart at the source, and is not going by
// itself, stays: nobody can tell whose it is. Of a move whose target never ran it was never ours, and the move ends without it.
func (p *Pass) RemoveCopies(ctx context.Context) (machine.Result, error) {
	if p.lacksLock() {
		return p.send(ctx, "")
	}
	if fence := p.fenceAgain(guards.BothSidesAreShut); fence != nil {
		return p.send(ctx, "putting the fence back", fence)
	}
	if plan := present(onlyOwners(p.dependents, p.sides.source.Other(), p.sides.uncopied)); len(plan) > 0 {
		return p.send(ctx, "giving dependents their owners back", plan...)
	}
	for _, c := range p.sides.couples {
		if c.target != nil && !c.isPair() && !p.sides.isStranger(c) && c.target.GetDeletionTimestamp() == nil {
			return machine.Result{}, machine.Terminal(errors.New(nameOf(c.target) + " is at the target, and has no counterpart at the source: it is not deleted, since it may be all there is of it"))
		}
	}
	plan := p.sides.removal(true)
	result, err := p.send(ctx, "removing copies", plan...)
	if err == nil && result.LookAgain == 0 {
		result.LookAgain = soon
	}
	return result, err
}
