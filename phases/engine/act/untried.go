package act

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/report"
)

// errPresent says that an object is in the cluster that was to be created there.
var errPresent = errors.New("it is in the cluster already")

// untried says that the objects of a wave are created without a trial: in a first installation, when none of them is known
// to be in the cluster. A wave that changes or adopts anything is tried as a whole, because that may be at work.
func (r *run) untried(jobs []*job) bool {
	return r.firstInstall && !slices.ContainsFunc(jobs, func(j *job) bool { return j.seen != nil })
}

// createUntried creates objects without trying them first. The watches do not show objects without our label: jobs on
// objects that turn out to be in the cluster, and that would change them, come back with nothing done, unless something
// was refused that only another manifest can heal.
func (r *run) createUntried(ctx context.Context, jobs []*job) []*job {
	var mu sync.Mutex
	present, wrong := map[*job]bool{}, false
	r.inTurn(jobs, func(due []*job) {
		r.each(due, func(j *job) {
			j.onlyCreate = true
			err := r.attempt(ctx, j, lasting)
			j.onlyCreate = false
			isPresent := errors.Is(err, errPresent)
			if isPresent {
				j.forget()
			} else {
				r.finish(j, err)
			}
			mu.Lock()
			defer mu.Unlock()
			present[j], wrong = isPresent, wrong || err != nil && report.IsTerminal(err)
		})
	})
	if wrong {
		return nil
	}
	return slices.DeleteFunc(jobs, func(j *job) bool { return !present[j] })
}

// changesPresent says that a job is about to change an object that it was only to create.
func (r *run) changesPresent(j *job) bool {
	_, wrote := r.noted(j)
	return j.onlyCreate && !wrote && j.verdict.Action != decide.Created
}
