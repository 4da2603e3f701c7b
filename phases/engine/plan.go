package engine

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// plan is a revision made ready to apply: checked, sorted into waves, stamped. It is built once per revision and
// remembers what was concluded about each object, so that looking again costs nothing while nothing changed.
type plan struct {
	rev     *Revision
	waves   []wave
	targets []*target                    // all of them, in order of waves
	crds    map[schema.GroupKind]*target // the managed CRDs of the revision, by the kind they define
	keys    map[Key]*target              // by identity
	kinds   map[schema.GroupVersionKind]bool
	err     error // what makes the revision impossible to apply, whatever the cluster holds

	restless bool                 // guarded by the engine's lock: everything is to be looked at again
	news     map[*target]struct{} // guarded by the engine's lock: what is to be looked at again
	orphaned *orphaned            // guarded by the engine's lock

	pass   sync.Mutex // one pass at a time
	mu     sync.Mutex // guards what was concluded: the lower half of every target, and what follows here
	best   progress
	report *Report // of the last look
	pruned pruned  // has a lock of its own
}

// target is one object of a plan.
type target struct {
	*manifest
	stamp
	wave  int // index in plan.waves
	place int // index in that wave

	sight     sight       // of the last look
	concluded *conclusion // nil when nothing was decided yet
	withheld  bool        // contested: not written for a while
	refusal   *refusal    // of an update of a CRD, nil when none was refused
	err       error       // of the last write that was tried, nil after one that worked
	tried     bool        // ahead of its turn, without effect; this and passed are guarded by the pass lock
	passed    bool        // then, and nothing was done with it since
	settled   string      // the difference that remained after a write: the server keeps it, so it is not fought
}

// planOf checks and sorts a revision. What is wrong with it ends up in plan.err, which is terminal.
func planOf(rev *Revision, owner string) *plan {
	p := &plan{rev: rev, crds: map[schema.GroupKind]*target{}, keys: map[Key]*target{}, kinds: map[schema.GroupVersionKind]bool{}, news: map[*target]struct{}{}}
	var faults []string
	if rev.Number < 1 {
		faults = append(faults, fmt.Sprintf("revision number %d is below 1", rev.Number))
	}
	unmanaged := set(rev.Unmanaged)
	for _, component := range rev.Components {
		byClass := map[class][]*target{}
		for _, m := range component.manifests() {
			key := m.key
			if m.fault != "" {
				faults = append(faults, fmt.Sprintf("%s (component %s): %s", key, component.Name, m.fault))
				continue
			}
			if key.isCRD() && unmanaged[key.Name] {
				continue
			}
			t := &target{manifest: m, stamp: stamp{component.Name, owner, rev.Number}}
			if first, twice := p.keys[key.identity()]; twice {
				faults = append(faults, fmt.Sprintf("%s is given twice, by component %s and by component %s", key, first.component, component.Name))
				continue
			}
			p.keys[key.identity()], p.kinds[key.GVK()] = t, true
			if key.isCRD() {
				p.crds[t.defines] = t
			}
			byClass[classOf(key)] = append(byClass[classOf(key)], t)
		}
		p.addWaves(component.Name, byClass)
	}
	faults = append(faults, p.scopeFaults()...)
	if len(faults) > 0 {
		p.err = &RevisionError{Revision: rev.Name, Faults: faults}
	}
	return p
}

// scopeFaults finds instances of the revision's own CRDs that have a namespace and must not, or the other way round. Of
// other kinds only the cluster knows.
func (p *plan) scopeFaults() []string {
	var faults []string
	for _, t := range p.targets {
		crd := p.crds[t.key.GVK().GroupKind()]
		if crd != nil && crd.namespaced != (t.key.Namespace != "") {
			faults = append(faults, fmt.Sprintf("%s (component %s): %v", t.key, t.component, &ScopeError{Namespaced: crd.namespaced}))
		}
	}
	return faults
}

func (p *plan) addWaves(component string, byClass map[class][]*target) {
	for c := compatibility; c <= others; c++ {
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

// blankReport is a report in which nothing was seen yet.
func (p *plan) blankReport() *Report {
	r := &Report{Revision: p.rev.Name, Number: p.rev.Number, Fault: p.err, sum: sum{counted: true}}
	for _, w := range p.waves {
		r.Waves = append(r.Waves, &Wave{
			Number: w.number, Name: w.class.String(), Component: w.component, Objects: make([]*Object, len(w.targets)),
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
