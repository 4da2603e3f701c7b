package privatecapi

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// CopyDelta brings to the source what the target did since it ran. The target is paused and its components are away meanwhile. A
// source that may be all there is ends it for good.
func (p *Pass) CopyDelta(ctx context.Context) (machine.Result, error) {
	if p.stage() != guards.Undoing || p.lacksLock() {
		return p.send(ctx, "")
	}
	if err := p.sides.sourceCounts(); err != nil {
		return machine.Result{}, err
	}
	sent := 0
	for i := range p.sides.couples {
		for _, w := range p.sides.catchUp(p.sides.couples[i]) {
			written, err := p.API.Write(ctx, *w)
			if err != nil {
				if result, err := p.stops(w, err); err != nil || result.LookAgain > 0 {
					return result, err
				}
			}
			if w.Verb == Create {
				p.sides.found(i, written)
			}
			sent++
		}
	}
	if sent > 0 {
		return done(sent, "catching up"), nil
	}
	if plan := present(secondOwners(p.dependents, p.sides, true)); len(plan) > 0 {
		return p.send(ctx, "giving dependents their owners back", plan...)
	}
	if !p.facts.Delta.IsDone() {
		return machine.Result{LookAgain: soon}, nil
	}
	return p.send(ctx, "saying that the source has all", p.restage(guards.Undone, p.facts.Marks.Companion.Reason))
}

// found takes in a source that was created for what was born at the target.
func (s *sides) found(i int, created *unstructured.Unstructured) {
	c := &s.couples[i]
	c.source = created
	s.copied[created.GetUID()] = c.target.GetUID()
	s.uncopied[c.target.GetUID()] = created.GetUID()
}

// catchUp are the next writes that bring a source to where its counterpart at the target is; none where it is there.
func (s *sides) catchUp(c couple) []*Write {
	switch {
	case c.target == nil: // it is gone for good: what its finalizers were to do is done
		return present([]*Write{remove(c.kinds.source, c.source)})
	case c.source == nil && c.target.GetDeletionTimestamp() != nil && len(holding(c.target)) == 0:
		return nil // it goes by itself
	case !resolved(c.target, s.source.Other(), s.uncopied):
		return nil
	case c.source == nil:
		body := copyOf(c.target, s.source.Other().to, s.uncopied, c.kinds.source.APIVersion(), c.kinds.source.Status)
		metadata, _ := body["metadata"].(map[string]any)
		setAnnotation(metadata, guards.CopiedToAnnotation, string(c.target.GetUID()))
		setAnnotation(metadata, guards.MigratedByAnnotation, s.move)
		return []*Write{{Verb: Create, Kind: c.kinds.source, Namespace: c.target.GetNamespace(), Name: c.target.GetName(), Body: body}}
	}
	if w := s.contentBack(c); w != nil {
		return []*Write{w}
	}
	if !s.hasStatus(c) {
		return []*Write{s.statusBack(c)}
	}
	if !c.isPair() { // it was replaced by another of its name, which is deleted as its copy
		return []*Write{annotate(c.kinds.source, c.source, map[string]any{guards.CopiedToAnnotation: string(c.target.GetUID())})}
	}
	if c.target.GetDeletionTimestamp() != nil && c.source.GetDeletionTimestamp() == nil {
		return []*Write{deletionOf(c.kinds.source, c.source)}
	}
	return nil
}

// contentBack is the write that gives a source all that its counterpart has but the status, nil if it has that. What stands on the
// source of this programme stays.
func (s *sides) contentBack(c couple) *Write {
	have, want := s.essenceOfSource(c), s.essenceOfTarget(c)
	if c.kinds.source.Status {
		delete(have, "status")
		delete(want, "status")
	}
	if same(have, want) {
		return nil
	}
	body := copyOf(c.target, s.source.Other().to, s.uncopied, c.kinds.source.APIVersion(), c.kinds.source.Status)
	o := &unstructured.Unstructured{Object: body}
	annotations := map[string]string{}
	for key, value := range o.GetAnnotations() {
		if !isOurs(key) {
			annotations[key] = value
		}
	}
	for key, value := range c.source.GetAnnotations() {
		if isOurs(key) {
			annotations[key] = value
		}
	}
	o.SetAnnotations(annotations)
	o.SetUID(c.source.GetUID())
	o.SetResourceVersion(c.source.GetResourceVersion())
	return &Write{
		Verb: Replace, Kind: c.kinds.source, Namespace: o.GetNamespace(), Name: o.GetName(),
		UID: c.source.GetUID(), ResourceVersion: c.source.GetResourceVersion(), Body: body,
	}
}

// statusBack gives a source the status of its counterpart.
func (s *sides) statusBack(c couple) *Write {
	o := c.source.DeepCopy()
	delete(o.Object, "status")
	if status := statusOf(c.target, s.source.Other().to, s.uncopied, c.source.GetGeneration()); status != nil {
		o.Object["status"] = status
	}
	return &Write{
		Verb: Replace, Kind: c.kinds.source, Namespace: o.GetNamespace(), Name: o.GetName(), Status: c.kinds.source.Status,
		UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(), Body: o.Object,
	}
}
