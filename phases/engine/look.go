package engine

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Look says where a revision stands from what the watches have seen. It sends nothing and writes nothing, and costs
// next to nothing while nothing changed. Before everything was seen once the report is Unknown.
func (e *Engine) Look(rev *Revision) *Report {
	p := e.plan(rev)
	p.mu.Lock()
	defer p.mu.Unlock()
	return e.look(p)
}

// look is Look under the plan's lock.
func (e *Engine) look(p *plan) *Report {
	e.mu.Lock()
	older := e.newest != nil && e.newest.Number > p.rev.Number
	seen := e.inventories != nil && e.inventories.synced
	unmanaged := e.unmanaged()
	e.mu.Unlock()

	r := &Report{Revision: p.rev.Name, Number: p.rev.Number, fault: p.err}
	if !seen && p.err == nil {
		r.wait = fmt.Sprintf("revision %s waits for the watches to start: the inventories are not seen yet", p.rev.Name)
	}
	for i := range p.waves {
		w := &Wave{Number: p.waves[i].number, Name: p.waves[i].class.String(), Component: p.waves[i].component}
		for _, t := range p.waves[i].targets {
			if older && t.key.isCRD() && unmanaged[t.key.Name] {
				w.Objects = append(w.Objects, &Object{
					Key: t.key, Component: t.component, Wave: w.Number, Action: Progressed, older: true,
					Why: "is unmanaged in revision " + e.newestName(),
				})
				continue
			}
			o := e.lookAt(p, t)
			o.older = older
			w.Objects = append(w.Objects, o)
		}
		r.Waves = append(r.Waves, w)
	}
	p.best.applied = max(p.best.applied, r.count((*Object).Applied))
	p.best.complete = max(p.best.complete, r.Done())
	r.best = p.best
	return r
}

// unmanaged are the CRDs that the newest revision leaves alone; older revisions leave them alone too from then on.
func (e *Engine) unmanaged() map[string]bool {
	if e.newest == nil {
		return nil
	}
	return set(e.newest.Unmanaged)
}

func (e *Engine) newestName() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.newest.Name
}

func versionOf(obj *unstructured.Unstructured) string {
	if obj == nil {
		return ""
	}
	return obj.GetResourceVersion()
}

// lookAt says where one object stands.
func (e *Engine) lookAt(p *plan, t *target) *Object {
	o := &Object{Key: t.key, Component: t.component, Wave: p.waves[t.wave].number}
	s := e.see(t.key)
	if s.blind != "" {
		o.Action, o.Why = s.blind, s.why
		if s.err != nil {
			o.Err = &ObjectError{Key: t.key, Component: t.component, Verb: "looking for", Err: s.err}
		}
		return o
	}
	v := e.conclude(p, t, s)
	o.Action, o.Why, o.Holder, o.carries = v.action, v.why, v.holder, v.carries
	if v.actual != nil {
		o.Probe = probe(v.actual)
	}
	if !v.writes() {
		return o
	}
	o.Action = Pending
	if v.actual != nil && v.why != "" {
		o.Why = "is to be written: " + v.why
	}
	if t.err != nil {
		o.Action, o.Err = Failed, t.err
	}
	return o
}

// conclude is the decision about an object, taken anew only when the object changed since the last time.
func (e *Engine) conclude(p *plan, t *target, s sight) verdict {
	if s.object == nil && t.obstacle != nil {
		return *t.obstacle
	}
	if t.verdict != nil && t.verdict.actual == s.object {
		return t.refusal.over(*t.verdict, versionOf(s.object))
	}
	v := decide(t, s.object, p.rev.Number, e.cfg.Owner)
	if v.writes() && v.why == t.settled {
		v.action, v.why = Idle, "left as it is, because writing it did not help: "+v.why
	}
	t.verdict = &v
	return t.refusal.over(v, versionOf(s.object))
}
