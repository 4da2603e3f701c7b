package act

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/report"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// Look says how far a revision is, from what the watches have seen. It sends nothing and writes nothing, and costs only as
// much as has changed since the last time. The report is Unknown until everything was seen once.
// Reports are shared: nobody changes one.
func (e *Engine) Look(rev *decide.Revision) *report.Report {
	p, err := e.plan(rev)
	if err != nil {
		return &report.Report{Revision: rev.Name, Number: rev.Number, Fault: err}
	}
	return e.lookPlan(p)
}

func (e *Engine) lookPlan(p *plan) *report.Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	return e.lookLocked(p)
}

// lookLocked is Look under the plan's lock: the last report, with another look at the objects that have changed.
func (e *Engine) lookLocked(p *plan) *report.Report {
	wait, dirty := e.observations(p)
	last := p.report
	if last != nil && last.Wait == wait && len(dirty) == 0 {
		return last
	}
	edit := report.NewEdit(p.blankReport(wait), last)
	for _, t := range dirty {
		edit.Replace(t.wave, t.place, e.lookAtLocked(p, t))
	}
	r := edit.Done(&p.best)
	p.report = r
	return r
}

// observations takes what is to be looked at again, and what is known of its place in the cluster.
func (e *Engine) observations(p *plan) (wait string, dirty []*target) {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	if p.err == nil && !e.seesInventoriesLocked() {
		why := errNotSeen
		if err := e.inventoriesErrLocked(); err != nil {
			why = err
		}
		wait = fmt.Sprintf("revision %s waits for the watches to start: %v", p.rev.Name, why)
	}
	dirty = p.targets
	if !p.dirty.all && p.report != nil {
		dirty = make([]*target, 0, len(p.dirty.targets))
		for t := range p.dirty.targets {
			dirty = append(dirty, t)
		}
	}
	p.dirty.all = false
	clear(p.dirty.targets)
	older := e.desired != nil && e.desired.Number > p.rev.Number
	unmanaged, current := e.unmanagedLocked(), e.noted.Current == p.rev.Number
	for _, t := range dirty {
		former := t.observation.adopts
		t.observation = e.observeLocked(t.Key)
		t.observation.older, t.observation.current, t.observation.left = older, current, e.noted.LeftAlone[t.Key.Identity()]
		if p.rev.Number == e.noted.AdoptsIn {
			t.observation.adopts = e.noted.Adopts[t.Key.Identity()]
		}
		if t.observation.adopts != former {
			t.decision = nil // it was taken without
		}
		switch {
		case !t.Key.IsCRD():
		case e.leavesLocked(t.Key.Name):
			t.observation = observation{unobservable: decide.Progressed, why: "is listed as unmanaged", older: true}
			continue
		case older && unmanaged[t.Key.Name]:
			t.observation = observation{unobservable: decide.Progressed, why: "is unmanaged in revision " + e.desired.Name, older: true}
			continue
		}
		if t.About != "" {
			t.observation.definition = e.definitionLocked(t.About)
			if t.observation.unobservable == decide.Failed { // others bring its kind, and it is waited for
				t.observation.unobservable, t.observation.err = decide.Pending, nil
			}
		}
		t.observation.ahead, t.observation.reachable = e.aheadLocked(p, t), e.reachableLocked(t.Calls)
		if o := &t.observation; o.unobservable != "" || o.unwatched || o.ahead > 0 {
			p.dirty.targets[t] = struct{}{} // no single watch event tells that it can be observed, or looks otherwise, now
		}
	}
	return wait, dirty
}

// markAllDirtyLocked makes the next look at every plan look at everything again.
func (e *Engine) markAllDirtyLocked() {
	e.cluster.Changes++
	for _, p := range e.plans {
		p.dirty.all = true
	}
}

// markDirtyLocked makes the next look at every plan look at one object again.
func (e *Engine) markDirtyLocked(key decide.Key) {
	for _, p := range e.plans {
		if t := p.keys[key.Identity()]; t != nil {
			p.dirty.targets[t] = struct{}{}
		}
	}
}

// markDirty makes the next look at a plan look again at an object of which something is known that no watch shows.
func (e *Engine) markDirty(p *plan, t *target) {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	p.dirty.targets[t] = struct{}{}
}

// unmanagedLocked are the CRDs that the desired revision does not manage. Older revisions do not manage them either then.
func (e *Engine) unmanagedLocked() map[string]bool {
	if e.desired == nil {
		return nil
	}
	return set(e.desired.Unmanaged)
}

// lookAtLocked says how far one object is.
func (e *Engine) lookAtLocked(p *plan, t *target) *report.Object {
	s := t.observation
	o := &report.Object{Key: t.Key, Component: t.Component, Wave: p.waves[t.wave].number, Older: s.older}
	if s.unobservable != "" {
		t.required = t.requirementLocked()
		o.Action, o.Why = s.unobservable, s.why
		switch {
		case s.isLeft():
			leave(o, s, s.why)
		case s.err != nil:
			o.Err = &report.ObjectError{Key: t.Key, Component: t.Component, Verb: "looking for", Err: s.err}
		}
		return o
	}
	c := e.decideOnLocked(t, s.object)
	if s.isLeft() {
		return e.lookAtLeftLocked(o, t, c)
	}
	v, conflict := e.conflicts.judge(t.Key, t.refusal.over(c.Verdict, s.object.Version()), t.undone)
	if conflict != nil {
		e.markDirty(p, t) // it changes as time passes
	}
	t.pausedByConflict = v.Action == decide.Contested
	o.Action, o.Why, o.Owner, o.Claimed, o.Probe, o.Conflict = v.Action, v.Why, v.Owner, v.Claimed, e.probeLocked(t, c), conflict
	if v.Action == decide.Progressed && s.ahead > 0 {
		return e.unexplained(o, s, p.rev.Number)
	}
	if v.Deferrable() {
		o.Action = decide.Idle
		return o
	}
	if v.Action == decide.Collision {
		o.Taken = e.takenLocked(t, c)
	}
	if !v.Writes() {
		return o
	}
	o.Action = decide.Pending
	if s.object != nil && v.Why != "" {
		o.Why = "is to be written: " + v.Why
	}
	if t.err != nil {
		o.Action, o.Err = decide.Failed, t.err
	}
	return o
}

// takenLocked tells of the object that somebody else has.
func (e *Engine) takenLocked(t *target, c *decision) *report.Taken {
	actual, desired := c.from.Tree(t.Key.GVK()), t.desiredLocked()
	return &report.Taken{UID: actual.GetUID(), Adoptable: c.Adoptable, Changes: decide.Changes(actual, decide.Foretold(desired, actual, e.us), e.us)}
}

// probeLocked is what an object's probe says, and of what it depends on beside itself.
func (e *Engine) probeLocked(t *target, c *decision) decide.Probe {
	probe := c.probe
	if c.probe.Answer == decide.AnswerTrue && len(t.Calls) > 0 {
		probe = t.observation.reachable
	}
	if t.About != "" {
		t.required = t.requirementLocked()
		if e.cfg.Meets != nil && c.probe.Answer == decide.AnswerTrue {
			probe = e.cfg.Meets(t.required, t.observation.current)
		}
	}
	return probe
}

// decision is what was decided about an object, and how its probe answered. The object itself is not kept.
type decision struct {
	decide.Verdict
	probe decide.Probe
	from  *see.Object // nil: it was not there
}

// decideOnLocked is the decision about an object. It is taken again only when the object has changed since the last time.
// When only its status has changed, which controllers write many times, only the probe is asked again.
func (e *Engine) decideOnLocked(t *target, seen *see.Object) *decision {
	last := t.decision
	switch {
	case last != nil && last.from == seen:
		return last
	case seen == nil:
		return e.decideFromLocked(t, decide.Desired{Manifest: t.Manifest}, nil, nil)
	case last == nil || last.from == nil || last.from.SpecHash != seen.SpecHash || last.Migrate: // when to migrate depends on the probe
		return e.decideFromLocked(t, t.desiredLocked(), seen, seen.Tree(t.Key.GVK()))
	}
	t.decision = &decision{Verdict: last.Verdict, probe: t.Gate(seen.Probed(t.Manifest)), from: seen}
	return t.decision
}

// decideFromLocked decides with the objects at hand: what is desired, and what is there, which is what seen stands for.
func (e *Engine) decideFromLocked(t *target, d decide.Desired, seen *see.Object, actual *unstructured.Unstructured) *decision {
	return t.decidedLocked(decide.Reconcile(d, actual, t.Number, e.us), seen, actual)
}

// decidedLocked keeps what was decided about an object.
func (t *target) decidedLocked(v decide.Verdict, seen *see.Object, actual *unstructured.Unstructured) *decision {
	c := &decision{Verdict: v, from: seen}
	if actual != nil {
		c.probe = t.Gate(actual)
	}
	t.decision = c
	return c
}
