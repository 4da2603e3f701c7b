package act

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/parallel"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// groupTimeout bounds how long one look asks an API group of another server than kube-apiserver, for all its kinds: such a
// server may promise another page for ever, and be slow with each.
const groupTimeout = time.Minute

// eachKind asks for kinds, for some at the same time, but for those of one API group of another server one after the other:
// for as long as ask wants more of that group, and its time lasts.
func eachKind(ctx context.Context, atOnce int, said see.Discovered, kinds map[schema.GroupVersionKind]see.Resource, ask func(ctx context.Context, gvk schema.GroupVersionKind, served see.Resource) (more bool)) {
	var jobs [][]schema.GroupVersionKind
	others := map[string]int{} // where the job of a group is
	inOrder := func(a, b schema.GroupVersionKind) int { return cmp.Compare(a.String(), b.String()) }
	for _, gvk := range slices.SortedFunc(maps.Keys(kinds), inOrder) { // so that the same trouble is told in the same words
		at, begun := others[gvk.Group]
		switch {
		case !said.Aggregated[gvk.GroupVersion()]:
			jobs = append(jobs, []schema.GroupVersionKind{gvk})
		case begun:
			jobs[at] = append(jobs[at], gvk)
		default:
			others[gvk.Group] = len(jobs)
			jobs = append(jobs, []schema.GroupVersionKind{gvk})
		}
	}
	parallel.Each(atOnce, jobs, func(_ int, job []schema.GroupVersionKind) {
		ctx, cancel := ctx, context.CancelFunc(func() {})
		if said.Aggregated[job[0].GroupVersion()] {
			ctx, cancel = context.WithTimeout(ctx, groupTimeout)
		}
		defer cancel()
		for _, gvk := range job {
			if !ask(ctx, gvk, kinds[gvk]) {
				return
			}
		}
	})
}

// isSilence says of an error that another server than kube-apiserver is behind, in a pass with this context, that it did
// not answer, or not with sense: whatever it is, but that nothing was sent because kube-apiserver asks to be left alone, or
// because the pass ends.
func (e *Engine) isSilence(pass context.Context, err error) bool {
	return err != nil && pass.Err() == nil && !e.throttle.Caused(err)
}
