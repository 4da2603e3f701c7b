package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
)

// atOnce bounds the requests that a reset has under way.
const atOnce = 16

// found is an object and the resource by which it was listed.
type found struct {
	resource schema.GroupVersionResource
	*metav1.PartialObjectMetadata
}

// rank is the turn in which kinds are deleted: what could refuse a deletion goes
// first, a Namespace when it is empty, because its controller looks again only
// after 8 seconds at one that is not, and definitions last, when nobody needs
// their API any more.
func (f found) rank() int {
	switch {
	case f.resource.Group == "admissionregistration.k8s.io":
		return 0
	case f.resource.Resource == "namespaces":
		return 2
	case f.resource.Resource == "customresourcedefinitions":
		return 3
	default:
		return 1
	}
}

// planted says that the control plane puts such an object into every Namespace,
// again and again until the Namespace goes.
func (f found) planted() bool {
	name := f.resource.Resource + "/" + f.Name
	return name == "serviceaccounts/default" || name == "configmaps/kube-root-ca.crt"
}

// passing are resources whose objects come and go with others, or that the API
// server keeps by itself.
var passing = []string{
	"events", "events.events.k8s.io", "endpoints", "endpointslices.discovery.k8s.io", "apiservices.apiregistration.k8s.io",
	"componentstatuses", "clustertrustbundles.certificates.k8s.io",
}

// reset deletes every object that is not in the baseline, finalizers or not.
func (e *Environment) reset(ctx context.Context) error {
	return Eventually(ctx, "the cluster to be empty", func(ctx context.Context) error {
		left, err := e.list(ctx)
		if err != nil {
			return err
		}
		left = slices.DeleteFunc(left, func(f found) bool { return e.baseline[f.UID] || f.planted() })
		if len(left) == 0 {
			return nil
		}
		turn := slices.MinFunc(left, func(a, b found) int { return a.rank() - b.rank() }).rank()
		group, deleting := errgroup.WithContext(ctx)
		group.SetLimit(atOnce)
		var names []string
		for _, f := range left {
			names = append(names, f.resource.Resource+" "+f.Namespace+"/"+f.Name)
			if f.rank() == turn {
				group.Go(func() error { return e.erase(deleting, f) })
			}
		}
		if err := group.Wait(); err != nil {
			return err
		}
		return fmt.Errorf("%d objects are left: %s", len(left), strings.Join(names[:min(5, len(names))], ", "))
	})
}

// erase deletes one object at once and takes its finalizers off, except those
// that the control plane itself acts on.
func (e *Environment) erase(ctx context.Context, f found) error {
	client, err := metadata.NewForConfig(e.Cluster.Config())
	if err != nil {
		return err
	}
	resource := client.Resource(f.resource).Namespace(f.Namespace)
	if f.DeletionTimestamp == nil {
		background, now := metav1.DeletePropagationBackground, int64(0)
		err := gone(resource.Delete(ctx, f.Name, metav1.DeleteOptions{PropagationPolicy: &background, GracePeriodSeconds: &now}))
		if err != nil {
			return fmt.Errorf("deleting %s %s: %w", f.resource.Resource, f.Name, err)
		}
	}
	if len(f.Finalizers) == 0 || f.resource.Resource == "customresourcedefinitions" || f.resource.Resource == "namespaces" {
		return nil
	}
	_, err = resource.Patch(ctx, f.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	if err := gone(err); err != nil {
		return fmt.Errorf("taking the finalizers off %s %s: %w", f.resource.Resource, f.Name, err)
	}
	return nil
}

// gone forgives that the object, or its whole kind, has disappeared meanwhile.
func gone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
		return nil
	}
	return err
}

// inventory is the identity of every object there is.
func (e *Environment) inventory(ctx context.Context) (map[types.UID]bool, error) {
	all, err := e.list(ctx)
	if err != nil {
		return nil, err
	}
	known := map[types.UID]bool{}
	for _, f := range all {
		known[f.UID] = true
	}
	return known, nil
}

// list finds every object that can be listed and deleted.
func (e *Environment) list(ctx context.Context) ([]found, error) {
	resources, err := e.resources()
	if err != nil {
		return nil, err
	}
	client, err := metadata.NewForConfig(e.Cluster.Config())
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var all []found
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, resource := range resources {
		group.Go(func() error {
			list, err := client.Resource(resource).List(ctx, metav1.ListOptions{})
			if err := gone(err); err != nil {
				return fmt.Errorf("listing %s: %w", resource.GroupResource(), err)
			}
			if list == nil {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			for i := range list.Items {
				all = append(all, found{resource, &list.Items[i]})
			}
			return nil
		})
	}
	return all, group.Wait()
}

func (e *Environment) resources() ([]schema.GroupVersionResource, error) {
	client, err := discovery.NewDiscoveryClientForConfig(e.Cluster.Config())
	if err != nil {
		return nil, err
	}
	lists, err := client.ServerPreferredResources()
	var partly *discovery.ErrGroupDiscoveryFailed
	if err != nil && !errors.As(err, &partly) {
		return nil, fmt.Errorf("asking for the resources that are served: %w", err)
	}
	var resources []schema.GroupVersionResource
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "delete"}}, lists) {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			gvr := version.WithResource(resource.Name)
			if !slices.Contains(passing, gvr.GroupResource().String()) {
				resources = append(resources, gvr)
			}
		}
	}
	return resources, nil
}
