package privatecapi

import (
	"context"
	"errors"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

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
// of what no move has copied wholly.
func (s *sides) late() []*Write {
	if !s.ran {
		return nil
	}
	all := *s
	all.uncopied = maps.Clone(s.uncopied)
	for _, c := range s.couples { // what is left may name what is gone
		if c.source != nil && c.wasCopied() {
			all.uncopied[types.UID(c.source.GetAnnotations()[guards.CopiedToAnnotation])] = c.source.GetUID()
		}
	}
	var plan []*Write
	for _, c := range s.couples {
		if c.source == nil || c.target == nil || !c.isNoted() || c.target.GetDeletionTimestamp() != nil {
			continue
		}
		if w := all.lateContent(c); w != nil {
			plan = append(plan, w)
		} else if !all.hasStatus(c) {
			plan = append(plan, all.statusBack(c))
		}
	}
	return plan
}

// lateContent is contentBack but for owners and finalizers: the removal of copies takes these away itself, and its original keeps its own.
func (s *sides) lateContent(c couple) *Write {
	have, want := s.essenceOfSource(c), s.essenceOfTarget(c)
	for _, one := range []map[string]any{have, want} {
		metadata, _ := one["metadata"].(map[string]any)
		delete(metadata, "ownerReferences")
		delete(metadata, "finalizers")
		if c.kinds.source.Status {
			delete(one, "status")
		}
	}
	w := s.contentBack(c)
	if w == nil || same(have, want) {
		return nil
	}
	o := &unstructured.Unstructured{Object: w.Body}
	o.SetOwnerReferences(c.source.GetOwnerReferences())
	o.SetFinalizers(c.source.GetFinalizers())
	return w
}
