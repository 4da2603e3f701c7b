package act

import (
	"context"
	"slices"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/report"
)

// preflightAhead tries the objects of the next wave without effect while the waves before it are waited for, until something changes of
// anything. What passes need not be tried when its turn comes; what does not is tried again then, because it may lack
// something that is still to come. Waves whose objects have a say in what the API server takes are waited for first.
func (r *run) preflightAhead(ctx context.Context, before []*report.Wave, next wave) {
	for i, w := range before {
		switch r.p.waves[i].class {
		case decide.ClassCompatibility, decide.ClassWebhooks, decide.ClassBindings, decide.ClassOthers:
			if !w.Complete() {
				return
			}
		}
	}
	jobs := r.todo(next.targets, contents)
	if len(jobs) < 2 { // one alone is not tried in its turn either
		return
	}
	jobs = slices.DeleteFunc(jobs, func(j *job) bool { return j.t.triedAhead || j.verdict.Action != decide.Created })
	changes := r.e.cluster.Count()
	for some := range slices.Chunk(jobs, r.e.cfg.Concurrency) {
		if r.e.cluster.Count() != changes {
			return // whoever made it so asks for another pass
		}
		r.each(some, func(j *job) {
			err := r.attempt(ctx, j, dryRun)
			j.t.triedAhead, j.t.passedAhead = !r.e.throttle.Caused(err), err == nil && j.verdict.Action == decide.Created
		})
	}
}
