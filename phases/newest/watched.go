package newest

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
)

const (
	// anewEvery bounds how often a watch that breaks again and again is begun anew with a list.
	anewEvery = time.Minute
	// punctual is how far from the time that was asked for a watch may end, and have ended by itself.
	punctual = 2 * time.Second
)

// Watched is next for a reflector. begins is called when a list begins.
//
// A watch that broke is begun anew with a list. The API server may have been
// restored from a backup meanwhile: versions have gone back then, and were used
// again for other things, so that a watch that goes on where it was misses what
// differs, without a word. No API server is restored while a watch is open on it,
// so one that has ended in time goes on.
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
	suspect bool      // the API server may have been restored since the last list
	anew    time.Time // when the last list was asked for because of that
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
	} else if w.broke(&o) {
		return nil, apierrors.NewResourceExpired("the watch broke: what it may have missed is listed")
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

// broke says that the reflector is to list anew before it goes on. A watch that is not begun anew, because one was a moment
// ago, is given an end that comes soon, and is begun anew after that.
func (w *watcher) broke(o *metav1.ListOptions) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	w.suspect = w.suspect || now.Sub(w.ends).Abs() > punctual
	if w.suspect && now.Sub(w.anew) >= anewEvery {
		w.anew = now
		return true
	}
	if w.suspect {
		soon := int64(anewEvery / time.Second)
		o.TimeoutSeconds = &soon
	}
	return false
}
