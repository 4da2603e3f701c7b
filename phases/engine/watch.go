package engine

import (
	"context"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// watched is what is seen of one kind: a reflector's store that keeps the newest copy of every labelled object,
// whether it came from the watch or from our own write, so that looking after a write never sees the past. Its fields
// are guarded by the engine's lock.
type watched struct {
	e        *Engine
	gvk      schema.GroupVersionKind
	resource resource
	objects  map[types.NamespacedName]*unstructured.Unstructured
	synced   bool
	err      error // of the last list or watch, nil after one that worked
	cancel   context.CancelFunc
	gone     bool // the API server does not serve the kind any more
}

// start lists and watches until ctx ends; errors are remembered and tried again with backoff by the reflector.
func (w *watched) start(ctx context.Context, namespace, selector string) {
	ctx, w.cancel = context.WithCancel(ctx)
	client := w.e.dynamic.Resource(w.resource.gvr).Namespace(namespace)
	lister := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.LabelSelector = selector
			list, err := client.List(ctx, o)
			return list, w.heard(ctx, err)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.LabelSelector = selector
			events, err := client.Watch(ctx, o)
			return events, w.heard(ctx, err)
		},
	}
	log := w.e.cfg.Log.V(2)
	reflector := cache.NewReflectorWithOptions(
		cache.ToListWatcherWithWatchListSemantics(lister, w.e.dynamic), &unstructured.Unstructured{}, w,
		cache.ReflectorOptions{Logger: &log, Name: "engine", TypeDescription: w.gvk.String()},
	)
	w.e.running.Go(func() { reflector.RunWithContext(klog.NewContext(ctx, log)) })
}

// heard notes how a request of the reflector went, and gives back what the reflector is to make of it. A kind that is
// not served any more loses its objects, and its watch is given back to the engine, which starts another one when the
// kind is back; the end of a watch is no error.
func (w *watched) heard(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return io.EOF
	}
	if apierrors.IsResourceExpired(err) {
		return err // the reflector lists again at once
	}
	w.e.mu.Lock()
	changed := (w.err == nil) != (err == nil)
	w.err = err
	if apierrors.IsNotFound(err) {
		w.gone, w.synced, w.objects = true, false, nil
		w.cancel()
		err = io.EOF
	}
	w.e.mu.Unlock()
	if changed {
		w.e.kick()
		w.e.cfg.Notify()
	}
	return err
}

// keep stores obj unless a newer copy is known, and says whether it did.
func (w *watched) keep(obj *unstructured.Unstructured) bool {
	name := types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
	if old := w.objects[name]; old != nil && !newer(obj.GetResourceVersion(), old.GetResourceVersion()) {
		return false
	}
	if w.objects == nil {
		w.objects = map[types.NamespacedName]*unstructured.Unstructured{}
	}
	w.objects[name] = obj
	return true
}

func newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err != nil || order > 0
}

// changed runs a change of the store under the lock and tells the world if it did anything.
func (w *watched) changed(change func() bool) {
	w.e.mu.Lock()
	did := change()
	w.e.mu.Unlock()
	if !did {
		return
	}
	if w == w.e.inventories || (Key{Group: w.gvk.Group, Kind: w.gvk.Kind}).isCRD() {
		w.e.kick() // they say which kinds to watch
	}
	w.e.cfg.Notify()
}

// Add is called by the reflector for an object that appeared.
func (w *watched) Add(obj any) error { return w.Update(obj) }

// Update is called by the reflector for an object that changed.
func (w *watched) Update(obj any) error {
	if u, isObject := obj.(*unstructured.Unstructured); isObject {
		w.changed(func() bool { return !w.gone && w.keep(u) })
	}
	return nil
}

// Delete is called by the reflector for an object that was deleted or lost the label.
func (w *watched) Delete(obj any) error {
	u, isObject := obj.(*unstructured.Unstructured)
	if !isObject {
		return nil
	}
	w.changed(func() bool {
		name := types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()}
		old := w.objects[name]
		// A copy that is newer than the deletion was created or labelled again.
		if old == nil || newer(old.GetResourceVersion(), u.GetResourceVersion()) {
			return false
		}
		delete(w.objects, name)
		return true
	})
	return nil
}

// Replace is called by the reflector after a list. Copies of our own writes that are newer than the list stay.
func (w *watched) Replace(list []any, version string) error {
	w.changed(func() bool {
		before := w.objects
		w.objects = make(map[types.NamespacedName]*unstructured.Unstructured, len(list))
		for _, obj := range list {
			if u, isObject := obj.(*unstructured.Unstructured); isObject {
				w.keep(u)
			}
		}
		for _, old := range before {
			if newer(old.GetResourceVersion(), version) {
				w.keep(old)
			}
		}
		w.synced = true
		return true
	})
	return nil
}

// Resync has no meaning here.
func (w *watched) Resync() error { return nil }
