package see

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

// Resource is how the API server serves a kind.
type Resource struct {
	GVR        schema.GroupVersionResource
	Namespaced bool
	Lists      bool // it can be listed
}

// Kinds knows how kinds are served: those that the API server announced, and those whose CRD is seen and Established,
// which the announcement follows seconds later. It is guarded by the engine's lock.
type Kinds struct {
	Discovered Discovered
	Asked      bool                             // the API server has answered, or failed to
	Err        error                            // of asking it
	Vanished   map[schema.GroupVersionKind]bool // announced, but not found when it was to be watched
}

// Discovered is what an API server said that it serves.
type Discovered struct {
	Kinds       map[schema.GroupVersionKind]Resource
	Unavailable map[string]bool              // API groups that did not answer and may serve anything: their servers are aggregated, and down
	Aggregated  map[schema.GroupVersion]bool // versions that another server serves; only DiscoverAll finds out
	Own         map[schema.GroupVersion]bool // versions of kube-apiserver's own kinds; only DiscoverAll finds out

	versions map[schema.GroupVersion]bool // that were announced, with or without kinds
}

// Of is how a kind is served, in another version if not in this one.
func (a Discovered) Of(gvk schema.GroupVersionKind) (Resource, bool) {
	if found, served := a.Kinds[gvk]; served {
		return found, true
	}
	for other, found := range a.Kinds {
		if other.GroupKind() == gvk.GroupKind() {
			return found, true
		}
	}
	return Resource{}, false
}

// UnavailableGroups names the API groups that did not answer, empty if all did.
func (a Discovered) UnavailableGroups() string {
	return strings.Join(slices.Sorted(maps.Keys(a.Unavailable)), ", ")
}

// discoveryTimeout bounds asking for all kinds: an aggregated API that hangs must not hold up the others for longer.
const discoveryTimeout = 32 * time.Second

// roundTripper is a function that sends a request.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip sends a request.
func (send roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return send(r) }

// Discover asks the API server for everything it serves: two requests. An aggregated API that is down does not hide
// the others.
func (r *Reader) Discover(ctx context.Context) (Discovered, error) {
	ctx, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	// Discovery takes no context, and would go on asking after the engine has ended.
	send := roundTripper(func(sent *http.Request) (*http.Response, error) { return r.transport.RoundTrip(sent.WithContext(ctx)) })
	client, err := discovery.NewDiscoveryClientForConfigAndClient(r.config, &http.Client{Transport: send})
	if err != nil {
		return Discovered{}, fmt.Errorf("making a discovery client: %w", err)
	}
	_, lists, err := discovery.ServerGroupsAndResources(client)
	var partly *discovery.ErrGroupDiscoveryFailed
	if err != nil && !errors.As(err, &partly) {
		return Discovered{}, fmt.Errorf("asking the API server for the kinds it serves: %w", err)
	}
	said := Discovered{
		Kinds: map[schema.GroupVersionKind]Resource{}, Unavailable: map[string]bool{}, Aggregated: map[schema.GroupVersion]bool{},
		Own:      map[schema.GroupVersion]bool{},
		versions: map[schema.GroupVersion]bool{},
	}
	if partly != nil {
		for gv := range partly.Groups {
			said.Unavailable[gv.Group] = true
		}
	}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		said.versions[gv] = true
		for _, api := range list.APIResources {
			if gvk := gv.WithKind(api.Kind); !isSubresource(api.Name) {
				said.Kinds[gvk] = Resource{GVR: gv.WithResource(api.Name), Namespaced: api.Namespaced, Lists: slices.Contains(api.Verbs, "list")}
			}
		}
	}
	return said, nil
}

func isSubresource(name string) bool { return strings.Contains(name, "/") }

// DefinedBy reads from a CRD how it serves a version, and says no when it does not or is not Established.
func DefinedBy(crd *unstructured.Unstructured, version string) (Resource, bool) {
	if crd == nil || decide.Condition(crd, "Established").Answer != decide.AnswerTrue {
		return Resource{}, false
	}
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	scope, _, _ := unstructured.NestedString(crd.Object, "spec", "scope")
	for _, v := range decide.VersionsOf(crd) {
		if v["name"] == version && v["served"] == true {
			gvr := schema.GroupVersionResource{Group: group, Version: version, Resource: plural}
			return Resource{GVR: gvr, Namespaced: scope == "Namespaced", Lists: true}, true
		}
	}
	return Resource{}, false
}
