package act

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/parallel"
	"github.com/capstan-capi/capstan/phases/engine/report"
	"github.com/capstan-capi/capstan/phases/engine/see"
	"github.com/capstan-capi/capstan/phases/engine/throttle"
)

// Reconcile takes a revision as far as it can go now: wave by wave, each written once the one before is applied and its
// probes pass. It does not wait for anything; a watch brings the next call. Waves that this revision has reached once
// are kept applied even when a probe before them fails again. The error joins what went wrong; the report comes back in
// any case.
func (e *Engine) Reconcile(ctx context.Context, rev *decide.Revision, opts ReconcileOptions) (*report.Report, error) {
	p, err := e.plan(rev)
	if err != nil {
		return &report.Report{Revision: rev.Name, Number: rev.Number, Fault: err}, err
	}
	p.pass.Lock()
	defer p.pass.Unlock()
	r := e.lookPlan(p)
	if r.Fault != nil {
		return r, r.Fault
	}
	if r.Wait != "" && (!opts.Keep || !e.knowsInventories()) {
		return r, e.inventoriesErr()
	}
	reached := reachedWave(r)
	recorded, err := e.record(ctx, p)
	if err != nil {
		failed := *r
		failed.Fault = err
		return &failed, err
	}
	if !recorded {
		return r, nil
	}
	run := &run{e: e, p: p, keep: opts.Keep, firstInstall: opts.FirstInstall, wrote: map[decide.Key]decide.Verdict{}, left: e.leftToDesired(p)}
	open := true
	var silent []*job
	for i := range p.waves {
		if !opts.Keep && !open && i > reached {
			if !opts.FirstInstall {
				run.preflightAhead(ctx, r.Waves[:i], p.waves[i])
			}
			break
		}
		todo := run.todo(p.waves[i].targets, contents)
		if opts.Keep || i < reached {
			var late []*job
			todo, late = answering(todo)
			silent = append(silent, late...)
		}
		if len(todo) > 0 {
			run.write(ctx, todo)
			r = e.lookPlan(p)
		}
		open = open && r.Waves[i].Complete()
	}
	if len(silent) > 0 {
		run.writeSilent(ctx, silent)
		r = e.lookPlan(p)
	}
	// That creations are recorded as applies matters to the next revision only: nothing waits for it.
	if todo := run.todo(p.targets, migrations); len(todo) > 0 {
		run.each(todo, func(j *job) { run.finish(j, run.attempt(ctx, j, lasting)) })
		r = e.lookPlan(p)
	}
	r = run.tell(r)
	return r, e.wrongIn(r)
}

// wrongIn is what went wrong, and if nothing did, why something is waited for.
func (e *Engine) wrongIn(r *report.Report) error {
	if err := r.Err(); err != nil || r.Wait == "" {
		return err
	}
	return e.inventoriesErr()
}

// reachedWave is the index of the last wave of which the revision has written any object, -1 if there is none.
// The cluster itself is the memory of how far a revision came; nothing else survives a restart.
func reachedWave(r *report.Report) int {
	reached := -1
	for i, w := range r.Waves {
		for _, o := range w.Objects {
			if o.Claimed {
				reached = i
			}
		}
	}
	return reached
}

// run is the state of one pass.
type run struct {
	e            *Engine
	p            *plan
	keep         bool                // without trials and gates
	firstInstall bool                // what is absent is created without a trial
	left         map[decide.Key]bool // absent objects that a newer revision creates

	mu    sync.Mutex
	wrote map[decide.Key]decide.Verdict

	silent atomic.Bool // a request was not answered in time
}

// job is the work on one object in a pass.
type job struct {
	t          *target
	resource   see.Resource
	seen       *see.Object
	actual     *unstructured.Unstructured // the tree of it, only while the job is worked on
	readFirst  bool                       // the watches cannot be trusted on it: read it first
	recreated  string                     // why it had to be deleted first; empty if it had not
	migrates   bool                       // only the creation is left to be recorded
	force      bool                       // the API server reported a conflict of managers
	mustPost   bool                       // the API server does not create it by apply
	onlyCreate bool                       // what is there is left as it is
	verdict    decide.Verdict
	settled    bool            // the verdict is about the copy seen, and leaves it as it is
	dropped    map[string]bool // fields that the answer to its last write lacked, nil when there was none
	stamp      decide.Stamp
	left       bool   // people ask to leave it as it is: it is read at most
	foundSafe  string // resourceVersion of the CRD that was found to lose nothing in this pass

	foreseen foreseen
}

// foreseen is what a dry run has shown, for whoever asks for more than whether it is refused.
type foreseen struct {
	whole    bool        // the answer is wanted as a whole
	answer   *see.Object // what would come of it
	replaced []string    // fields that cannot be changed, so that the object would be deleted and created again
}

// see takes up a copy of the object, nil for none.
func (j *job) see(o *see.Object) { j.seen, j.actual, j.readFirst = o, o.Tree(j.t.Key.GVK()), false }

// forget drops the tree until the job is taken up again.
func (j *job) forget() { j.actual = nil }

// work is what a job does.
type work int

const (
	contents   work = iota // brings an object to what is desired
	migrations             // only migrates managedFields, for which nothing has to wait
)

// todo are the objects that such work is left to do on. Objects that could not be observed the last time are read as part
// of the work on contents.
func (r *run) todo(targets []*target, what work) []*job {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	var jobs []*job
	for _, t := range targets {
		c := t.decision
		if c == nil || t.observation.unobservable != "" || t.observation.object == nil && r.left[t.Key.Identity()] {
			continue
		}
		write := c.Writes() && c.Deferrable() == (what == migrations) && !t.refuses(c) && !t.pausedByConflict && !t.observation.isLeft() && t.refusal.due(c.from.Version(), r.e.cfg.Clock.Now())
		if write || t.observation.readFirst && what == contents {
			jobs = append(jobs, &job{t: t, resource: t.observation.resource, seen: c.from, readFirst: t.observation.readFirst, left: t.observation.isLeft(), stamp: t.stampLocked(), migrates: what == migrations, verdict: c.Verdict})
		}
	}
	// What fails is tried last in its wave: it may be what the API server does not answer.
	slices.SortStableFunc(jobs, func(a, b *job) int { return cmp.Compare(failed(a.t), failed(b.t)) })
	return jobs
}

func failed(t *target) int {
	if t.err == nil && t.silent.IsZero() {
		return 0
	}
	return 1
}

// refuses says that a write that nothing waits for was refused for the very object that was decided on.
func (t *target) refuses(c *decision) bool {
	return c.Deferrable() && c.from.SpecHash == t.postponed
}

// write brings the objects of one wave into the cluster. Those that this revision was never applied to are first tried
// without effect: if the API server refuses any of them, none of them is written. A first installation tries only what is
// in the cluster already: what is refused there leaves half a wave behind, which nothing depends on yet.
func (r *run) write(ctx context.Context, jobs []*job) {
	var first, again []*job
	for _, j := range jobs {
		if !r.keep && !j.verdict.Claimed {
			first = append(first, j)
		} else {
			again = append(again, j)
		}
	}
	if r.untried(first) {
		first = r.createUntried(ctx, first)
	}
	if len(first) > 1 {
		first = r.preflight(ctx, first)
	}
	r.inTurn(append(again, first...), func(due []*job) {
		r.each(due, func(j *job) { r.finish(j, r.attempt(ctx, j, lasting)) })
	})
}

// preflight gives back the jobs that may be written: none, if the API server refuses any of them. What changes in nothing
// but its number needs no trial, because the API server has taken it once, nor does what passed ahead of its turn.
func (r *run) preflight(ctx context.Context, jobs []*job) []*job {
	errs := make(map[*job]error, len(jobs))
	var mu sync.Mutex
	r.each(jobs, func(j *job) {
		if passed := j.t.passedAhead; j.verdict.OnlyNumber || passed && j.verdict.Action == decide.Created {
			j.t.passedAhead = false
			return
		}
		err := r.attempt(ctx, j, dryRun)
		if err == nil && j.verdict.Writes() {
			j.forget()
		}
		mu.Lock()
		errs[j] = err
		mu.Unlock()
	})
	var fine []*job
	wrong := false
	for _, j := range jobs {
		switch err := errs[j]; {
		case err != nil:
			r.finish(j, err)
			wrong = wrong || report.IsTerminal(err)
		case j.verdict.Writes():
			fine = append(fine, j)
		default:
			r.finish(j, nil)
		}
	}
	if wrong || r.paused() { // some may not have been tried
		return nil
	}
	return fine
}

// each works on jobs in parallel, and begins no more of them when the API server asks to be left alone, or has not answered:
// that is to be told, and others would be waited for as long.
func (r *run) each(jobs []*job, work func(*job)) {
	parallel.Each(r.e.cfg.Concurrency, jobs, func(_ int, j *job) {
		if !r.paused() {
			work(j)
		}
	})
}

// tell gives back a report that says what this pass did.
func (r *run) tell(seen *report.Report) *report.Report {
	until := r.e.throttle.End()
	if len(r.wrote) == 0 && until.IsZero() {
		return seen
	}
	told := *seen
	if !until.IsZero() {
		told.Fault = &throttle.Error{Until: until}
	}
	told.Waves = make([]*report.Wave, len(seen.Waves))
	for i, w := range seen.Waves {
		wave := *w
		wave.Objects = slices.Clone(w.Objects)
		for at, o := range wave.Objects {
			if v, wrote := r.wrote[o.Key]; wrote && o.Action == decide.Idle {
				did := *o
				did.Action, did.Why = v.Action, v.Why
				wave.Objects[at] = &did
			}
		}
		told.Waves[i] = &wave
	}
	return &told
}
