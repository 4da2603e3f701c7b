package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// resource is how the API server serves a kind.
type resource struct {
	gvr        schema.GroupVersionResource
	namespaced bool
	lists      bool // it can be listed
}

// kinds knows how kinds are served: those that the API server announced, and those whose CRD is seen and Established,
// which the announcement follows seconds later. It is guarded by the engine's lock.
type kinds struct {
	discovered discovered
	asked      bool                             // the API server has answered, or failed to
	err        error                            // of asking it
	vanished   map[schema.GroupVersionKind]bool // announced, but not found when it was to be watched
}

// discovered is what an API server said that it serves.
type discovered struct {
	kinds       map[schema.GroupVersionKind]resource
	unavailable map[string]bool // API groups that did not answer and may serve anything: their servers are aggregated, and down
}

// of is how a kind is served, in another version if not in this one.
func (a discovered) of(gvk schema.GroupVersionKind) (resource, bool) {
	if found, served := a.kinds[gvk]; served {
		return found, true
	}
	for other, found := range a.kinds {
		if other.GroupKind() == gvk.GroupKind() {
			return found, true
		}
	}
	return resource{}, false
}

// unavailableGroups names the API groups that did not answer, empty if all did.
func (a discovered) unavailableGroups() string {
	return strings.Join(slices.Sorted(maps.Keys(a.unavailable)), ", ")
}

// discoveryTimeout bounds asking for all kinds: an aggregated API that hangs must not hold up the others for longer.
const discoveryTimeout = 32 * time.Second

// roundTripper is a function that sends a request.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip sends a request.
func (send roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return send(r) }

// discover asks the API server for everything it serves: two requests. An aggregated API that is down does not hide
// the others.
func (r *reader) discover(ctx context.Context) (discovered, error) {
	ctx, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	// Discovery takes no context, and would go on asking after the engine has ended.
	send := roundTripper(func(sent *http.Request) (*http.Response, error) { return r.transport.RoundTrip(sent.WithContext(ctx)) })
	client, err := discovery.NewDiscoveryClientForConfigAndClient(r.config, &http.Client{Transport: send})
	if err != nil {
		return discovered{}, fmt.Errorf("making a discovery client: %w", err)
	}
	_, lists, err := discovery.ServerGroupsAndResources(client)
	var partly *discovery.ErrGroupDiscoveryFailed
	if err != nil && !errors.As(err, &partly) {
		return discovered{}, fmt.Errorf("asking the API server for the kinds it serves: %w", err)
	}
	said := discovered{kinds: map[schema.GroupVersionKind]resource{}, unavailable: map[string]bool{}}
	if partly != nil {
		for gv := range partly.Groups {
			said.unavailable[gv.Group] = true
		}
	}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, api := range list.APIResources {
			if gvk := gv.WithKind(api.Kind); !isSubresource(api.Name) {
				verbs := set(api.Verbs)
				said.kinds[gvk] = resource{gvr: gv.WithResource(api.Name), namespaced: api.Namespaced, lists: verbs["list"]}
			}
		}
	}
	return said, nil
}

func isSubresource(name string) bool { return strings.Contains(name, "/") }

// definedBy reads from a CRD how it serves a version, and says no when it does not or is not Established.
func definedBy(crd *unstructured.Unstructured, version string) (resource, bool) {
	if crd == nil || decide.Condition(crd, "Established").Answer != decide.AnswerTrue {
		return resource{}, false
	}
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	scope, _, _ := unstructured.NestedString(crd.Object, "spec", "scope")
	for _, v := range decide.VersionsOf(crd) {
		if v["name"] == version && v["served"] == true {
			gvr := schema.GroupVersionResource{Group: group, Version: version, Resource: plural}
			return resource{gvr: gvr, namespaced: scope == "Namespaced", lists: true}, true
		}
	}
	return resource{}, false
}
