package see

import (
	"context"
	"fmt"
	"io"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/capstan-capi/capstan/phases/newest"
)

// Watch is what a watch has shown: a reflector's store that keeps the newest copy of every object, whether it came
// from the watch or from our own write, so that looking after a write never sees the past. Its fields are guarded by
// the cluster's lock.
type Watch struct {
	Cluster      *Cluster
	GVK          schema.GroupVersionKind
	Resource     Resource
	Changed      func(types.NamespacedName) // called for every change, under the cluster's lock; may be nil
	Wants        func(*Object) bool         // whether an object is kept with its content, under the lock; nil for always
	WorthTelling func() bool                // whether the change just made is worth another look; nil for always
	Objects      map[types.NamespacedName]*Object
	Synced       bool
	Err          error // of the last list or watch, nil after one that has shown something
	Cancel       context.CancelFunc
	// AlwaysServed says that the kind cannot go: an answer of 404 is somebody else's, such as a proxy's on the way, and
	// an error like any other. Otherwise Gone says that the API server does not serve the kind any more.
	AlwaysServed bool
	Gone         bool
	Lacks        bool // it has dropped the content of an object that is wanted: whoever wants it begins another one

	lists   int                                // how many were answered since the last that came to its end
	listed  string                             // the version of the last that did; empty while none has
	failing time.Time                          // since when nothing can be listed or watched; zero while it can
	blind   bool                               // that was so for too long when it was last asked
	began   time.Time                          // when the last list was asked for
	wrote   map[types.NamespacedName]time.Time // when we wrote the copies that are kept of our own writes
	deleted map[types.NamespacedName]deletion  // that the watch has shown of late
}

// deletion is what the watch has shown of an object that is gone.
type deletion struct {
	version string
	at      time.Time
}

// stale is how long what a watch has shown counts while it cannot be opened again.
const stale = time.Minute

// Seen says that the kind was listed, and that what was shown counts: a watch that has been away for a while may have
// missed anything. The cluster's lock is held.
func (w *Watch) Seen() bool { return w.Synced && !w.isBlind() }

func (w *Watch) isBlind() bool {
	return !w.failing.IsZero() && w.Cluster.Now().Sub(w.failing) >= stale
}

// Start lists and watches until ctx ends; errors are remembered and tried again with backoff by the reflector.
func (w *Watch) Start(ctx context.Context, v View) {
	ctx, w.Cancel = context.WithCancel(ctx)
	lister := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := w.list(ctx, v, o)
			if err == nil {
				w.listAnswered()
				return list, nil
			}
			return nil, w.requestDone(ctx, err)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			events, err := w.watch(ctx, v, o)
			if lists := o.SendInitialEvents != nil && *o.SendInitialEvents; err == nil && lists {
				w.listAnswered()
				return events, nil
			}
			return events, w.requestDone(ctx, err)
		},
	}
	log := w.Cluster.Log.V(2)
	reflector := cache.NewReflectorWithOptions(newest.Watched(lister, w.listBegins), &Object{}, w,
		cache.ReflectorOptions{Logger: &log, Name: "engine", TypeDescription: w.GVK.String()},
	)
	w.Cluster.Running.Go(func() { reflector.RunWithContext(klog.NewContext(ctx, log)) })
}

// listAnswered notes that a list has begun to come; it counts when the reflector has all of it.
func (w *Watch) listAnswered() {
	w.Cluster.Lock()
	defer w.Cluster.Unlock()
	w.lists++
}

// listBegins tells of the list before that did not come to its end: it fell silent, or broke.
func (w *Watch) listBegins() {
	w.Cluster.Lock()
	w.began = w.Cluster.Now()
	tries := w.lists
	w.Cluster.Unlock()
	if tries > 0 {
		w.noteErr(fmt.Errorf("the list did not come to its end, and was begun anew: tries %d; if it lasts, look at kube-apiserver and etcd, and at the network to them", tries+1))
	}
}

// noteErr notes why the watch shows nothing, nil if it does.
func (w *Watch) noteErr(err error) {
	w.Cluster.Lock()
	now := w.Cluster.Now()
	switch {
	case err == nil:
		w.failing = time.Time{}
	case w.failing.IsZero() || now.Before(w.failing): // the clock may be set back
		w.failing = now
	}
	changed := (w.Err == nil) != (err == nil) || w.blind != w.isBlind()
	w.Err, w.blind = err, w.isBlind()
	if changed {
		w.Cluster.Reset()
	}
	w.Cluster.Unlock()
	if changed {
		w.Cluster.Kick()
		w.Cluster.Notify()
	}
}

// requestDone notes how a request of the reflector went, and gives back what the reflector is to make of it. A kind that is
// not served any more loses its objects, and its watch is given back to the engine, which starts another one when the
// kind is back; the end of a watch is no error.
func (w *Watch) requestDone(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return io.EOF
	}
	if apierrors.IsResourceExpired(err) {
		return err // the reflector lists again at once
	}
	if !apierrors.IsNotFound(err) || w.AlwaysServed {
		w.noteErr(err)
		return err
	}
	w.Cluster.Lock()
	w.Gone, w.Synced, w.Objects, w.Err = true, false, nil, err
	w.Cancel()
	w.Cluster.Reset()
	w.Cluster.Unlock()
	w.Cluster.Kick()
	w.Cluster.Notify()
	return io.EOF
}

// Wrote stores what a write of ours or a live read has given back, unless a newer copy is known, or it is known to be gone since.
// The watch must be one that shows such an object.
func (w *Watch) Wrote(o *Object) {
	name := o.NamespacedName()
	if old := w.Objects[name]; old != nil && !newest.Version(o.ResourceVersion, old.ResourceVersion) && !(old.Bare && old.ResourceVersion == o.ResourceVersion) {
		return
	}
	if gone, is := w.deleted[name]; is && !newest.Behind(gone.version, o.ResourceVersion) {
		return // the watch was faster than the answer
	}
	if w.Objects[name] == nil && w.listed != "" && !newest.Version(o.ResourceVersion, w.listed) {
		return // a list from after it has not shown it, and no event of it will come
	}
	if w.wrote == nil {
		w.wrote = map[types.NamespacedName]time.Time{}
	}
	w.wrote[name] = w.Cluster.Now()
	w.store(name, o)
}

// keep stores what the watch shows of an object, and says whether it was anything new.
func (w *Watch) keep(o *Object) bool {
	name := o.NamespacedName()
	old := w.Objects[name]
	if old != nil && w.aheadOf(name, o.ResourceVersion) {
		return false
	}
	o = w.siftedAgain(o)
	delete(w.wrote, name) // the watch has come as far
	switch {
	case old != nil && old.ResourceVersion == o.ResourceVersion:
		return false
	case old != nil && sayTheSame(old, o), old == nil && o.isNobodys():
		w.put(name, o)
		return false
	}
	w.store(name, o)
	return true
}

// aheadOf says that the copy of an object is of a write of ours that a watch at this version does not show yet.
func (w *Watch) aheadOf(name types.NamespacedName, version string) bool {
	at, wrote := w.wrote[name]
	return wrote && newest.Trusted(w.Cluster.Now().Sub(at)) && newest.Behind(version, w.Objects[name].ResourceVersion)
}

func (w *Watch) store(name types.NamespacedName, o *Object) {
	w.put(name, o)
	delete(w.deleted, name)
	w.noteChange(name)
}

func (w *Watch) put(name types.NamespacedName, o *Object) {
	if w.Objects == nil {
		w.Objects = map[types.NamespacedName]*Object{}
	}
	w.Objects[name] = o
}

// noteDeletion remembers a deletion for as long as the answer to a write from before it may be on its way.
func (w *Watch) noteDeletion(name types.NamespacedName, version string) {
	now := w.Cluster.Now()
	maps.DeleteFunc(w.deleted, func(_ types.NamespacedName, d deletion) bool { return now.Sub(d.at) >= newest.Trust })
	if w.deleted == nil {
		w.deleted = map[types.NamespacedName]deletion{}
	}
	w.deleted[name] = deletion{version, now}
}

// Drop forgets an object. The cluster's lock is held.
func (w *Watch) Drop(name types.NamespacedName) {
	delete(w.Objects, name)
	delete(w.wrote, name)
	w.noteChange(name)
}

func (w *Watch) noteChange(name types.NamespacedName) {
	w.Cluster.Changes++
	if w.Changed != nil {
		w.Changed(name)
	}
}

// change runs a change of the store under the lock, and notifies if it changed anything.
func (w *Watch) change(do func() bool) {
	w.Cluster.Lock()
	tell := do() && (w.WorthTelling == nil || w.WorthTelling())
	w.Cluster.Unlock()
	if tell {
		w.Cluster.Notify()
	}
}
