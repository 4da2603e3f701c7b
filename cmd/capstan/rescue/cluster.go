package rescue

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/retry"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

// fieldManager is the operator's own in ClusterAPI.status, so that the list of
// revisions keeps one manager.
const fieldManager = "capstan"

var (
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	clusterAPIs = operatorv1alpha1.GroupVersion.WithResource("clusterapis")
)

// Cluster is what a rescue reads and writes.
type Cluster struct {
	host      string
	namespace string
	dynamic   dynamic.Interface
	metadata  metadata.Interface
	discovery discovery.DiscoveryInterface
	clock     inspect.ServerClock
}

// NewCluster binds a rescue to a cluster and to the operator's namespace; nothing is sent.
func NewCluster(config *rest.Config, namespace string) (*Cluster, error) {
	// Looking for objects of all kinds is many small requests.
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 50, 100
	c := &Cluster{host: config.Host, namespace: namespace}
	config = c.clock.Hears(config)
	var err error
	if c.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if c.metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if c.discovery, err = discovery.NewDiscoveryClientForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return c, nil
}

// Recover plans, and also removes the revisions that somebody has agreed to. The operator may write at the same time: then
// everything is looked at again, and nothing is written if something else is to be removed by then.
func (c *Cluster) Recover(ctx context.Context, agreed []Removal) (Plan, error) {
	var p Plan
	var err error
	_ = retry.RetryOnConflict(retry.DefaultBackoff, func() error { // which returns no error of a request whose time is over
		p, err = c.try(ctx, agreed)
		return err
	})
	return p, err
}

// try looks, and removes what somebody has agreed to.
func (c *Cluster) try(ctx context.Context, agreed []Removal) (p Plan, err error) {
	object, api, err := c.clusterAPI(ctx)
	if err != nil {
		return p, err
	}
	evidence, err := c.evidence(ctx, api.Status)
	if err != nil {
		return p, err
	}
	p = plan(api.Status, evidence)
	p.Paused = PausedBy(object.GetAnnotations()[acts.Annotation(acts.Pause)], time.Now().Add(c.clock.Ahead()))
	if len(agreed) == 0 {
		return p, nil
	}
	if !slices.EqualFunc(p.Remove, agreed, func(a, b Removal) bool { return a.Name == b.Name }) {
		return p, &inspect.Error{What: "what can be removed has changed since it was shown, and nothing was written", Next: "run it again"}
	}
	if err := drop(object, p.Remove); err != nil {
		return p, err
	}
	_, err = c.dynamic.Resource(clusterAPIs).UpdateStatus(ctx, object, metav1.UpdateOptions{FieldManager: fieldManager})
	p.Done = err == nil
	if apierrors.IsConflict(err) {
		return p, err
	}
	return p, inspect.Explain(err, c.host, "update", "status of ClusterAPI "+phases.Singleton)
}

// drop takes entries off the list and leaves everything else as it was read,
// fields that this release does not know included.
func drop(api *unstructured.Unstructured, remove []Removal) error {
	entries, _, err := unstructured.NestedSlice(api.Object, "status", "revisions")
	if err != nil {
		return fmt.Errorf("reading status.revisions of ClusterAPI %s: %w", phases.Singleton, err)
	}
	entries = slices.DeleteFunc(entries, func(entry any) bool {
		fields, _ := entry.(map[string]any)
		return slices.ContainsFunc(remove, func(r Removal) bool { return fields["name"] == r.Name })
	})
	return unstructured.SetNestedSlice(api.Object, entries, "status", "revisions")
}

func (c *Cluster) clusterAPI(ctx context.Context) (*unstructured.Unstructured, operatorv1alpha1.ClusterAPI, error) {
	var api operatorv1alpha1.ClusterAPI
	object, err := c.dynamic.Resource(clusterAPIs).Get(ctx, phases.Singleton, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && !inspect.NotServed(err) {
		return nil, api, &inspect.Error{What: "ClusterAPI " + phases.Singleton + " does not exist: no revision is listed", Next: "create it, as in deploy/clusterapi.yaml", Err: err}
	}
	if err != nil {
		return nil, api, inspect.Explain(err, c.host, "get", "ClusterAPI "+phases.Singleton)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &api); err != nil {
		return nil, api, fmt.Errorf("reading ClusterAPI %s: %w", phases.Singleton, err)
	}
	return object, api, nil
}

// evidence collects what the cluster knows of every listed revision.
func (c *Cluster) evidence(ctx context.Context, status operatorv1alpha1.ClusterAPIStatus) (map[int64]Evidence, error) {
	evidence, missing := map[int64]Evidence{}, false
	for _, r := range status.Revisions {
		name := phases.Inventories(c.namespace).Name(r.Revision)
		stored, err := c.dynamic.Resource(configMaps).Namespace(c.namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			missing = missing || r.Name != status.CurrentRevision && r.Name != status.DesiredRevision
		case err != nil:
			return nil, inspect.Explain(err, c.host, "get", "ConfigMap "+c.namespace+"/"+name)
		default:
			found := Evidence{}
			if listed, err := phases.Inventories(c.namespace).ReadListed(stored); err != nil {
				found.Err = err
			} else {
				found.Inventory = &listed
			}
			evidence[r.Revision] = found
		}
	}
	if !missing {
		return evidence, nil
	}
	carrying, err := c.carrying(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range status.Revisions {
		if _, found := evidence[r.Revision]; !found {
			evidence[r.Revision] = Evidence{Carrying: carrying[r.Revision]}
		}
	}
	return evidence, nil
}

// carrying finds all objects that carry a revision number, each once, of whatever
// kind that can be applied: what cannot be patched is of no revision. It must be
// complete to prove anything, so that any error ends it.
func (c *Cluster) carrying(ctx context.Context) (map[int64][]string, error) {
	kinds, err := c.discovery.ServerPreferredResources()
	if err != nil {
		return nil, inspect.Explain(err, c.host, "list", "the kinds of objects, to look for what a revision without inventory has applied")
	}
	carrying, known := map[int64][]string{}, map[types.UID]bool{}
	for _, group := range kinds {
		gv, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("reading the kinds of the cluster: %w", err)
		}
		for _, kind := range group.APIResources {
			if !slices.Contains(kind.Verbs, "list") || !slices.Contains(kind.Verbs, "patch") {
				continue
			}
			err := c.eachManaged(ctx, gv.WithResource(kind.Name), func(item *metav1.PartialObjectMetadata) {
				if item.UID != "" && known[item.UID] {
					return // it is served as another kind too
				}
				known[item.UID] = true
				if n, err := strconv.ParseInt(item.Annotations[engine.RevisionAnnotation], 10, 64); err == nil {
					key := engine.Key{Group: gv.Group, Version: gv.Version, Kind: kind.Kind, Namespace: item.Namespace, Name: item.Name}
					carrying[n] = append(carrying[n], key.String())
				}
			})
			if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
				continue
			}
			if err != nil {
				return nil, inspect.Explain(err, c.host, "list", kind.Name+" in all namespaces, to look for what a revision without inventory has applied")
			}
		}
	}
	return carrying, nil
}

// eachManaged reads the objects of a kind with our label, a page at a time.
func (c *Cluster) eachManaged(ctx context.Context, kind schema.GroupVersionResource, note func(*metav1.PartialObjectMetadata)) error {
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return c.metadata.Resource(kind).List(ctx, options)
	})
	return pages.EachListItem(ctx, metav1.ListOptions{LabelSelector: engine.ManagedByLabel}, func(obj runtime.Object) error {
		item, is := obj.(*metav1.PartialObjectMetadata)
		if !is {
			return fmt.Errorf("a list of %s has a %T", kind.Resource, obj)
		}
		note(item)
		return nil
	})
}

// PausedBy says who has paused the operator until when, by the text of the act; empty if nobody has.
func PausedBy(text string, now time.Time) string {
	act, err := acts.Read(acts.Pause, text)
	if err != nil || act.Void(now) != "" {
		return ""
	}
	return fmt.Sprintf("It is paused by %s until %s (%s), and nothing is done before that ends: capstan resume", act.By, machine.Moment(act.Until), act.Reason)
}
