package engine

import (
	"context"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// watched is what a watch has shown: a reflector's store that keeps the newest copy of every object, whether it came
// from the watch or from our own write, so that looking after a write never sees the past. Its fields are guarded by
// the engine's lock.
type watched struct {
	e            *Engine
	gvk          schema.GroupVersionKind
	resource     resource
	changed      func(types.NamespacedName) // called for every change, under the engine's lock; may be nil
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
			list, err := w.e.list(ctx, v, o)
			return list, w.requestDone(ctx, err)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			events, err := w.e.watch(ctx, v, o)
			return events, w.requestDone(ctx, err)
		},
	}
	log := w.e.cfg.Log.V(2)
	reflector := cache.NewReflectorWithOptions(lister, &observed{}, w,
		cache.ReflectorOptions{Logger: &log, Name: "engine", TypeDescription: w.gvk.String()},
	)
	w.e.running.Go(func() { reflector.RunWithContext(klog.NewContext(ctx, log)) })
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
	w.e.mu.Lock()
	changed := gone || (w.err == nil) != (err == nil)
	w.err = err
	if gone {
		w.gone, w.synced, w.objects = true, false, nil
		w.cancel()
		err = io.EOF
	}
	if changed {
		w.e.markAllDirtyLocked()
	}
	w.e.mu.Unlock()
	if changed {
		w.e.kick()
		w.e.cfg.Notify()
	}
	return err
}

// keep stores o unless a newer copy is known, and says whether it did.
func (w *watched) keep(o *observed) bool {
	name := o.name()
	if old := w.objects[name]; old != nil && !newer(o.ResourceVersion, old.ResourceVersion) {
		return false
	}
	if w.objects == nil {
		w.objects = map[types.NamespacedName]*observed{}
	}
	w.objects[name] = o
	w.note(name)
	return true
}

func (w *watched) drop(name types.NamespacedName) {
	delete(w.objects, name)
	w.note(name)
}

func (w *watched) note(name types.NamespacedName) {
	w.e.changes++
	if w.changed != nil {
		w.changed(name)
	}
}

func newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err != nil || order > 0
}

// change runs a change of the store under the lock and tells the world if it did anything.
func (w *watched) change(do func() bool) {
	w.e.mu.Lock()
	tell := do() && (w.worthTelling == nil || w.worthTelling())
	w.e.mu.Unlock()
	if tell {
		w.e.cfg.Notify()
	}
}

// Add is called by the reflector for an object that appeared.
func (w *watched) Add(obj any) error { return w.Update(obj) }

// Update is called by the reflector for an object that changed.
func (w *watched) Update(obj any) error {
	if o, isObject := obj.(*observed); isObject {
		w.change(func() bool { return !w.gone && w.keep(o) })
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
		if old == nil || newer(old.ResourceVersion, o.ResourceVersion) {
			return false
		}
		w.drop(o.name())
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
				w.keep(o)
			}
		}
		for name, old := range w.objects {
			if !listed[name] && !newer(old.ResourceVersion, version) {
				w.drop(name)
			}
		}
		if !w.synced {
			w.synced = true
			w.e.markAllDirtyLocked()
			w.e.kick()
		}
		return true
	})
	return nil
}

// Resync has no meaning here.
func (w *watched) Resync() error { return nil }
