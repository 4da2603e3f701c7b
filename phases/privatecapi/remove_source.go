package privatecapi

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/machine"
)

// RemoveSource takes the source away once it owns nothing any more, and then what is left of the move. A source that may be all there
// is ends it for good.
func (p *Pass) RemoveSource(ctx context.Context) (machine.Result, error) {
	if p.lacksLock() {
		return p.send(ctx, "")
	}
	if fence := p.fenceAgain(fenceOf(p.sides.source)); fence != nil {
		return p.send(ctx, "putting the fence back", fence)
	}
	if err := p.sides.sourceCounts(); err != nil {
		return machine.Result{}, err
	}
	if plan, err := p.equipment(); err != nil || len(plan) > 0 {
		return p.SetSidecars(ctx)
	}
	if plan := present(onlyOwners(p.dependents, p.sides.source, p.sides.copied)); len(plan) > 0 {
		return p.send(ctx, "taking the source out of owners", plan...)
	}
	if plan := p.sides.removal(false); len(plan) > 0 {
		return p.send(ctx, "removing the source", plan...)
	}
	plan := p.sides.unmarkAll(true)
	for _, w := range p.workloads {
		plan = append(plan, w.settle(p.Equipment, p.sides.source.Other()))
	}
	return p.send(ctx, "taking off marks", plan...)
}

// removal are the writes that take the sources, or the targets, away: owned ones first, so that nothing has to be orphaned. The
// finalizers go in one pass and the object in the next, which sees its new version.
func (s *sides) removal(target bool) []*Write {
	var plan []*Write
	for i := len(s.couples) - 1; i >= 0; i-- {
		o, kind := s.couples[i].of(target), s.couples[i].kind(target)
		if o != nil && !(target && s.isStranger(s.couples[i])) {
			w := remove(kind, o)
			if w != nil && target {
				w.ResourceVersion = o.GetResourceVersion() // the source has what was seen of it, and nothing later
			}
			plan = append(plan, w)
		}
	}
	return present(plan)
}

// remove is the next write that takes an object away, nil while it goes by itself.
func remove(kind Kind, o *unstructured.Unstructured) *Write {
	switch {
	case len(holding(o)) > 0:
		return patchOf(kind, o, map[string]any{"metadata": map[string]any{"finalizers": []any{}}})
	case o.GetDeletionTimestamp() == nil:
		return deletionOf(kind, o)
	}
	return nil
}

// holding are the finalizers of an object that a controller takes off; those of the garbage collector are its own while it works.
func holding(o *unstructured.Unstructured) []string {
	return slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool {
		return o.GetDeletionTimestamp() != nil && (f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents)
	})
}

// unmarkAll are the writes that take off the objects that stay what only the move needs.
func (s *sides) unmarkAll(target bool) []*Write {
	var plan []*Write
	for _, c := range s.couples {
		o, kind := c.of(target), c.kind(target)
		if o == nil {
			continue
		}
		if _, is := o.GetAnnotations()[PriorPause]; is && isCluster(kind) {
			w := unpause(kind, o)
			metadata, _ := w.Body["metadata"].(map[string]any)
			annotations, _ := metadata["annotations"].(map[string]any)
			for _, key := range moveMarks {
				annotations[key] = nil
			}
			plan = append(plan, w)
		} else if len(marksOn(o)) > 0 {
			plan = append(plan, unmarked(kind, o))
		}
	}
	return plan
}

func unmarked(kind Kind, o *unstructured.Unstructured) *Write {
	values := map[string]any{}
	for _, key := range moveMarks {
		values[key] = nil
	}
	return annotate(kind, o, values)
}

// present are the writes that are not nil.
func present(plan []*Write) []*Write {
	var some []*Write
	for _, w := range plan {
		if w != nil {
			some = append(some, w)
		}
	}
	return some
}
