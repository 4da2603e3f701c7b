package privatecapi

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/privatecapi"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
	"github.com/capstan-capi/capstan/phases/privatecapi/kube"
	"github.com/capstan-capi/capstan/phases/records"
)

// recordsName is what the names of the ConfigMaps begin with that records and journals are kept in, one for each HostedCluster.
const recordsName = "capstan-private-capi"

// Add binds the machine to the manager's cluster.
func Add(mgr ctrl.Manager, o options.Options) error {
	apart, err := apartKinds(o).Apart(context.Background(), mgr)
	if err != nil {
		return fmt.Errorf("reading HostedClusters: %w", err)
	}
	api, err := kube.New(o.REST, o.House.Now)
	if err != nil {
		return err
	}
	log := mgr.GetLogger().WithName(table.Table.Name)
	kept := records.NewConfigMaps[guards.Facts, phases.Works](records.Options{
		Live: mgr.GetAPIReader(), Writer: mgr.GetClient(), Clock: o.House.Queue, Namespace: o.OperatorNamespace, Name: recordsName, Tell: amiss(log),
	})
	seen := cached{in: apart.GetClient(), namespace: o.OperatorNamespace, blind: apart.Unfilled}
	p := &phases.Phases{
		API: api, Clusters: seen.clusters, Programme: seen.programme, Namespace: o.OperatorNamespace, Journal: kept,
		Equipment: phases.Equipment{Image: o.PrivateCAPI.Image}, Release: o.Release,
		Now: o.House.Now, Event: o.House.Events.Tell,
		Identify: func(ctx context.Context) (string, error) {
			namespace, err := api.Get(ctx, phases.Namespaces, "", o.OperatorNamespace)
			if err != nil {
				return "", fmt.Errorf("reading Namespace %s: %w", o.OperatorNamespace, err)
			}
			return string(namespace.GetUID()), nil
		},
		Needed: o.PrivateCAPI.Board.Kept,
		Ended:  ended,
	}
	o.PrivateCAPI.Board.OnOthers(seen.others)
	if err := registerMetrics(p); err != nil {
		return fmt.Errorf("registering the metrics of private Cluster API types: %w", err)
	}
	// One pass at a time: one HostedCluster is moved at a time, and whose turn it is follows from all of them.
	return house.Add(mgr, o.House, house.Machine[guards.Facts, phases.Works]{
		Table: table.Table, Observe: p.Observe, Exists: seen.exists, Words: words, Side: 1,
		UID: uid, Store: p.Telling(kept),
		Watches: []house.Watch{
			{Kind: hostedCluster(), In: apart.GetCache(), Lets: marked, Asks: func(of client.Object) []machine.Key {
				o.PrivateCAPI.Board.News()
				return seen.all(of)
			}},
			{Kind: &corev1.ConfigMap{}, In: apart.GetCache(), Lets: predicate.Funcs{}, Asks: seen.all},
		},
	})
}

// amiss logs what is wrong with a ConfigMap of records.
func amiss(log logr.Logger) func(client.ObjectKey, string) {
	return func(configMap client.ObjectKey, what string) {
		log.Info("A ConfigMap of records is amiss", "configMap", configMap.String(), "what", what)
	}
}

func uid(works phases.Works) string {
	if pass, is := works.(*phases.Pass); is && pass.Hosted != nil {
		return string(pass.Hosted.GetUID())
	}
	return ""
}

// marked lets through HostedClusters that come, go or change in more than what their status says.
var marked = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectOld.GetUID() != e.ObjectNew.GetUID() || (e.ObjectOld.GetDeletionTimestamp() == nil) != (e.ObjectNew.GetDeletionTimestamp() == nil) ||
		guards.MarksOf(e.ObjectOld.GetAnnotations()) != guards.MarksOf(e.ObjectNew.GetAnnotations())
}}

// words are what the machine says of a pass.
func words(_ machine.Key, s phases.Snapshot) house.Words {
	of := s.Facts.Cluster
	return house.Words{
		Line: phases.Line(s.Record, s.Facts.Programme.Refusal()), Subject: string(s.Facts.Marks.Companion.Stage),
		About: corev1.ObjectReference{
			APIVersion: hostedClusterKind.GroupVersion().String(), Kind: hostedClusterKind.Kind, Namespace: of.Namespace, Name: of.Name, UID: types.UID(of.UID),
		},
	}
}

// cached is what watches show.
type cached struct {
	in        client.Reader
	namespace string
	blind     func() string
}

func (c cached) clusters(ctx context.Context) ([]*unstructured.Unstructured, error) {
	if why := c.blind(); why != "" {
		return nil, fmt.Errorf("HostedClusters cannot be looked at: %s", why)
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(hostedClusterKind.GroupVersion().WithKind(hostedClusterKind.Kind + "List"))
	if err := c.in.List(ctx, list); err != nil {
		return nil, err
	}
	all := make([]*unstructured.Unstructured, 0, len(list.Items))
	for i := range list.Items {
		all = append(all, &list.Items[i])
	}
	return all, nil
}

func (c cached) programme(ctx context.Context) (*unstructured.Unstructured, error) {
	o := &corev1.ConfigMap{}
	err := c.in.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: guards.ProgrammeName}, o)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	body, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, fmt.Errorf("reading ConfigMap %s: %w", guards.ProgrammeName, err)
	}
	return &unstructured.Unstructured{Object: body}, nil
}

func (c cached) exists(ctx context.Context, key machine.Key) (bool, error) {
	all, err := c.clusters(ctx)
	for _, o := range all {
		if phases.KeyOf(o) == key {
			return true, nil
		}
	}
	return false, err
}

// all are the keys of all HostedClusters: what becomes of one may make it another one's turn. If they cannot be read, the next
// event finds them.
func (c cached) all(of client.Object) []machine.Key {
	var keys []machine.Key
	if of.GetObjectKind().GroupVersionKind() == hostedClusterKind {
		keys = house.Itself(of)
	}
	all, err := c.clusters(context.Background())
	if err != nil {
		return keys
	}
	for _, o := range all {
		if key := phases.KeyOf(o); len(keys) == 0 || key != keys[0] {
			keys = append(keys, key)
		}
	}
	return keys
}

// others are the HostedClusters that are not the new operator's alone, each with why.
func (c cached) others(ctx context.Context) ([]string, error) {
	all, err := c.clusters(ctx)
	if err != nil {
		return nil, err
	}
	programme, err := c.programme(ctx)
	if err != nil {
		return nil, err
	}
	var enabled time.Time
	if programme != nil {
		enabled = programme.GetCreationTimestamp().Time
	}
	var others []string
	for _, o := range all {
		if why := guards.NotNewAlone(guards.MarksOf(o.GetAnnotations()), o.GetCreationTimestamp().Time, enabled); why != "" {
			others = append(others, "HostedCluster "+string(phases.KeyOf(o))+" "+why)
		}
	}
	return others, nil
}
