package kube

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// resources is what the API server serves, all versions. Only groups that are of no account may not answer: of another one that
// does not, the error is returned.
func (c *Client) resources(counts func(group string) bool) ([]*metav1.APIResourceList, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.discovered == nil || c.now().Sub(c.at) >= freshFor {
		_, all, err := c.discovery.ServerGroupsAndResources()
		silent, some := discovery.GroupDiscoveryFailedErrorGroups(err)
		if err != nil && !some {
			return nil, fmt.Errorf("asking what the API server serves: %w", err)
		}
		c.discovered, c.silent, c.at = all, silent, c.now()
	}
	for gv, err := range c.silent {
		if counts(gv.Group) {
			c.discovered = nil // it is asked again at once: it may answer then
			return nil, fmt.Errorf("asking what the API server serves of %s: %w", gv, err)
		}
	}
	return c.discovered, nil
}

// onASide says that a group is of Cluster API, standard or private.
func onASide(group string) bool { return phases.SideOf(group) != "" }

// ownable says that objects of a group may be owned by one of Cluster API and be of another group. Metrics are no objects.
func ownable(group string) bool {
	return !onASide(group) && group != metricsGroup && !strings.HasSuffix(group, "."+metricsGroup)
}

const metricsGroup = "metrics.k8s.io"

// Kinds are those of Cluster API, standard and private, the preferred version of each first.
func (c *Client) Kinds(context.Context) ([]phases.Kind, error) {
	all, err := c.resources(onASide)
	if err != nil {
		return nil, err
	}
	return kindsOf(all, onASide), nil
}

// kindsOf are the kinds of some groups that can be listed; discovery names the preferred version of a group first.
func kindsOf(all []*metav1.APIResourceList, wanted func(group string) bool) []phases.Kind {
	var kinds []phases.Kind
	at := map[schema.GroupResource]int{}
	for _, one := range all {
		gv, err := schema.ParseGroupVersion(one.GroupVersion)
		if err != nil || !wanted(gv.Group) {
			continue
		}
		for _, r := range one.APIResources {
			if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "list") {
				continue
			}
			gr := schema.GroupResource{Group: gv.Group, Resource: r.Name}
			if i, known := at[gr]; known {
				kinds[i].Versions = append(kinds[i].Versions, gv.Version)
				continue
			}
			at[gr] = len(kinds)
			kinds = append(kinds, phases.Kind{
				Group: gv.Group, Resource: r.Name, Kind: r.Kind, Versions: []string{gv.Version}, Namespaced: r.Namespaced,
				Status: slices.ContainsFunc(one.APIResources, func(s metav1.APIResource) bool { return s.Name == r.Name+"/status" }),
			})
		}
	}
	return kinds
}

// passing are kinds whose objects nobody keeps: they come and go by themselves.
var passing = []schema.GroupResource{{Resource: "events"}, {Group: "events.k8s.io", Resource: "events"}}

// Dependents are the metadata of all objects in a namespace that an object of Cluster API owns, of whatever other group, but for kinds
// that are not needed and cannot be listed.
func (c *Client) Dependents(ctx context.Context, namespace string, needed phases.Needed) ([]phases.Dependent, error) {
	all, err := c.resources(func(group string) bool { return ownable(group) && needed.Group(group) })
	if err != nil {
		return nil, err
	}
	var found []phases.Dependent
	for _, k := range kindsOf(all, ownable) {
		if !k.Namespaced || slices.Contains(passing, schema.GroupResource{Group: k.Group, Resource: k.Resource}) {
			continue
		}
		owned, err := c.ownedOf(ctx, k, namespace)
		if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) || err != nil && !needed.Kind(k) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", k.Resource, err)
		}
		found = append(found, owned...)
	}
	return found, nil
}

func (c *Client) ownedOf(ctx context.Context, k phases.Kind, namespace string) ([]phases.Dependent, error) {
	var found []phases.Dependent
	from := c.metadata.Resource(resource(k)).Namespace(namespace)
	for next := ""; ; {
		got, err := from.List(ctx, metav1.ListOptions{Limit: page, Continue: next})
		if err != nil {
			return nil, err
		}
		for i := range got.Items {
			if !isOwned(&got.Items[i]) {
				continue
			}
			o, err := plain(k, &got.Items[i])
			if err != nil {
				return nil, err
			}
			found = append(found, phases.Dependent{Kind: k, Object: o})
		}
		if len(found) > c.most {
			return nil, &phases.TooManyError{Kind: k, Most: c.most}
		}
		if next = got.GetContinue(); next == "" {
			return found, nil
		}
	}
}

func isOwned(o metav1.Object) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
		gv, err := schema.ParseGroupVersion(ref.APIVersion)
		return err == nil && onASide(gv.Group)
	})
}

// plain is metadata as an object of its kind.
func plain(k phases.Kind, o *metav1.PartialObjectMetadata) (*unstructured.Unstructured, error) {
	body, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&o.ObjectMeta)
	if err != nil {
		return nil, fmt.Errorf("reading the metadata of %s %s: %w", k.Resource, o.Name, err)
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": k.APIVersion(), "kind": k.Kind, "metadata": body}}, nil
}
