package simulated

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

func (s *server) unavailable() error {
	return apierrors.NewServiceUnavailable("the API server is away")
}

// Kinds are those of Cluster API.
func (s *server) Kinds(context.Context) ([]phases.Kind, error) {
	if s.down {
		return nil, s.unavailable()
	}
	return slices.Clone(s.kinds), nil
}

// Get reads one object.
func (s *server) Get(_ context.Context, k phases.Kind, namespace, name string) (*unstructured.Unstructured, error) {
	if s.down {
		return nil, s.unavailable()
	}
	if wrong := content.IsPathSegmentName(name); name == "" || len(wrong) > 0 {
		return nil, fmt.Errorf("invalid resource name %q: %v", name, wrong) // no API server is asked
	}
	if k.Resource == phases.HostedClusters.Resource {
		s.got++
	}
	o := s.objects[refOf(k, namespace, name)]
	if o == nil {
		return nil, apierrors.NewNotFound(gr(k), name)
	}
	return o.DeepCopy(), nil
}

// List reads the objects of a kind, sorted by name.
func (s *server) List(_ context.Context, k phases.Kind, namespace, selector string) ([]*unstructured.Unstructured, error) {
	if s.down {
		return nil, s.unavailable()
	}
	if s.listed == nil {
		s.listed = map[string]int{}
	}
	s.listed[k.Resource]++
	if err := s.unlisted[k.Resource]; err != nil {
		return nil, err
	}
	selects, err := labels.Parse(selector)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	var found []*unstructured.Unstructured
	for at, o := range s.objects {
		if at.group == k.Group && at.resource == k.Resource && (namespace == "" || at.namespace == namespace) && selects.Matches(labels.Set(o.GetLabels())) {
			found = append(found, o.DeepCopy())
		}
	}
	slices.SortFunc(found, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return found, nil
}

// Dependents are the objects of other groups that have owners.
func (s *server) Dependents(_ context.Context, namespace string, needed phases.Needed) ([]phases.Dependent, error) {
	if s.down {
		return nil, s.unavailable()
	}
	if s.many && needed.Kind(secrets) {
		return nil, fmt.Errorf("listing secrets: %w", &phases.TooManyError{Kind: secrets, Most: 20_000})
	}
	if s.unanswered != nil && needed.Kind(boxes) {
		return nil, fmt.Errorf("listing %s: %w", boxes.Resource, s.unanswered)
	}
	var found []phases.Dependent
	for _, at := range s.sorted() {
		o := s.objects[at]
		if at.namespace != namespace || phases.SideOf(at.group) != "" || len(o.GetOwnerReferences()) == 0 {
			continue
		}
		found = append(found, phases.Dependent{
			Kind:   phases.Kind{Group: at.group, Resource: at.resource, Kind: o.GetKind(), Versions: []string{versionOf(o)}, Namespaced: true},
			Object: &unstructured.Unstructured{Object: map[string]any{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "metadata": o.DeepCopy().Object["metadata"]}},
		})
	}
	return found, nil
}

func versionOf(o *unstructured.Unstructured) string { return o.GroupVersionKind().Version }

func (s *server) sorted() []ref {
	return slices.SortedFunc(maps.Keys(s.objects), func(a, b ref) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.group, b.group), cmp.Compare(a.resource, b.resource), cmp.Compare(a.name, b.name))
	})
}

// Probe reads as a component does through the proxy.
func (s *server) Probe(ctx context.Context, _ string, k phases.Kind, namespace string) ([]*unstructured.Unstructured, error) {
	private := k
	private.Group = phases.Counterpart(k.Group)
	list, err := s.List(ctx, private, namespace, "")
	for i := range list {
		list[i] = phases.SeenByClient(list[i])
	}
	return list, err
}

// Unserved says that all webhooks are served.
func (s *server) Unserved(_ context.Context, namespace string) ([]string, error) {
	if s.down {
		return nil, s.unavailable()
	}
	if namespace == s.unasked {
		return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "endpointslices"}, "", nil)
	}
	return nil, nil
}
