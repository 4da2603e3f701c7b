// Package clusterapi watches what the machine clusterapi looks at and fires
// it. It decides nothing: there is no question about the state here.
package clusterapi

import (
	"context"
	"slices"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/capstan-capi/capstan/controllers/options"
	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// Reconciler fires the machine.
type Reconciler struct {
	machine  *machine.Machine[guards.Facts, *phases.Pass]
	remember func(machine.Outcome, error)
	// logged is the last error that was logged, with its state: the same one is not logged again.
	logged string
}

// Reconcile makes one pass of the machine.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	outcome, err := r.machine.Step(ctx, machine.Key(req.Name))
	r.show(ctx, outcome, err)
	r.remember(outcome, err)
	return ctrl.Result{RequeueAfter: outcome.LookAgain}, nil
}

// Add binds the machine to the manager's cluster.
func Add(mgr ctrl.Manager, o options.Options) error {
	again := &trigger{}
	p, err := phases.New(phases.Options{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), REST: mgr.GetConfig(), HTTP: mgr.GetHTTPClient(),
		Release: o.Release, OperatorNamespace: o.OperatorNamespace, CAPINamespace: o.CAPINamespace,
		CacheDir: o.CacheDir, InsecureRegistries: o.InsecureRegistries, ProviderImageDir: o.ProviderImageDir,
		ExtraCAFile: o.ExtraCAFile, PullSecrets: o.PullSecrets,
		Concurrency: o.Concurrency, Again: func() { again.after(0) }, Acted: acted, Clock: o.Clock, Log: mgr.GetLogger().WithName(table.Table.Name),
	})
	if err != nil {
		return err
	}
	if err := registerMetrics(); err != nil {
		return err
	}
	for _, run := range p.Ahead() {
		o.Ahead(run)
	}
	for _, run := range p.Background() {
		if err := mgr.Add(manager.RunnableFunc(run)); err != nil {
			return err
		}
	}
	r := &Reconciler{remember: p.Remember, machine: &machine.Machine[guards.Facts, *phases.Pass]{
		Table:   table.Table,
		Observe: observe(p),
		Store:   &phases.Store{Phases: p, Describe: table.Conditions, Line: table.Line, Rests: table.Table.Rests, Alarms: table.Table.Alarms},
		Now:     p.Now,
	}}
	controlled := ctrl.NewControllerManagedBy(mgr).Named(table.Table.Name)
	for _, w := range []watch{
		{kind: &operatorv1alpha1.ClusterAPI{}, lets: named(phases.Singleton)},
		{kind: &configv1.Infrastructure{}, lets: platformAppears},
		{kind: &configv1.APIServer{}, lets: named(phases.Singleton)},
		{kind: &configv1.ClusterOperator{}, lets: named(phases.ClusterOperatorName)},
		{kind: &corev1.ConfigMap{}, lets: named(phases.ImagesConfigMap, phases.UserCABundle)},
		{kind: &corev1.Secret{}, lets: oneOf(o.PullSecrets)},
		{kind: &configv1.ImageDigestMirrorSet{}, lets: predicate.Funcs{}},
	} {
		w.in = mgr.GetCache()
		controlled = controlled.WatchesRawSource(w)
	}
	return controlled.
		WatchesRawSource(again).
		WithOptions(controller.Options{NewQueue: queueBy(o.Queue)}).
		Complete(r)
}

// queueBy makes queues whose delays go by a clock.
func queueBy(c clock.WithTicker) func(string, workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{Name: name, Clock: c})
	}
}

func named(names ...string) predicate.Predicate {
	return predicate.NewPredicateFuncs(func(o client.Object) bool { return slices.Contains(names, o.GetName()) })
}

func oneOf(keys []client.ObjectKey) predicate.Predicate {
	return predicate.NewPredicateFuncs(func(o client.Object) bool { return slices.Contains(keys, client.ObjectKeyFromObject(o)) })
}

// platformAppears lets through only the moment at which the platform becomes
// known; a platform never changes after that.
var platformAppears = predicate.Funcs{
	CreateFunc: func(e event.CreateEvent) bool { return platformOf(e.Object) },
	UpdateFunc: func(e event.UpdateEvent) bool { return !platformOf(e.ObjectOld) && platformOf(e.ObjectNew) },
	DeleteFunc: func(event.DeleteEvent) bool { return false },
}

func platformOf(o client.Object) bool {
	infra, ok := o.(*configv1.Infrastructure)
	return ok && infra.Name == phases.Singleton && infra.Status.PlatformStatus != nil
}
