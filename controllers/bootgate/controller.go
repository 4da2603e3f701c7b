package bootgate

import (
	"cmp"
	"context"
	"fmt"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned/typed/config/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	guards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/bootgate"
	phases "github.com/capstan-capi/capstan/phases/bootgate"
	"github.com/capstan-capi/capstan/phases/golden"
)

// key is the only instance: the machine is one for the whole cluster.
const key = machine.Key(phases.Configuration)

// gather is how long standings of targets, and clones that come or go, are gathered for one pass: a wave has as many of them as there
// are targets.
const gather = 200 * time.Millisecond

// Add binds the machine to the manager's cluster.
func Add(mgr ctrl.Manager, o options.Options) error {
	bound, err := bind(o)
	if err != nil {
		return err
	}
	others, err := apart(o).Apart(context.Background(), mgr)
	if err != nil {
		return err
	}
	list, err := known(o).Apart(context.Background(), mgr)
	if err != nil {
		return err
	}
	operators, err := configclient.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("making the client of ClusterOperators: %w", err)
	}
	if err := registerMetrics(); err != nil {
		return err
	}
	bound.Client, bound.Apart, bound.Known, bound.Live = mgr.GetClient(), others.GetClient(), list.GetClient(), mgr.GetAPIReader()
	bound.Untyped, bound.Deletes = others.GetAPIReader(), others.GetClient()
	bound.Blind = func() string { return cmp.Or(others.Unfilled(), list.Unfilled()) }
	bound.Event, bound.Now, bound.Steady = o.House.Events.Tell, o.House.Now, o.House.Queue.Now
	p := phases.New(bound)
	again := &house.Trigger{First: []machine.Key{key}}
	soon := func() { again.After(key, gather) }
	o.BootImages.Board.OnStanding(soon)
	return house.Add(mgr, o.House, house.Machine[guards.Facts, *phases.Pass]{
		Table: table.Table, Observe: observe(p), Words: words, Trigger: again, Watches: watches(others.GetCache(), list.GetCache(), soon),
		Store: p.Store(table.Table, phases.Words{Line: table.Line, Conditions: table.Conditions, ConfigConditions: table.ConfigConditions},
			operators.ClusterOperators(), mgr.GetLogger().WithName(table.Table.Name)),
	})
}

// bind takes from options what is asked for.
func bind(o options.Options) (phases.Options, error) {
	b := o.BootImages
	limits, err := phases.ParseLimits(b.Limits)
	if err != nil {
		return phases.Options{}, err
	}
	before, err := phases.ParseRelease(b.RollsOutBefore)
	if err != nil {
		return phases.Options{}, err
	}
	settings := phases.Settings{GCPProject: b.GCPProject, Stream: b.Stream, Limits: b.Limits, RollsOutBefore: b.RollsOutBefore}
	if b.MachineAPI {
		settings.APIs = append(settings.APIs, phases.MachineAPI)
	}
	if b.ClusterAPI {
		settings.APIs = append(settings.APIs, phases.ClusterAPI)
	}
	return phases.Options{
		Board: b.Board, OperatorNamespace: o.OperatorNamespace, CAPINamespace: o.CAPINamespace,
		MachineAPI: b.MachineAPI, ClusterAPI: b.ClusterAPI, GCPProject: b.GCPProject, Settings: settings, Limits: limits, RollsOutBefore: before,
	}, nil
}

// words are what the machine says of a pass.
func words(_ machine.Key, shot phases.Snapshot) house.Words {
	return house.Words{Line: table.Line(shot), About: phases.About(shot.Seen)}
}

// watches are what the gate looks again for, at once, or soon where many come together and none is urgent.
func watches(others, known cache.Cache, soon func()) []house.Watch {
	all := []house.Watch{
		{Kind: &operatorv1.MachineConfiguration{}, Lets: house.Named(phases.Configuration)},
		{Kind: &configv1.ClusterVersion{}, Lets: otherwise(release)},
		{Kind: &configv1.Infrastructure{}, Lets: predicate.Funcs{}},
		{Kind: &configv1.ClusterOperator{}, Lets: house.Named(phases.ClusterOperator)},
		{Kind: &corev1.Node{}, Lets: otherwise(architecture)},
		{Kind: &corev1.ConfigMap{}, In: others, Lets: predicate.Funcs{}},
		{Kind: &corev1.ConfigMap{}, In: known, Lets: predicate.Funcs{}},
	}
	for i := range all {
		all[i].Asks = house.Always(key)
	}
	gathered := func(client.Object) []machine.Key {
		soon()
		return nil
	}
	for _, provider := range phases.Providers {
		all = append(all,
			house.Watch{Kind: phases.Metadata(provider.Template), In: others, Lets: clones, Asks: gathered},
			house.Watch{Kind: phases.Metadata(provider.Machine), In: others, Lets: gone, Asks: gathered})
	}
	return all
}

// otherwise lets through objects that come, go, or differ in one thing.
func otherwise(in func(client.Object) any) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return !equality.Semantic.DeepEqual(in(e.ObjectOld), in(e.ObjectNew)) }}
}

func release(o client.Object) any {
	v, is := o.(*configv1.ClusterVersion)
	if !is {
		return nil
	}
	return v.Status
}

func architecture(o client.Object) any {
	n, is := o.(*corev1.Node)
	if !is {
		return nil
	}
	return phases.ControlPlaneArchitecture(n)
}

// clones lets through templates that are labelled as clones.
var clones = predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetLabels()[golden.CloneOfLabel] != "" })

// gone lets through machines that go: the last one of a template lets a clone go.
var gone = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false },
	UpdateFunc: func(event.UpdateEvent) bool { return false },
}
