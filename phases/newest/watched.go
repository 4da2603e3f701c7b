package newest

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
)

const (
	// checkEvery bounds how often a watch that breaks again and again is compared with what the API server counts.
	checkEvery = time.Minute
	// punctual is how far from the time that was asked for a watch may end, and have ended by itself.
	punctual = 2 * time.Second
)

// Watched is next for a reflector. begins is called when a list begins.
//
// It notices that the API server was restored from a backup: versions have gone
// back then, and kube-apiserver lets a watch that begins at a version to come
// wait for it without a word, bookmarks included. An API server is not restored
// while a watch is open on it, so when one has ended before its time, or could
// not be opened, a small list is asked which version there is now. If it is a
// lower one, the reflector is told to list anew.
func Watched(next cache.ListerWatcher, begins func()) cache.ListerWatcher {
	return &watcher{ListerWatcher: next, next: cache.ToListerWatcherWithContext(next), begins: begins, now: time.Now}
}

// watcher is used by one reflector, which asks for one thing at a time.
type watcher struct {
	cache.ListerWatcher
	next   cache.ListerWatcherWithContext
	begins func()
	now    func() time.Time

	mu sync.Mutex
	// ends is when the watch that was opened last ends by itself, zero for one that could not be opened.
	ends    time.Time
	suspect bool      // the API server may have been restored since the last check
	checked time.Time // when that was
}

// IsWatchListSemanticsUnSupported says of the client what the reflector asks.
func (w *watcher) IsWatchListSemanticsUnSupported() bool {
	return watchlist.DoesClientNotSupportWatchListSemantics(w.ListerWatcher)
}

// ListWithContext lists what there is now: a version that was seen before may be one to come.
func (w *watcher) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if o.Continue == "" {
		o.ResourceVersion, o.ResourceVersionMatch = "", ""
		w.begins()
	}
	list, err := w.next.ListWithContext(ctx, o)
	if err == nil {
		w.listed()
	}
	return list, err
}

// WatchWithContext opens a watch; one that begins with a list begins with what there is now.
func (w *watcher) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	lists := o.SendInitialEvents != nil && *o.SendInitialEvents
	if lists {
		o.ResourceVersion = ""
		w.begins()
		w.listed()
	} else if err := w.check(ctx, &o); err != nil {
		return nil, err
	}
	events, err := w.next.WatchWithContext(ctx, o)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ends = time.Time{}
	if err == nil && o.TimeoutSeconds != nil {
		w.ends = w.now().Add(time.Duration(*o.TimeoutSeconds) * time.Second)
	}
	return events, err
}

// listed notes that the next watch goes on from a list.
func (w *watcher) listed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.suspect, w.ends = false, w.now()
}

// check returns an error that has the reflector list anew if the version that a watch is to begin at is one to come. A
// watch that is not checked, because one was a moment ago, ends soon, and is followed by one that is.
func (w *watcher) check(ctx context.Context, o *metav1.ListOptions) error {
	w.mu.Lock()
	now := w.now()
	w.suspect = w.suspect || now.Sub(w.ends).Abs() > punctual
	suspect, wait := w.suspect, checkEvery-now.Sub(w.checked)
	w.mu.Unlock()
	if !suspect {
		return nil
	}
	if wait > 0 {
		soon := int64(checkEvery / time.Second)
		o.TimeoutSeconds = &soon
		return nil
	}
	list, err := w.next.ListWithContext(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return err
	}
	of, err := meta.ListAccessor(list)
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.checked, w.suspect = w.now(), false
	w.mu.Unlock()
	order, err := resourceversion.CompareResourceVersion(o.ResourceVersion, of.GetResourceVersion())
	if err != nil || order <= 0 {
		return nil //nolint:nilerr // Versions that are no numbers cannot be told apart.
	}
	return apierrors.NewResourceExpired(fmt.Sprintf("version %s is one to come: the API server is at %s, and was restored from a backup", o.ResourceVersion, of.GetResourceVersion()))
}
