package house

import (
	"context"
	"fmt"
	"slices"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/capstan-capi/capstan/machine"
)

// Watch asks for passes at every event of a kind that is let through.
type Watch struct {
	Kind client.Object
	// In is the cache that is watched, nil for the manager's.
	In   cache.Cache
	Lets predicate.Predicate
	// Asks names the instances that an object matters to.
	Asks func(client.Object) []machine.Key
}

// Always names one instance, whatever the object.
func Always(key machine.Key) func(client.Object) []machine.Key {
	return func(client.Object) []machine.Key { return []machine.Key{key} }
}

// Itself names the instance of the object.
func Itself(o client.Object) []machine.Key {
	return []machine.Key{KeyOf(client.ObjectKeyFromObject(o))}
}

// Named lets through the objects of these names, in whatever namespace.
func Named(names ...string) predicate.Predicate {
	return predicate.NewPredicateFuncs(func(o client.Object) bool { return slices.Contains(names, o.GetName()) })
}

// OneOf lets through these objects.
func OneOf(keys []client.ObjectKey) predicate.Predicate {
	return predicate.NewPredicateFuncs(func(o client.Object) bool { return slices.Contains(keys, client.ObjectKeyFromObject(o)) })
}

// watching is the source of a watch. controller-runtime's own waits until its handler was told of all that the caches
// hold, which it looks for every tenth of a second; here the first pass looks at everything anyway.
type watching struct {
	Watch
	in cache.Cache
}

// Start is called by the controller with its queue.
func (w watching) Start(ctx context.Context, queue queue) error {
	in := w.in
	if w.In != nil {
		in = w.In
	}
	informer, err := in.GetInformer(ctx, w.Kind, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching %T: %w", w.Kind, err)
	}
	ask := func(object any, let func(client.Object) bool) {
		if gone, unseen := object.(toolscache.DeletedFinalStateUnknown); unseen {
			object = gone.Obj
		}
		if o, is := object.(client.Object); is && let(o) {
			for _, key := range w.Asks(o) {
				queue.Add(requestOf(key))
			}
		}
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(now any) {
			ask(now, func(o client.Object) bool { return w.Lets.Create(event.CreateEvent{Object: o}) })
		},
		UpdateFunc: func(before, now any) {
			old, _ := before.(client.Object)
			ask(now, func(o client.Object) bool { return w.Lets.Update(event.UpdateEvent{ObjectOld: old, ObjectNew: o}) })
		},
		DeleteFunc: func(last any) {
			ask(last, func(o client.Object) bool { return w.Lets.Delete(event.DeleteEvent{Object: o}) })
		},
	})
	if err != nil {
		return fmt.Errorf("watching %T: %w", w.Kind, err)
	}
	return nil
}
