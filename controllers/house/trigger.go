package house

import (
	"context"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/capstan-capi/capstan/machine"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Trigger asks for passes on behalf of what is not a watch of the manager, such
// as images that arrive. What is asked for before the controller has started is
// let go: the first pass looks at everything.
type Trigger struct {
	// First are the instances that get a pass at the start, whatever the watches bring.
	First []machine.Key

	mu    sync.Mutex
	queue queue
}

// Start is called by the controller with its queue.
func (t *Trigger) Start(_ context.Context, q queue) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queue = q
	for _, key := range t.First {
		q.Add(requestOf(key))
	}
	return nil
}

// After asks for a pass after a while; at once for zero.
func (t *Trigger) After(key machine.Key, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.queue != nil {
		t.queue.AddAfter(requestOf(key), wait)
	}
}

// KeyOf is the key of an object's instance: namespace/name, or the name of an object without a namespace.
func KeyOf(o client.ObjectKey) machine.Key {
	if o.Namespace == "" {
		return machine.Key(o.Name)
	}
	return machine.Key(o.Namespace + "/" + o.Name)
}

// ObjectOf is the object that a key is of.
func ObjectOf(key machine.Key) client.ObjectKey {
	if namespace, name, in := strings.Cut(string(key), "/"); in {
		return client.ObjectKey{Namespace: namespace, Name: name}
	}
	return client.ObjectKey{Name: string(key)}
}

func requestOf(key machine.Key) reconcile.Request {
	return reconcile.Request{NamespacedName: ObjectOf(key)}
}

// queueBy makes queues whose delays go by a clock.
func queueBy(c clock.WithTicker) func(string, workqueue.TypedRateLimiter[reconcile.Request]) queue {
	return func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) queue {
		return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{Name: name, Clock: c})
	}
}
