// Package clusterapi watches what the machine clusterapi looks at and fires
// it. It decides nothing: there is no question about the state here.
package clusterapi

import (
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	configclient "github.com/openshift/client-go/config/clientset/versioned/typed/config/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// key is the only instance: the machine is one for the whole cluster.
const key = machine.Key(phases.Singleton)

// Add binds the machine to the manager's cluster.
func Add(mgr ctrl.Manager, o options.Options) error {
	name, log := table.Table.Name, mgr.GetLogger().WithName(table.Table.Name)
	again := &house.Trigger{First: []machine.Key{key}}
	p, err := phases.New(phases.Options{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Filled: house.Filled(mgr.GetCache()), REST: o.REST, HTTP: mgr.GetHTTPClient(),
		Release: o.Release, OperatorNamespace: o.OperatorNamespace, CAPINamespace: o.CAPINamespace,
		CacheDir: o.CacheDir, InsecureRegistries: o.InsecureRegistries, InsecureCredentials: o.InsecureCredentials, ProviderImageDir: o.ProviderImageDir, PodName: o.PodName,
		ExtraCAFile: o.ExtraCAFile, PullSecrets: o.PullSecrets,
		Concurrency: o.Concurrency, Again: func() { again.After(key, 0) },
		Acted: acted, Recorder: o.House.Recorder.Of(name, key), Clock: o.House.Clock, Log: log,
	})
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
	for _, run := range p.WarmUp() {
		o.WarmUp(run)
	}
	for _, run := range p.Background() {
		if err := mgr.Add(manager.RunnableFunc(run)); err != nil {
			return err
		}
	}
	return house.Add(mgr, o.House, house.Machine[guards.Facts, *phases.Pass]{
		Table: table.Table, Observe: observe(p), Words: words(p), Trigger: again, Watches: watches(o.OperatorNamespace, o.PullSecrets),
		Store: p.Store(table.Table, phases.Words{Conditions: table.Conditions, Line: table.Line}, operators.ClusterOperators(), o.House.Events.Tell),
	})
}

// words are what the machine says of a pass.
func words(p *phases.Phases) func(machine.Key, phases.Snapshot) house.Words {
	return func(_ machine.Key, shot phases.Snapshot) house.Words {
		return house.Words{Line: table.Line(shot), Subject: p.WorkedOn(), About: p.About()}
	}
}

func watches(operatorNamespace string, pullSecrets []client.ObjectKey) []house.Watch {
	all := []house.Watch{
		{Kind: &operatorv1alpha1.ClusterAPI{}, Lets: house.Named(phases.Singleton)},
		{Kind: &configv1.Infrastructure{}, Lets: platformAppears},
		{Kind: &configv1.APIServer{}, Lets: house.Named(phases.Singleton)},
		{Kind: &configv1.ClusterOperator{}, Lets: house.Named(phases.ClusterOperatorName)},
		{Kind: &corev1.ConfigMap{}, Lets: predicate.Funcs{}},
		{Kind: &appsv1.Deployment{}, Lets: house.OneOf(formerDeployments(operatorNamespace))},
		{Kind: &corev1.Secret{}, Lets: house.OneOf(pullSecrets)},
		{Kind: &configv1.Image{}, Lets: house.Named(phases.Singleton)},
		{Kind: &configv1.ClusterImagePolicy{}, Lets: predicate.Funcs{}},
		{Kind: &configv1.ImagePolicy{}, Lets: predicate.Funcs{}},
		{Kind: &configv1.ImageDigestMirrorSet{}, Lets: predicate.Funcs{}},
		{Kind: &operatorv1alpha1.ImageContentSourcePolicy{}, Lets: predicate.Funcs{}},
	}
	for i := range all {
		all[i].Asks = house.Always(key)
	}
	return all
}

// platformAppears lets through only the moments at which platform or name of the
// cluster is another one, which is when they become known.
var platformAppears = predicate.Funcs{
	CreateFunc: func(e event.CreateEvent) bool { return inputsOf(e.Object) != phases.Infrastructure{} },
	UpdateFunc: func(e event.UpdateEvent) bool { return inputsOf(e.ObjectOld) != inputsOf(e.ObjectNew) },
	DeleteFunc: func(event.DeleteEvent) bool { return false },
}

func inputsOf(o client.Object) phases.Infrastructure {
	infra, ok := o.(*configv1.Infrastructure)
	if !ok || infra.Name != phases.Singleton {
		return phases.Infrastructure{}
	}
	return phases.InfrastructureOf(infra)
}
