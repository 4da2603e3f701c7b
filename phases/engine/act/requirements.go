package act

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// definition is what is known of the CRD that a requirement is about.
type definition struct {
	object *see.Object // nil: there is none
	seen   bool
}

// definitionLocked looks for a CRD in what the watches have shown, whoever has it. The cluster's lock is held.
func (e *Engine) definitionLocked(crd string) definition {
	w := e.unmanagedWatches[crd]
	if w == nil || !w.Seen() {
		return definition{}
	}
	return definition{object: w.Objects[types.NamespacedName{Name: crd}], seen: true}
}

// markRequirementsDirtyLocked makes the next look at every plan look again at what is about a CRD. The cluster's lock is held.
func (e *Engine) markRequirementsDirtyLocked(crd string) {
	for _, p := range e.plans {
		for _, t := range p.requirements {
			if t.About == crd {
				p.dirty.targets[t] = struct{}{}
			}
		}
	}
}

// Requirements are those of a revision that are about one CRD each, in the order of its waves, as they were seen. It sends
// nothing.
func (e *Engine) Requirements(rev *decide.Revision) []decide.Requirement {
	p, err := e.plan(rev)
	if err != nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	e.lookLocked(p)
	found := make([]decide.Requirement, len(p.requirements))
	for i, t := range p.requirements {
		found[i] = t.required
	}
	return found
}

// requirementLocked is what was seen of the requirement that a target is. The plan's mu is held.
func (t *target) requirementLocked() decide.Requirement {
	r, s := decide.Requirement{Key: t.Key, About: t.About}, t.observation
	switch {
	case s.unobservable == decide.Unknown:
		r.Unseen = s.why
		return r
	case s.unobservable != "":
		r.Absent = s.why
		return r
	case s.object == nil:
		r.Absent = "does not exist yet"
		return r
	}
	switch c := t.decision; {
	case c.Action == decide.Collision:
		r.Absent = "is somebody else's: " + c.Why
		return r
	case c.Writes() && !c.Deferrable():
		r.Unseen = "is to be written: " + c.Why
		return r
	case !s.definition.seen:
		r.Unseen = "CustomResourceDefinition " + t.About + " is not seen yet"
		return r
	}
	r.Object, r.Definition = t.requirement.of(s.object), t.live.of(s.definition.object)
	return r
}

// outline is the outline of one copy of an object, made once.
type outline struct {
	from *see.Object
	made *unstructured.Unstructured
}

func (o *outline) of(object *see.Object) *unstructured.Unstructured {
	if o.from != object {
		*o = outline{object, object.Outline()}
	}
	return o.made
}
