package clusterapi

import (
	"context"
	"fmt"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// watch asks for a pass at every event of a kind that is let through. controller-runtime's own source waits until its
// handler was told of all that the caches hold, which it looks for every tenth of a second; here the first pass looks
// at everything anyway.
type watch struct {
	in   cache.Cache
	kind client.Object
	lets predicate.Predicate
}

// Start is called by the controller with its queue.
func (w watch) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	informer, err := w.in.GetInformer(ctx, w.kind, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching %T: %w", w.kind, err)
	}
	ask := func(object any, let func(client.Object) bool) {
		if gone, unseen := object.(toolscache.DeletedFinalStateUnknown); unseen {
			object = gone.Obj
		}
		if o, is := object.(client.Object); is && let(o) {
			queue.Add(request)
		}
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(now any) {
			ask(now, func(o client.Object) bool { return w.lets.Create(event.CreateEvent{Object: o}) })
		},
		UpdateFunc: func(before, now any) {
			old, _ := before.(client.Object)
			ask(now, func(o client.Object) bool { return w.lets.Update(event.UpdateEvent{ObjectOld: old, ObjectNew: o}) })
		},
		DeleteFunc: func(last any) {
			ask(last, func(o client.Object) bool { return w.lets.Delete(event.DeleteEvent{Object: o}) })
		},
	})
	if err != nil {
		return fmt.Errorf("watching %T: %w", w.kind, err)
	}
	return nil
}
