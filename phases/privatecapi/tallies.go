package privatecapi

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
)

// tally counts how far everything has come that the objects themselves show.
func (p *Pass) tally(n needs) {
	f, s := &p.facts, p.sides
	source, target := s.side(false), s.side(true)
	f.Standard, f.Private = source, target
	if s.source == Private {
		f.Standard, f.Private = target, source
	}
	f.Workloads, f.Pods = workloadFacts(p.workloads, s.source.Other())
	f.Snapshot = guards.Tally{Known: true, Wanted: 1}
	if p.journal.Hash != "" && (f.Then.State != guards.Snapshotting || p.sourceChanged() == nil) {
		f.Snapshot.Done = 1
	}
	f.Copies, f.Statuses = s.copies(), s.statuses()
	f.Undo = p.undo()
	if n.dependents {
		f.Dependents = s.dependentsHeld(p.dependents)
		f.Removed = p.gone(false)
		f.Dropped = p.gone(true)
		f.Delta = p.delta()
	}
}

// side is what guards see of the sources, or of the targets.
func (s *sides) side(target bool) guards.Side {
	of, to := s.counts()
	f := guards.Side{Known: true, Objects: of, Paused: true, Restored: true}
	if target {
		f.Objects = to
	}
	for _, c := range s.couples {
		o, kind := c.of(target), c.kind(target)
		if o != nil && o.GetDeletionTimestamp() != nil {
			f.Terminating++
		}
		stranger := target && s.isStranger(c)
		if stranger {
			f.Strangers++
		}
		if o == nil || stranger || !isCluster(kind) {
			continue
		}
		f.Paused = f.Paused && isPaused(o)
		if _, kept := o.GetAnnotations()[PriorPause]; kept {
			f.Restored = false
		}
	}
	for _, o := range s.alone {
		if target && !s.ran && SideOf(groupOf(o.GetAPIVersion())) != s.source {
			f.Strangers++
		}
	}
	return f
}

// copies counts the sources that have their copies.
func (s *sides) copies() guards.Tally {
	t := guards.Tally{Known: true}
	for _, c := range s.couples {
		count(&t, c.isCopy(), c.name())
	}
	for _, o := range s.alone {
		count(&t, false, nameOf(o)+" is of a kind that the other side does not have")
	}
	return t
}

// statuses counts the copies that have the status and the managedFields of their sources.
func (s *sides) statuses() guards.Tally {
	t := guards.Tally{Known: true}
	for _, c := range s.couples {
		count(&t, c.source != nil && c.target != nil && s.hasStatus(c) && s.hasManagers(c), c.name())
	}
	return t
}

func (s *sides) hasStatus(c couple) bool {
	return same(map[string]any{"status": s.essenceOfSource(c)["status"]}, map[string]any{"status": s.essenceOfTarget(c)["status"]})
}

func (s *sides) hasManagers(c couple) bool {
	wanted := managersOf(c.source, s.source.to, c.kinds.served)
	return len(wanted) == 0 || same(map[string]any{"": wanted}, map[string]any{"": managersOf(c.target, unchanged, c.kinds.served)})
}

func unchanged(text string) string { return text }

// dependentsHeld counts the dependents of sources that are owned by the copies as well, and the sources that say that they have one.
func (s *sides) dependentsHeld(all []Dependent) guards.Tally {
	t := guards.Tally{Known: true}
	for _, d := range all {
		if len(ownersOn(owners(d.Object), s.source)) > 0 {
			count(&t, s.held(d, s.source, s.copied), nameOf(d.Object))
		}
	}
	for _, c := range s.couples {
		if c.isCopy() {
			count(&t, c.isNoted(), c.name()+" does not say that it has a copy")
		}
	}
	return t
}

// gone counts the sources, or the targets, that are gone, and the dependents that they do not own any more.
func (p *Pass) gone(target bool) guards.Tally {
	t := guards.Tally{Known: true}
	side := p.sides.source
	if target {
		side = side.Other()
	}
	left := 0
	for _, c := range p.sides.couples {
		if o := c.of(target); o != nil && !(target && p.sides.isStranger(c)) {
			left++
			count(&t, false, nameOf(o))
		}
	}
	for _, d := range p.dependents {
		if len(ownersOn(owners(d.Object), side)) > 0 {
			count(&t, false, nameOf(d.Object)+" is owned by what is to go")
		}
	}
	of, to := p.sides.counts()
	t.Done = max(p.journal.total(), of, to) - left
	t.Wanted = t.Done + t.Wanted
	return t
}

func (c couple) of(target bool) *unstructured.Unstructured {
	if target {
		return c.target
	}
	return c.source
}

func (c couple) kind(target bool) Kind {
	if target {
		return c.kinds.target
	}
	return c.kinds.source
}

// delta counts the objects of the target that the source has as they are.
func (p *Pass) delta() guards.Tally {
	t := guards.Tally{Known: true}
	for _, c := range p.sides.couples {
		count(&t, len(p.sides.catchUp(c)) == 0, c.name())
	}
	for _, d := range p.dependents {
		if len(ownersOn(owners(d.Object), p.sides.source.Other())) > 0 {
			count(&t, p.sides.held(d, p.sides.source.Other(), p.sides.uncopied), nameOf(d.Object))
		}
	}
	return t
}

// undo counts what has none of the marks that undoing needs.
func (p *Pass) undo() guards.Tally {
	t := guards.Tally{Known: true}
	for _, w := range p.workloads {
		count(&t, len(w.marks()) == 0, nameOf(w.object))
	}
	for _, c := range p.sides.couples {
		for _, o := range []*unstructured.Unstructured{c.source, c.target} {
			if o != nil {
				count(&t, len(marksOn(o)) == 0, nameOf(o))
			}
		}
	}
	return t
}

// moveMarks are the annotations of an object of Cluster API that are there for a move only.
var moveMarks = []string{PriorPause, guards.MigratedFromAnnotation, guards.MigratedByAnnotation, guards.CopiedToAnnotation}

// marksOn are those that stand on an object.
func marksOn(o *unstructured.Unstructured) []string { return standing(o, moveMarks) }

// standing are the annotations of an object that are some of these.
func standing(o *unstructured.Unstructured, some []string) []string {
	annotations := o.GetAnnotations()
	return slices.DeleteFunc(slices.Clone(some), func(key string) bool {
		_, is := annotations[key]
		return !is
	})
}
