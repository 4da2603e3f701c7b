package clusterapi

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// request is the only one there is: the machine is one for the whole cluster.
var request = reconcile.Request{NamespacedName: client.ObjectKey{Name: phases.Singleton}}

// trigger asks for passes on behalf of what is not a watch of the manager:
// images that arrive, managed objects that change, work that looks again.
type trigger struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// Start is called by the controller with its queue; what was asked for before
// is covered by the first pass.
func (t *trigger) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queue = queue
	queue.Add(request)
	return nil
}

func (t *trigger) after(wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.queue != nil {
		t.queue.AddAfter(request, wait)
	}
}
