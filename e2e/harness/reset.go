package harness

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

// atOnce bounds the requests that a reset has under way.
const atOnce = 16

// found is an object and the resource by which it was listed.
type found struct {
	resource schema.GroupVersionResource
	*metav1.PartialObjectMetadata
}

// The turns in which kinds are deleted: what could refuse a deletion goes first,
// then what the control plane puts into each Namespace, which is not put back into
// one that is on its way out, then Namespaces when nothing is in them, since no
// admission policy lets anything go from one that is gone, and definitions last,
// when nobody needs their API any more.
const (
	refusing = iota
	ordinary
	planted
	namespaces
	definitions
	turns
)

func (f found) turn() int {
	switch f.resource.Resource + "/" + f.Name {
	case "serviceaccounts/default", "configmaps/kube-root-ca.crt":
		return planted
	}
	switch {
	case f.resource.Group == "admissionregistration.k8s.io":
		return refusing
	case f.resource.Resource == "namespaces":
		return namespaces
	case f.resource.Resource == "customresourcedefinitions":
		return definitions
	default:
		return ordinary
	}
}

// passing are resources whose objects come and go with others, or that the API
// server keeps by itself.
var passing = []string{
	"events", "events.events.k8s.io", "endpoints", "endpointslices.discovery.k8s.io", "apiservices.apiregistration.k8s.io",
	"componentstatuses", "clustertrustbundles.certificates.k8s.io",
}

// reset deletes every object that is not in the baseline, finalizers or not,
// and looks again until there is none. Then it waits until the controller of Namespaces
// is done with all that it has in hand: it knows them by their names, may look at
// one again five seconds after one of that name went, and goes on to empty it
// though it is gone by now, and there again.
func (e *Environment) reset(ctx context.Context) error {
	client, err := metadata.NewForConfig(e.Cluster.Config())
	if err != nil {
		return err
	}
	return Eventually(ctx, "the cluster to be empty", func(ctx context.Context) error {
		left, err := e.list(ctx)
		if err != nil {
			return err
		}
		stays := map[string]bool{}
		for _, f := range left {
			stays[f.Name] = stays[f.Name] || f.turn() == namespaces && e.baseline[f.UID]
		}
		// What the control plane plants comes later than the baseline, and again after each deletion.
		left = slices.DeleteFunc(left, func(f found) bool { return e.baseline[f.UID] || f.turn() == planted && stays[f.Namespace] })
		if len(left) == 0 {
			return e.Cluster.Idle(ctx, cluster.NamespaceQueue)
		}
		for turn := range turns {
			group, ctx := errgroup.WithContext(ctx)
			group.SetLimit(atOnce)
			for _, f := range left {
				of := client.Resource(f.resource).Namespace(f.Namespace)
				switch {
				case f.turn() == turn:
					group.Go(func() error { return e.erase(ctx, of, f) })
				case turn == ordinary && f.turn() == namespaces:
					group.Go(func() error { return gone(of.Delete(ctx, f.Name, metav1.DeleteOptions{})) })
				}
			}
			if err := group.Wait(); err != nil {
				return err
			}
		}
		return fmt.Errorf("%d objects were there", len(left))
	})
}

// erase deletes one object at once, takes its finalizers off, except those that
// the API server itself acts on, and waits until it is gone.
func (e *Environment) erase(ctx context.Context, client metadata.ResourceInterface, f found) error {
	what := fmt.Sprintf("%s %s/%s", f.resource.Resource, f.Namespace, f.Name)
	background, now := metav1.DeletePropagationBackground, int64(0)
	err := gone(client.Delete(ctx, f.Name, metav1.DeleteOptions{PropagationPolicy: &background, GracePeriodSeconds: &now}))
	if err != nil {
		return fmt.Errorf("deleting %s: %w", what, err)
	}
	if f.turn() == namespaces {
		if err := gone(e.finalize(ctx, f.Name)); err != nil {
			return fmt.Errorf("finalizing %s: %w", what, err)
		}
	}
	return Eventually(ctx, what+" to be gone", func(ctx context.Context) error {
		object, err := client.Get(ctx, f.Name, metav1.GetOptions{})
		if err != nil {
			return gone(err)
		}
		if object.UID != f.UID {
			return nil
		}
		if len(object.Finalizers) > 0 && f.turn() != definitions {
			_, err := client.Patch(ctx, f.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			if err := gone(err); err != nil {
				return err
			}
		}
		return errors.New("it is still there")
	})
}

// finalize does what the controller of Namespaces does five seconds later.
func (e *Environment) finalize(ctx context.Context, name string) error {
	return e.Client.SubResource("finalize").Update(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
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
	client, err := e.impatient()
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var all []found
	err = e.eachKind(ctx, func(ctx context.Context, resource schema.GroupVersionResource) error {
		list, err := listAll(ctx, client.Resource(resource))
		if err != nil || list == nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for i := range list.Items {
			all = append(all, found{resource, &list.Items[i]})
		}
		return nil
	})
	return all, err
}

// eachKind looks at every kind that can be listed and deleted, several at the
// same time. One that is gone meanwhile is no error.
func (e *Environment) eachKind(ctx context.Context, look func(context.Context, schema.GroupVersionResource) error) error {
	resources, err := e.resources()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, resource := range resources {
		group.Go(func() error {
			if err := gone(look(ctx, resource)); err != nil {
				return fmt.Errorf("listing %s: %w", resource.GroupResource(), err)
			}
			return nil
		})
	}
	return group.Wait()
}

// listAll lists a kind. The API server puts off whoever lists a kind that it has
// just begun to serve, by a second, and is ready in milliseconds.
func listAll(ctx context.Context, kind metadata.Getter) (list *metav1.PartialObjectMetadataList, failed error) {
	busy := Eventually(ctx, "the API server to be ready", func(ctx context.Context) error {
		if list, failed = kind.List(ctx, metav1.ListOptions{}); apierrors.IsTooManyRequests(failed) {
			return failed
		}
		return nil
	})
	if failed == nil {
		failed = busy
	}
	return list, failed
}

// impatient is an administrator's client that leaves it to its user when to ask
// a busy API server again.
func (e *Environment) impatient() (metadata.Interface, error) {
	config := e.Cluster.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return impatient{next} })
	return metadata.NewForConfig(config)
}

type impatient struct{ http.RoundTripper }

func (i impatient) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := i.RoundTripper.RoundTrip(request)
	if err == nil {
		response.Header.Del("Retry-After")
	}
	return response, err
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
		if cluster.IsAlias(version.Group) {
			continue
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
