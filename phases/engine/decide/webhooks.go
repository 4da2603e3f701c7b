package decide

import (
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// ServiceNameLabel is the label by which an EndpointSlice says whose endpoints it has.
// https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#ownership
const ServiceNameLabel = "kubernetes.io/service-name"

func isWebhooks(key Key) bool {
	return key.Group == "admissionregistration.k8s.io" &&
		(key.Kind == "ValidatingWebhookConfiguration" || key.Kind == "MutatingWebhookConfiguration")
}

// clientConfigs are how the API server calls each webhook of a configuration, by the webhook's name.
func clientConfigs(obj *unstructured.Unstructured) iter.Seq2[string, map[string]any] {
	return func(yield func(string, map[string]any) bool) {
		hooks, _ := obj.Object["webhooks"].([]any)
		for _, hook := range hooks {
			h, _ := hook.(map[string]any)
			config, _ := h["clientConfig"].(map[string]any)
			if !yield(text(h["name"]), config) {
				return
			}
		}
	}
}

// serviceOf is the Service that a webhook is behind; one with a URL is behind none.
func serviceOf(config map[string]any) (name types.NamespacedName, is bool) {
	service, is := config["service"].(map[string]any)
	return types.NamespacedName{Namespace: text(service["namespace"]), Name: text(service["name"])}, is
}

// calledBy are the Services that the webhooks of a configuration are behind, each once, sorted; of other kinds none.
func calledBy(obj *unstructured.Unstructured) []types.NamespacedName {
	if !isWebhooks(KeyOf(obj)) {
		return nil
	}
	var called []types.NamespacedName
	for _, config := range clientConfigs(obj) {
		if service, is := serviceOf(config); is {
			called = append(called, service)
		}
	}
	slices.SortFunc(called, func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(called)
}

// trusted wants a CA bundle for every webhook behind a Service, and for every one whose manifest asks another controller
// for it: without one the API server trusts nobody who serves for a Service, and refuses whatever the webhook would have
// to look at. A webhook with a URL may be one that the API server's own system trusts.
func trusted(asked bool) rule {
	return func(obj *unstructured.Unstructured) Probe {
		for name, config := range clientConfigs(obj) {
			service, behind := serviceOf(config)
			switch {
			case !empty(config["caBundle"]), !behind && !asked:
			case asked:
				return unknown("webhook %s has no CA bundle yet", name)
			default:
				return unknown("webhook %s has no CA bundle, without which the API server cannot call Service %s; let its manifest have one, or ask for one with the annotation %s", name, service, injectors[0])
			}
		}
		return passed
	}
}

// Reachable wants a Service to have an endpoint that is ready, by its EndpointSlices: until then the API server refuses
// whatever the webhooks behind it would have to look at.
func Reachable(service types.NamespacedName, its iter.Seq[*unstructured.Unstructured]) Probe {
	for slice := range its {
		endpoints, _ := slice.Object["endpoints"].([]any)
		for _, endpoint := range endpoints {
			e, _ := endpoint.(map[string]any)
			conditions, _ := e["conditions"].(map[string]any)
			if conditions["ready"] != false { // one that does not say is ready
				return passed
			}
		}
	}
	return failing("Service %s, which its webhooks are behind, has no endpoint that is ready; look at the Service's selector and at the pods that it selects", service)
}
