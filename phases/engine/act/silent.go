package act

import (
	"context"
	"errors"
	"slices"
)

// paused says that no more is to be sent in this pass.
func (r *run) paused() bool { return r.silent.Load() || r.e.throttle.Remaining() > 0 }

// noteSilence notes that a request was given up.
func (r *run) noteSilence(err error) {
	if unanswered(err) {
		r.silent.Store(true)
	}
}

// unanswered says that a request was given up, because its answer did not come in time.
func unanswered(err error) bool {
	of, is := errors.AsType[interface {
		error
		GivenUp() bool
	}](err)
	return is && of.GivenUp() || errors.Is(err, context.DeadlineExceeded)
}

// answering parts jobs from those of which the last write was not answered: one that is not answered ends the pass, and
// would do so each time before anything that comes after it.
func answering(jobs []*job) (fine, silent []*job) {
	for _, j := range jobs {
		if j.t.silent.IsZero() {
			fine = append(fine, j)
		} else {
			silent = append(silent, j)
		}
	}
	return fine, silent
}

// writeSilent tries what was not answered, the one first that has waited for longest.
func (r *run) writeSilent(ctx context.Context, jobs []*job) {
	slices.SortStableFunc(jobs, func(a, b *job) int { return a.t.silent.Compare(b.t.silent) })
	r.write(ctx, jobs)
}
