package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/hostedworld"
)

// movePatience is how long a part of a move may take, which is many requests one after the other: seconds on a machine that is not busy.
const movePatience = 10 * time.Minute

// hostedState is what a HostedCluster tells of its move.
type hostedState struct {
	key, state, message string
}

// hostedFollower sees every state that HostedClusters tell, in order, as a watch shows them.
type hostedFollower struct {
	news chan hostedState

	mu   sync.Mutex
	path map[string][]string
}

// newHostedFollower follows all HostedClusters until the context ends.
func newHostedFollower(ctx context.Context, config *rest.Config) (*hostedFollower, error) {
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client of HostedClusters: %w", err)
	}
	f := &hostedFollower{news: make(chan hostedState, 1000), path: map[string][]string{}}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(objects, 0)
	informer := factory.ForResource(schema.GroupVersionResource{Group: hostedworld.HyperShift, Version: "v1beta1", Resource: "hostedclusters"}).Informer()
	see := func(of any) { f.see(ctx, of) }
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, now any) { see(now) }})
	if err != nil {
		return nil, fmt.Errorf("following HostedClusters: %w", err)
	}
	factory.Start(ctx.Done())
	return f, nil
}

// see takes in a HostedCluster, and passes a state on that is new.
func (f *hostedFollower) see(ctx context.Context, of any) {
	o, is := of.(*hostedworld.Object)
	if !is {
		return
	}
	key := o.GetNamespace() + "/" + o.GetName()
	state, message := hostedworld.Told(o)
	f.mu.Lock()
	path := f.path[key]
	same := state == "" || len(path) > 0 && path[len(path)-1] == state
	if !same {
		f.path[key] = append(path, state)
	}
	f.mu.Unlock()
	if same {
		return
	}
	select {
	case f.news <- hostedState{key, state, message}:
	case <-ctx.Done():
	}
}

// states are those that a hosted cluster has told so far.
func (f *hostedFollower) states(of *hostedworld.Hosted) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.path[of.Key()]...)
}

// last is the state that it has told last, empty for none.
func (f *hostedFollower) last(of *hostedworld.Hosted) string {
	states := f.states(of)
	if len(states) == 0 {
		return ""
	}
	return states[len(states)-1]
}

// until tells states as they come, until a hosted cluster has told one.
func (h *hosting) until(ctx context.Context, hosted *hostedworld.Hosted, state string) error {
	ctx, cancel := context.WithTimeout(ctx, movePatience)
	defer cancel()
	ctx, end := h.operator.Context(ctx)
	defer end()
	err := harness.Eventually(ctx, fmt.Sprintf("HostedCluster %s to be %s", hosted.Key(), state), func(context.Context) error {
		h.drain()
		last := h.followed.last(hosted)
		return unless(last == state, "it is "+last)
	})
	h.drain()
	return err
}

// setForward sets the operator's clock forward until a hosted cluster has left a state, by no more than twice the time for which it may be
// worse off there: what the operator sees late of a change begins that time anew.
func (h *hosting) setForward(ctx context.Context, hosted *hostedworld.Hosted, state string) error {
	ctx, cancel := context.WithTimeout(ctx, movePatience)
	defer cancel()
	ctx, end := h.operator.Context(ctx)
	defer end()
	const step = unwell / 10
	forward := time.Duration(0)
	err := harness.Eventually(ctx, fmt.Sprintf("HostedCluster %s to leave %s", hosted.Key(), state), func(context.Context) error {
		h.drain()
		if h.followed.last(hosted) != state {
			return nil
		}
		stays := errors.New("it does not")
		if forward >= 2*unwell {
			return stays
		}
		forward += step
		return errors.Join(stays, h.operator.Advance(step))
	})
	h.drain()
	return err
}

// drain tells the states that came since it was called last.
func (h *hosting) drain() {
	for {
		select {
		case news := <-h.followed.news:
			h.tellState(news)
		default:
			return
		}
	}
}

// awaitMachines returns when a namespace has so many Machines of private types.
func awaitMachines(ctx context.Context, config *rest.Config, namespace string, enough int) error {
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client of Machines: %w", err)
	}
	machines := objects.Resource(schema.GroupVersionResource{Group: hostedworld.Private, Version: "v1beta2", Resource: "machines"}).Namespace(namespace)
	seconds := int64(movePatience / time.Second)
	seen, err := machines.Watch(ctx, metav1.ListOptions{TimeoutSeconds: &seconds})
	if err != nil {
		return fmt.Errorf("watching Machines of %s: %w", namespace, err)
	}
	defer seen.Stop()
	for event := range seen.ResultChan() {
		if event.Type == watch.Added {
			enough--
		}
		if enough == 0 {
			return nil
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.New("the watch of Machines has ended")
}
