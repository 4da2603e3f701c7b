package act

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/report"
)

// plan is a revision made ready to apply: checked, sorted into waves, stamped. It is built once per revision and
// remembers what was decided about each object, so that looking again costs nothing while nothing changed.
type plan struct {
	rev          *decide.Revision
	waves        []wave
	targets      []*target                    // all of them, in order of waves
	crds         map[schema.GroupKind]*target // the managed CRDs of the revision, by the kind they define
	keys         map[decide.Key]*target       // by identity
	places       decide.Places                // of its objects
	callers      []*target                    // those that call Services
	requirements []*target                    // those that are about a CRD
	err          error                        // why the revision can never be applied, whatever the cluster holds

	pass sync.Mutex // one pass at a time

	mu     sync.Mutex // guards known in every target, and what follows here
	best   report.Best
	report *report.Report // of the last look

	dirty       dirty // guarded by the lock of what is seen
	pruneMemory pruneMemory
}

// dirty is what is to be looked at again, and what has to be worked out again. The lock of see.Cluster guards it.
type dirty struct {
	all      bool
	targets  map[*target]struct{}
	orphaned *orphanCache // nil: it is to be worked out again
}

// wave is the unit of gating: the objects of one class of one component. It starts when the wave before it is applied
// and its probes pass; inside it objects have no order.
type wave struct {
	number    int // counts from 1 over the revision; empty waves are not counted
	component string
	class     decide.Class
	targets   []*target
}

// target is one object of a plan.
type target struct {
	*decide.Manifest
	decide.Stamp
	wave  int     // index in plan.waves
	place int     // index in that wave
	bound *target // of a binding: what it puts into force, if the revision has it

	known
	trial
}

// known is what is known of a target. The plan's mu guards it.
type known struct {
	observation       observation        // of the last look
	decision          *decision          // nil when nothing was decided yet
	pausedByConflict  bool               // contested: not written for a while
	refusal           *refusedUpdate     // of an update of a CRD, nil when none was refused
	err               error              // of the last write that was tried, nil after one that worked
	dropped           map[string]bool    // fields that the answer to the last write lacked, nil when there was none
	silent            time.Time          // when a write was not answered, zero after an answer
	postponed         uint64             // SpecHash of the copy for which a write was refused that nothing waits for, 0 for none
	required          decide.Requirement // of a requirement: what the last look has seen of it
	requirement, live outline            // of it and of its CRD
	undone            string             // why it was to be written still after the last write, empty if that helped
}

// desiredLocked is the object as it is sent, with what is known of its fields. The plan's mu is held.
func (t *target) desiredLocked() decide.Desired {
	d := t.Desired(t.stampLocked())
	d.Dropped = t.dropped
	return d
}

// stampLocked is what is written on the object, with what it may adopt by now. The plan's mu is held.
func (t *target) stampLocked() decide.Stamp {
	stamp := t.Stamp
	stamp.Adopts = t.observation.adopts
	return stamp
}

// trial is how a dry run went that was made ahead of the target's turn. The plan's pass guards it.
type trial struct {
	triedAhead  bool
	passedAhead bool // and nothing was done with the target since
}

// planOf checks and sorts a revision. What is wrong with it ends up in plan.err, which is terminal.
func planOf(rev *decide.Revision, us decide.Identity) *plan {
	p := &plan{rev: rev, crds: map[schema.GroupKind]*target{}, keys: map[decide.Key]*target{}, places: decide.Places{}, dirty: dirty{targets: map[*target]struct{}{}}}
	components := make([]decide.Component, len(rev.Components))
	for i, c := range rev.Components {
		components[i] = c.Packed()
	}
	faults := decide.Faults(components, rev.Unmanaged)
	if rev.Number < 1 {
		faults = append(faults, fmt.Sprintf("revision number %d is below 1", rev.Number))
	}
	unmanaged := set(rev.Unmanaged)
	for _, component := range components {
		byClass := map[decide.Class][]*target{}
		for _, m := range component.Manifests() {
			key := m.Key
			if m.Fault != (decide.Fault{}) || p.keys[key.Identity()] != nil || key.IsCRD() && unmanaged[key.Name] {
				continue
			}
			t := &target{Manifest: m, Stamp: us.Stamp(component.Name, rev.Number)}
			p.keys[key.Identity()] = t
			p.places.Add(key.GVK(), key.Namespace)
			if key.IsCRD() {
				p.crds[t.Defines] = t
			}
			if len(t.Calls) > 0 {
				p.callers = append(p.callers, t)
			}
			if t.About != "" {
				p.requirements = append(p.requirements, t)
			}
			byClass[decide.ClassOf(key)] = append(byClass[decide.ClassOf(key)], t)
		}
		p.addWaves(component.Name, byClass)
	}
	for _, t := range p.targets {
		if bound := p.keys[t.Binds]; bound != nil && bound.wave <= t.wave {
			t.bound = bound
		}
	}
	if len(faults) > 0 {
		p.err = &decide.RevisionError{Revision: rev.Name, Faults: faults}
	}
	return p
}

func (p *plan) addWaves(component string, byClass map[decide.Class][]*target) {
	for c := decide.ClassCompatibility; c <= decide.ClassOthers; c++ {
		if len(byClass[c]) == 0 {
			continue
		}
		for place, t := range byClass[c] {
			t.wave, t.place = len(p.waves), place
		}
		p.waves = append(p.waves, wave{number: len(p.waves) + 1, component: component, class: c, targets: byClass[c]})
		p.targets = append(p.targets, byClass[c]...)
	}
}

// blankReport is a report of objects of which none was seen.
func (p *plan) blankReport(wait string) *report.Report {
	r := &report.Report{Revision: p.rev.Name, Number: p.rev.Number, Fault: p.err, Wait: wait}
	for _, w := range p.waves {
		r.Waves = append(r.Waves, &report.Wave{
			Number: w.number, Name: w.class.String(), Component: w.component, Objects: make([]*report.Object, len(w.targets)),
		})
	}
	return r
}

func set(names []string) map[string]bool {
	out := make(map[string]bool, len(names))
	for _, name := range names {
		out[name] = true
	}
	return out
}

// inhabits says that the revision has objects in a namespace.
func (p *plan) inhabits(namespace string) bool {
	for key := range p.keys {
		if key.Namespace == namespace {
			return true
		}
	}
	return false
}
