package house

import (
	"context"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"

	"github.com/capstan-capi/capstan/machine"
)

// refusals are the lists and watches that the API server refuses for want of a right, until it answers them.
type refusals struct {
	mu    sync.Mutex
	by    map[*noting]string
	first func()
}

// any is what is refused, empty for nothing: of several the first in the order of their words.
func (r *refusals) any() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, refused := range r.by {
		all = append(all, refused)
	}
	if len(all) == 0 {
		return ""
	}
	return machine.Shorten(slices.Min(all), machine.MaxMessage/2)
}

// onFirst has something called as soon as a list is refused.
func (r *refusals) onFirst(call func()) {
	r.mu.Lock()
	r.first = call
	refused := len(r.by) > 0
	r.mu.Unlock()
	if refused {
		call()
	}
}

// note takes in what came of a request.
func (r *refusals) note(by *noting, err error) {
	r.mu.Lock()
	if r.by == nil {
		r.by = map[*noting]string{}
	}
	var call func()
	switch {
	case err == nil:
		delete(r.by, by)
	case apierrors.IsForbidden(err):
		r.by[by], call = err.Error(), r.first
	}
	r.mu.Unlock()
	if call != nil {
		call()
	}
}

// noting notes what is refused.
type noting struct {
	toolscache.ListerWatcher
	next toolscache.ListerWatcherWithContext
	in   *refusals
}

func (r *refusals) noting(next toolscache.ListerWatcher) toolscache.ListerWatcher {
	return &noting{ListerWatcher: next, next: toolscache.ToListerWatcherWithContext(next), in: r}
}

// IsWatchListSemanticsUnSupported says of the client what the reflector asks.
func (n *noting) IsWatchListSemanticsUnSupported() bool {
	return watchlist.DoesClientNotSupportWatchListSemantics(n.ListerWatcher)
}

func (n *noting) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := n.next.ListWithContext(ctx, options)
	n.in.note(n, err)
	return list, err
}

func (n *noting) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	events, err := n.next.WatchWithContext(ctx, options)
	n.in.note(n, err)
	return events, err
}
