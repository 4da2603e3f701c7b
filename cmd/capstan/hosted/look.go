package hosted

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/controllers/legacyoperator"
	"github.com/capstan-capi/capstan/controllers/privatecapi"
	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

var (
	hostedClusters = schema.GroupVersionResource{Group: "hypershift.openshift.io", Version: "v1beta1", Resource: "hostedclusters"}
	configMaps     = corev1.SchemeGroupVersion.WithResource("configmaps")
	leases         = coordinationv1.SchemeGroupVersion.WithResource("leases")
)

// pageSize is how many HostedClusters one request lists.
const pageSize = 500

// Cluster is the management cluster that is read and written.
type Cluster struct {
	host, namespace, lease string
	dynamic                dynamic.Interface
	leases                 coordinationclient.LeasesGetter
	clock                  *inspect.ServerClock
}

// NewCluster binds to a cluster, to the operator's namespace and to the Lease that the operator holds there while it works; nothing
// is sent.
func NewCluster(config *rest.Config, namespace, lease string) (*Cluster, error) {
	c := &Cluster{host: config.Host, namespace: namespace, lease: lease, clock: &inspect.ServerClock{}}
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 50, 100 // a request for each HostedCluster is no reason to wait longer
	config = c.clock.Hears(config)
	var err error
	if c.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if c.leases, err = coordinationclient.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return c, nil
}

// Seen is what one look has shown.
type Seen struct {
	// Clusters are all HostedClusters, by namespace and name.
	Clusters  []Hosted
	Programme Programme
	// version is that of the programme's ConfigMap.
	version string
}

// Hosted is one HostedCluster.
type Hosted struct {
	Facts guards.Facts
	// Said is what the operator tells in the condition of the HostedCluster; Told is false where it tells nothing.
	Said machine.Record
	Told bool
	// Stored is the record, which tells more; nil where there is none, or nobody may read it.
	Stored  *machine.Record
	version string
}

// Key is namespace and name.
func (h Hosted) Key() machine.Key {
	return machine.Key(h.Facts.Cluster.Namespace + "/" + h.Facts.Cluster.Name)
}

// find is a HostedCluster by its key.
func (s Seen) find(key machine.Key) (Hosted, error) {
	i := slices.IndexFunc(s.Clusters, func(h Hosted) bool { return h.Key() == key })
	if i < 0 {
		return Hosted{}, &inspect.Error{What: "there is no HostedCluster " + string(key), Next: "capstan private-capi status names those there are"}
	}
	return s.Clusters[i], nil
}

// Look reads all HostedClusters and the programme.
func (c *Cluster) Look(ctx context.Context) (Seen, error) {
	seen, err := c.list(ctx)
	if err != nil {
		return Seen{}, err
	}
	if err := c.programme(ctx, &seen); err != nil {
		return Seen{}, err
	}
	for i := range seen.Clusters {
		seen.Clusters[i].Facts.Programme = seen.Programme.facts(seen.Clusters, seen.Clusters[i].Key())
	}
	return seen, nil
}

// Closer looks at all HostedClusters, or at one, with what is stored of each, which takes a request for each.
func (c *Cluster) Closer(ctx context.Context, of machine.Key) (Seen, error) {
	seen, err := c.Look(ctx)
	if err != nil {
		return Seen{}, err
	}
	seen.Programme.RecordsUntold, err = c.records(ctx, seen.Clusters, of)
	return seen, err
}

// Now is what time it is at the API server.
func (c *Cluster) Now() (time.Time, error) { return c.clock.Now() }

// Names are those of all HostedClusters.
func (c *Cluster) Names(ctx context.Context) ([]string, error) {
	seen, err := c.list(ctx)
	var names []string
	for _, h := range seen.Clusters {
		names = append(names, string(h.Key()))
	}
	return names, err
}

// list reads all HostedClusters.
func (c *Cluster) list(ctx context.Context) (seen Seen, err error) {
	for page := ""; ; {
		list, err := c.dynamic.Resource(hostedClusters).List(ctx, metav1.ListOptions{Limit: pageSize, Continue: page})
		if err != nil {
			return Seen{}, inspect.Explain(err, c.host, "list", "HostedClusters")
		}
		for i := range list.Items {
			seen.Clusters = append(seen.Clusters, hostedOf(&list.Items[i]))
		}
		if page = list.GetContinue(); page == "" {
			slices.SortFunc(seen.Clusters, func(a, b Hosted) int { return cmp.Compare(a.Key(), b.Key()) })
			return seen, nil
		}
	}
}

// hostedOf reads a HostedCluster.
func hostedOf(o *unstructured.Unstructured) Hosted {
	h := Hosted{version: o.GetResourceVersion(), Facts: guards.Facts{
		Seen: true, Marks: guards.MarksOf(o.GetAnnotations()),
		Cluster: guards.Cluster{
			Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID()), Created: o.GetCreationTimestamp().UTC(),
			Deleting: o.GetDeletionTimestamp() != nil, ControlPlane: phases.ControlPlaneNamespace(o.GetNamespace(), o.GetName()),
		},
	}}
	h.Said, h.Told = phases.RecordOf(o)
	return h
}

// records reads the records of HostedClusters. Where nobody may read them it says so, which is no error.
func (c *Cluster) records(ctx context.Context, all []Hosted, of machine.Key) (untold string, err error) {
	for i := range all {
		if of != "" && all[i].Key() != of || !all[i].Told {
			continue
		}
		record, found, err := privatecapi.Record(ctx, c.get, c.namespace, all[i].Key())
		switch {
		case apierrors.IsForbidden(err):
			return "records were not read, which takes the right to get ConfigMaps in namespace " + c.namespace + ": since when, deadlines and past moves may be missing", nil
		case err != nil:
			return "", err
		case found && record.UID == all[i].Facts.Cluster.UID:
			all[i].Stored = &record
		}
	}
	return "", nil
}

// programme reads what holds for all HostedClusters. What tells more than the ConfigMap, others may not be allowed to read.
func (c *Cluster) programme(ctx context.Context, seen *Seen) error {
	p := &seen.Programme
	p.ConfigMap = c.namespace + "/" + guards.ProgrammeName
	configMap := &corev1.ConfigMap{}
	found, err := c.get(ctx, configMaps, "ConfigMap", c.namespace, guards.ProgrammeName, configMap)
	if err != nil {
		return err
	}
	if found {
		p.Enabled, seen.version = configMap.CreationTimestamp.UTC(), configMap.ResourceVersion
		p.Paused = configMap.Data[pausedKey] == guards.MarkTrue
		p.Retention = configMap.Data[retentionKey]
	}
	lease := &coordinationv1.Lease{}
	switch found, err = c.get(ctx, leases, "Lease", c.namespace, guards.ProgrammeName, lease); {
	case apierrors.IsForbidden(err):
		p.LockUntold = "who holds it was not read, which takes the right to get Lease " + c.namespace + "/" + guards.ProgrammeName
	case err != nil:
		return err
	case found && lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "":
		p.LockedFor = *lease.Spec.HolderIdentity
		if lease.Spec.RenewTime != nil {
			p.LockedSince = lease.Spec.RenewTime.UTC()
		}
	}
	legacy, err := legacyoperator.Part.View.Look(ctx, c.get, "")
	if err == nil {
		p.OldOperator = legacy.Record.State
	} else if !apierrors.IsForbidden(err) && !isNoKind(err) {
		return err
	}
	return nil
}

// isNoKind says that a kind is not served.
func isNoKind(err error) bool { return apierrors.IsNotFound(err) && inspect.NotServed(err) }

// get reads an object. That it does not exist is no error.
func (c *Cluster) get(ctx context.Context, kind schema.GroupVersionResource, word, namespace, name string, into any) (bool, error) {
	object, err := c.dynamic.Resource(kind).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && !inspect.NotServed(err):
		return false, nil
	case err != nil:
		return false, inspect.Explain(err, c.host, "get", word+" "+name)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		return false, fmt.Errorf("reading %s %s: %w", word, name, err)
	}
	return true, nil
}
