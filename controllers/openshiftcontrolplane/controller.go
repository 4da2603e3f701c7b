package openshiftcontrolplane

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/provider/options"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/openshiftcontrolplane"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/openshiftcontrolplane/joint"
)

// Add binds the machine to the management plane.
func Add(mgr ctrl.Manager, o options.Options) error {
	store := phases.NewStore(o.Client, table.Conditions, o.House.Now)
	o.Took(func(object client.Object, before string) {
		if plane, is := object.(*v1alpha1.OpenShiftControlPlane); is {
			store.Took(house.KeyOf(client.ObjectKeyFromObject(plane)), before, plane)
		}
	})
	kept, err := metered(store, mgr.GetClient(), o.House.Now)
	if err != nil {
		return fmt.Errorf("registering the metrics of installations: %w", err)
	}
	trigger := &house.Trigger{}
	p := joint.New(joint.Options{
		Client: o.Client, Live: o.Live, Image: o.Image, KeysAhead: o.KeysAhead, InsecureRegistries: o.InsecureRegistries, ExtraCAFile: o.ExtraCAFile,
		Log: mgr.GetLogger().WithName(table.Table.Name), Now: o.House.Now, Clock: o.House.Queue,
		Changed: func(key client.ObjectKey) { trigger.After(house.KeyOf(key), 0) }, Probed: probed,
	})
	if err := mgr.Add(p.Guests); err != nil {
		return fmt.Errorf("adding the questions to guests: %w", err)
	}
	if err := metrics.Registry.Register(aheadMetric(p.Keys.Ahead)); err != nil {
		return fmt.Errorf("registering the metric of keys: %w", err)
	}
	if err := mgr.Add(p.Keys); err != nil {
		return fmt.Errorf("adding the stock of keys: %w", err)
	}
	to := owners{in: mgr.GetClient()}
	machines := &infrastructure{
		in: mgr.GetCache(), mapper: mgr.GetRESTMapper(), watched: map[schema.GroupKind]bool{}, log: mgr.GetLogger().WithName(table.Table.Name),
		asks: func(object client.Object) {
			for _, key := range to.named(object) {
				trigger.After(key, 0)
			}
		},
	}
	return house.Add(mgr, o.House, house.Machine[guards.Facts, phases.Works]{
		Table: table.Table, Observe: machines.before(p.Observe), Store: kept, Words: words, UID: uid, Side: o.Side, Trigger: trigger,
		Exists: exists(o.Client, p.Forget),
		Watches: []house.Watch{
			{Kind: &v1alpha1.OpenShiftControlPlane{}, Lets: house.Others(store.Wrote), Asks: house.Itself},
			{Kind: &clusterv1.Cluster{}, Lets: clusterMatters, Asks: to.ofCluster},
			{Kind: &clusterv1.Machine{}, Lets: machineMatters, Asks: to.ofMachine},
			{Kind: &v1alpha1.OpenShiftConfig{}, Lets: configMatters, Asks: to.ofConfig},
			{Kind: options.Secret(), Lets: predicate.Funcs{}, Asks: to.ofSecret},
		},
	})
}

func uid(works phases.Works) string {
	if pass, is := works.(*joint.Pass); is {
		return pass.UID()
	}
	return ""
}

// exists says whether there is an object of a key, and has what is remembered of one go that there is not.
func exists(c client.Reader, forget func(machine.Key)) func(context.Context, machine.Key) (bool, error) {
	return func(ctx context.Context, key machine.Key) (bool, error) {
		look := &v1alpha1.OpenShiftControlPlane{}
		err := c.Get(ctx, house.ObjectOf(key), look, client.UnsafeDisableDeepCopy)
		if client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("looking for OpenShiftControlPlane %s: %w", key, err)
		}
		if err != nil {
			forget(key)
		}
		return err == nil, nil
	}
}

// quiet are the states of which no Event tells: whoever pauses an object wants nothing written but that, and the others are left at once.
var quiet = []machine.State{guards.Pending, guards.Locating, guards.Paused}

// words are what the machine says of a pass.
func words(_ machine.Key, s phases.Snapshot) house.Words {
	of := s.Facts.Object
	return house.Words{
		Line: line(s.Record), Subject: s.Facts.Cluster.Name, Quiet: slices.Contains(quiet, s.Record.State),
		About: corev1.ObjectReference{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: "OpenShiftControlPlane", Namespace: of.Namespace, Name: of.Name, UID: types.UID(of.UID),
		},
	}
}

// line says in one line what is waited for, or what the work has met.
func line(r machine.Record) string {
	if r.Failure != nil {
		return r.Failure.Message
	}
	return r.Reason
}

// probed notes how long a guest's API took to answer.
func probed(_ client.ObjectKey, took time.Duration, answered bool) {
	if answered {
		probeMetric.Observe(took.Seconds())
	}
}
