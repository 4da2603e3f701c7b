package engine

import (
	"context"
	"slices"
	"sync"
)

// Preview says what Apply would do, and changes nothing. Objects that are missing are created without effect, as far
// as Apply would go now, so that collisions and refusals show; of all others only the decision is told. An object that
// would be written carries the action that would be taken, and is neither applied nor complete. The revision counts as one
// that matters from then on, until Watch says otherwise.
func (e *Engine) Preview(ctx context.Context, rev *Revision) (*Report, error) {
	p := e.plan(rev)
	p.pass.Lock()
	defer p.pass.Unlock()
	r := e.lookPlan(p)
	if r.fault != nil || r.wait != "" {
		return r, r.fault
	}
	if s, found := e.storedOf(rev.Number); found {
		if err := sameContent(s, rev); err != nil {
			failed := *r
			failed.fault = err
			return &failed, err
		}
	}
	run := &run{e: e, p: p, wrote: map[Key]verdict{}, left: e.leaves(p)}
	tried := map[*target]*preview{}
	reached, open := reachedWave(r), true
	for i := range p.waves {
		todo := run.todo(p.waves[i].targets, false)
		for _, j := range todo {
			tried[j.t] = &preview{verdict: j.verdict}
		}
		if open || i <= reached {
			run.preview(ctx, todo, tried)
		}
		open = open && len(todo) == 0 && r.Waves[i].Complete()
	}
	r = previewed(r, p, tried)
	return r, r.Err()
}

// preview is what would be done with an object, or why it cannot be.
type preview struct {
	verdict verdict
	err     error
}

// preview tries creations, and reads what the watches cannot be trusted on.
func (r *run) preview(ctx context.Context, jobs []*job, tried map[*target]*preview) {
	jobs = slices.DeleteFunc(jobs, func(j *job) bool { return j.verdict.action != Created && !j.ask })
	var mu sync.Mutex
	r.each(jobs, func(j *job) {
		err := r.attempt(ctx, j, true)
		mu.Lock()
		defer mu.Unlock()
		if !r.e.hold.heldBack(err) {
			*tried[j.t] = preview{j.verdict, err}
		}
		tried[j.t].verdict.actual, j.actual = nil, nil
	})
}

// previewed puts what would be done into a copy of a report.
func previewed(report *Report, p *plan, tried map[*target]*preview) *Report {
	told := *report
	told.sum, told.Waves = sum{}, make([]*Wave, len(report.Waves))
	for i, w := range report.Waves {
		wave := *w
		wave.Objects = slices.Clone(w.Objects)
		for place, t := range p.waves[i].targets {
			found := tried[t]
			if found == nil {
				continue
			}
			o := *wave.Objects[place]
			v := found.verdict
			o.Action, o.Why, o.Holder, o.previewed = v.action, v.why, v.holder, v.writes()
			if o.Err = nil; found.err != nil {
				o.Action, o.Err = Failed, &ObjectError{Key: t.key, Component: t.component, Verb: "trying", Err: found.err}
			}
			wave.Objects[place] = &o
		}
		told.Waves[i] = &wave
	}
	return &told
}
