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
	if plan := p.sides.late(); len(plan) > 0 {
		return p.send(ctx, "bringing back what was written late", plan...)
	}
	plan := p.sides.removal(true)
	result, err := p.send(ctx, "removing copies", plan...)
	if err == nil && result.LookAgain == 0 {
		result.LookAgain = soon
	}
	return result, err
}

// late are the writes that bring to the source what its copies have and it has not: an API server that did not know of the fence may have
// taken it in after all had been brought back, or somebody has said too soon that it was. Of a target that never ran nothing counts, nor
// of what no move has copied wholly. The finalizers that a removal has taken off a copy stay on its original.
func (s *sides) late() []*Write {
	var plan []*Write
	for _, c := range s.couples {
		if !s.ran || c.source == nil || c.target == nil || !c.isNoted() || c.target.GetDeletionTimestamp() != nil || !resolved(c.target, s.source.Other(), s.uncopied) {
			continue
		}
		if len(c.target.GetFinalizers()) == 0 {
			c.target = c.target.DeepCopy()
			c.target.SetFinalizers(c.source.GetFinalizers())
		}
		if w := s.contentBack(c); w != nil {
			plan = append(plan, w)
		} else if !s.hasStatus(c) {
			plan = append(plan, s.statusBack(c))
		}
	}
	return plan
}
