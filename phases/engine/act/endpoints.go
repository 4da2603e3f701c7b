package act

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

var endpointSlices = schema.GroupVersionKind{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice"}

// endpointWatch is the watch of the EndpointSlices of the Services in one namespace that webhooks are behind.
type endpointWatch struct {
	*see.Watch
	services map[string]bool // by name
}

// tendEndpointWatchesLocked watches the endpoints of the Services that the webhooks of watched revisions are behind, and of no
// others. The cluster's lock is held.
func (e *Engine) tendEndpointWatchesLocked(ctx context.Context) {
	called := map[string]map[string]bool{} // names by namespace
	for _, p := range e.plans {
		for _, t := range p.callers {
			for _, service := range t.Calls {
				if called[service.Namespace] == nil {
					called[service.Namespace] = map[string]bool{}
				}
				called[service.Namespace][service.Name] = true
			}
		}
	}
	for namespace, w := range e.endpointWatches {
		if !maps.Equal(w.services, called[namespace]) {
			w.Cancel()
			delete(e.endpointWatches, namespace)
		}
	}
	for namespace, names := range called {
		if e.endpointWatches[namespace] != nil {
			continue
		}
		w := &endpointWatch{services: names}
		w.Watch = &see.Watch{
			Cluster: e.cluster, GVK: endpointSlices, Resource: see.Builtin[endpointSlices], AlwaysServed: true,
			Changed: func(types.NamespacedName) { e.markCallersDirtyLocked(namespace) },
		}
		e.endpointWatches[namespace] = w
		w.Start(ctx, see.View{
			GVR: w.Resource.GVR, Namespace: namespace,
			Labels: decide.ServiceNameLabel + " in (" + strings.Join(slices.Sorted(maps.Keys(names)), ",") + ")",
		})
	}
}

// markCallersDirtyLocked makes the next look look again at the webhook configurations that call Services of a namespace.
func (e *Engine) markCallersDirtyLocked(namespace string) {
	for _, p := range e.plans {
		for _, t := range p.callers {
			if slices.ContainsFunc(t.Calls, func(service types.NamespacedName) bool { return service.Namespace == namespace }) {
				p.dirty.targets[t] = struct{}{}
			}
		}
	}
}

// reachableLocked says whether each of some Services has an endpoint that is ready: the first answer that is not yes.
func (e *Engine) reachableLocked(called []types.NamespacedName) decide.Probe {
	for _, service := range called {
		w := e.endpointWatches[service.Namespace]
		switch {
		case w == nil || !w.services[service.Name] || !w.Seen() && w.Err == nil:
			return decide.Probe{Answer: decide.AnswerUnknown, Message: fmt.Sprintf("the endpoints of Service %s are not seen yet", service)}
		case !w.Seen():
			return decide.Probe{Answer: decide.AnswerUnknown, Message: fmt.Sprintf("the endpoints of Service %s cannot be watched: %v", service, w.Err)}
		}
		if p := decide.Reachable(service, w.slicesOf(service)); p.Answer != decide.AnswerTrue {
			return p
		}
	}
	return decide.Probe{Answer: decide.AnswerTrue}
}

// slicesOf are the EndpointSlices of a Service. The cluster's lock is held.
func (w *endpointWatch) slicesOf(service types.NamespacedName) iter.Seq[*unstructured.Unstructured] {
	return func(yield func(*unstructured.Unstructured) bool) {
		for _, o := range w.Objects {
			if slice := o.Tree(endpointSlices); slice.GetLabels()[decide.ServiceNameLabel] == service.Name && !yield(slice) {
				return
			}
		}
	}
}
