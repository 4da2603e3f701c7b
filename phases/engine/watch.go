package engine

import (
	"context"
	"io"

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

// watched is what a watch has shown: a reflector's store that keeps the newest copy of every object, whether it came
// from the watch or from our own write, so that looking after a write never sees the past. Its fields are guarded by
// the cluster's lock.
type watched struct {
	c            *cluster
	gvk          schema.GroupVersionKind
	resource     resource
	changed      func(types.NamespacedName) // called for every change, under the cluster's lock; may be nil
	worthTelling func() bool                // whether the change just made is worth another look; nil for always
	objects      map[types.NamespacedName]*observed
	synced       bool
	err          error // of the last list or watch, nil after one that worked
	cancel       context.CancelFunc
	gone         bool // the API server does not serve the kind any more
}

// start lists and watches until ctx ends; errors are remembered and tried again with backoff by the reflector.
func (w *watched) start(ctx context.Context, v view) {
	ctx, w.cancel = context.WithCancel(ctx)
	lister := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := w.c.reader.list(ctx, v, o)
			return list, w.requestDone(ctx, err)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			events, err := w.c.reader.watch(ctx, v, o)
			return events, w.requestDone(ctx, err)
		},
	}
	log := w.c.log.V(2)
	reflector := cache.NewReflectorWithOptions(lister, &observed{}, w,
		cache.ReflectorOptions{Logger: &log, Name: "engine", TypeDescription: w.gvk.String()},
	)
	w.c.running.Go(func() { reflector.RunWithContext(klog.NewContext(ctx, log)) })
}

// requestDone notes how a request of the reflector went, and gives back what the reflector is to make of it. A kind that is
// not served any more loses its objects, and its watch is given back to the engine, which starts another one when the
// kind is back; the end of a watch is no error.
func (w *watched) requestDone(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return io.EOF
	}
	if apierrors.IsResourceExpired(err) {
		return err // the reflector lists again at once
	}
	gone := apierrors.IsNotFound(err)
	w.c.Lock()
	changed := gone || (w.err == nil) != (err == nil)
	w.err = err
	if gone {
		w.gone, w.synced, w.objects = true, false, nil
		w.cancel()
		err = io.EOF
	}
	if changed {
		w.c.reset()
	}
	w.c.Unlock()
	if changed {
		w.c.kick()
		w.c.notify()
	}
	return err
}

// keepLocked stores o unless a newer copy is known, and says whether it did.
func (w *watched) keepLocked(o *observed) bool {
	name := o.name()
	if old := w.objects[name]; old != nil && !newest.Version(o.ResourceVersion, old.ResourceVersion) {
		return false
	}
	if w.objects == nil {
		w.objects = map[types.NamespacedName]*observed{}
	}
	w.objects[name] = o
	w.noteLocked(name)
	return true
}

func (w *watched) dropLocked(name types.NamespacedName) {
	delete(w.objects, name)
	w.noteLocked(name)
}

func (w *watched) noteLocked(name types.NamespacedName) {
	w.c.changes++
	if w.changed != nil {
		w.changed(name)
	}
}

// change runs a change of the store under the lock and tells the world if it did anything.
func (w *watched) change(do func() bool) {
	w.c.Lock()
	tell := do() && (w.worthTelling == nil || w.worthTelling())
	w.c.Unlock()
	if tell {
		w.c.notify()
	}
}

// Add is called by the reflector for an object that appeared.
func (w *watched) Add(obj any) error { return w.Update(obj) }

// Update is called by the reflector for an object that changed.
func (w *watched) Update(obj any) error {
	if o, isObject := obj.(*observed); isObject {
		w.change(func() bool { return !w.gone && w.keepLocked(o) })
	}
	return nil
}

// Delete is called by the reflector for an object that was deleted or lost the label.
func (w *watched) Delete(obj any) error {
	o, isObject := obj.(*observed)
	if !isObject {
		return nil
	}
	w.change(func() bool {
		old := w.objects[o.name()]
		// A copy that is newer than the deletion was created or labelled again.
		if old == nil || newest.Version(old.ResourceVersion, o.ResourceVersion) {
			return false
		}
		w.dropLocked(o.name())
		return true
	})
	return nil
}

// Replace is called by the reflector after a list. Copies of our own writes that are newer than the list stay, and
// copies that are the same stay the same, so that nothing is decided again.
func (w *watched) Replace(list []any, version string) error {
	w.change(func() bool {
		listed := make(map[types.NamespacedName]bool, len(list))
		for _, obj := range list {
			if o, isObject := obj.(*observed); isObject {
				listed[o.name()] = true
				w.keepLocked(o)
			}
		}
		for name, old := range w.objects {
			if !listed[name] && !newest.Version(old.ResourceVersion, version) {
				w.dropLocked(name)
			}
		}
		if !w.synced {
			w.synced = true
			w.c.reset()
			w.c.kick()
		}
		return true
	})
	return nil
}

// Resync has no meaning here.
func (w *watched) Resync() error { return nil }
