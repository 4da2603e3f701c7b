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

// Rewound is next for a reflector, and notices that the API server was restored
// from a backup. Its versions have gone back then, and kube-apiserver lets a
// watch that begins at a version to come wait for it without a word, bookmarks
// included. An API server is not restored while a watch is open on it: when one
// has ended before its time, or could not be opened, the version of a small list
// is asked for, and if it is lower, the reflector is told to list anew.
func Rewound(next cache.ListerWatcher) cache.ListerWatcher {
	return &rewinds{ListerWatcher: next, next: cache.ToListerWatcherWithContext(next), now: time.Now}
}

// rewinds is used by one reflector, which asks for one thing at a time.
type rewinds struct {
	cache.ListerWatcher
	next cache.ListerWatcherWithContext
	now  func() time.Time

	mu sync.Mutex
	// ends is when the watch that was opened last ends by itself, zero for one that could not be opened.
	ends    time.Time
	suspect bool      // the API server may have been restored since the last check
	checked time.Time // when that was
}

// IsWatchListSemanticsUnSupported says of the client what the reflector asks.
func (r *rewinds) IsWatchListSemanticsUnSupported() bool {
	return watchlist.DoesClientNotSupportWatchListSemantics(r.ListerWatcher)
}

// ListWithContext lists what there is now: a version that was seen before may be one to come.
func (r *rewinds) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if o.Continue == "" {
		o.ResourceVersion, o.ResourceVersionMatch = "", ""
	}
	list, err := r.next.ListWithContext(ctx, o)
	if err == nil {
		r.listed()
	}
	return list, err
}

// WatchWithContext opens a watch; one that begins with a list begins with what there is now.
func (r *rewinds) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	lists := o.SendInitialEvents != nil && *o.SendInitialEvents
	if lists {
		o.ResourceVersion = ""
		r.listed()
	} else if err := r.check(ctx, &o); err != nil {
		return nil, err
	}
	events, err := r.next.WatchWithContext(ctx, o)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends = time.Time{}
	if err == nil && o.TimeoutSeconds != nil {
		r.ends = r.now().Add(time.Duration(*o.TimeoutSeconds) * time.Second)
	}
	return events, err
}

// listed notes that the next watch goes on from a list.
func (r *rewinds) listed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.suspect, r.ends = false, r.now()
}

// check returns an error that has the reflector list anew if the version that a watch is to begin at is one to come. A
// watch that is not checked, because one was a moment ago, ends soon, and is followed by one that is.
func (r *rewinds) check(ctx context.Context, o *metav1.ListOptions) error {
	r.mu.Lock()
	now := r.now()
	r.suspect = r.suspect || now.Sub(r.ends).Abs() > punctual
	suspect, wait := r.suspect, checkEvery-now.Sub(r.checked)
	r.mu.Unlock()
	if !suspect {
		return nil
	}
	if wait > 0 {
		soon := int64(checkEvery / time.Second)
		o.TimeoutSeconds = &soon
		return nil
	}
	list, err := r.next.ListWithContext(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return err
	}
	of, err := meta.ListAccessor(list)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.checked, r.suspect = r.now(), false
	r.mu.Unlock()
	order, err := resourceversion.CompareResourceVersion(o.ResourceVersion, of.GetResourceVersion())
	if err != nil || order <= 0 {
		return nil //nolint:nilerr // Versions that are no numbers cannot be told apart.
	}
	return apierrors.NewResourceExpired(fmt.Sprintf("version %s is one to come: the API server is at %s, and was restored from a backup", o.ResourceVersion, of.GetResourceVersion()))
}
