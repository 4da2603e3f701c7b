package compatibility

import (
	"context"
	"errors"
	"fmt"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	configv1 "github.com/openshift/api/config/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned/typed/config/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	guards "github.com/capstan-capi/capstan/guards/compatibility"
	table "github.com/capstan-capi/capstan/machine/compatibility"
	phases "github.com/capstan-capi/capstan/phases/compatibility"
	"github.com/capstan-capi/capstan/phases/crdschema/live"
)

// What could not be written is tried again after firstRetry at first, and lastRetry at most.
const (
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// shared keeps what all requirements share: replicas of the checker, common configurations, and a condition.
type shared struct {
	*phases.Phases
	operators configclient.ClusterOperatorInterface
	clock     clock.PassiveClock
}

// Reconcile writes all of it that is not as it should be.
func (s *shared) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	again, err := s.Share(ctx)
	err = errors.Join(err, s.Scale(ctx), s.Report(ctx, s.operators, inTrouble, s.clock.Now()))
	return ctrl.Result{RequeueAfter: again}, err
}

// inTrouble says that a requirement's state or a lasting error reads as Degraded.
func inTrouble(r *requirementsv1alpha1.CompatibilityRequirement) bool {
	record, found := phases.RecordOf(r)
	return found && table.Table.Readings(record, guards.Facts{})[table.Controller].Degraded
}

// one is the only request: all is looked at together.
var one = reconcile.Request{NamespacedName: types.NamespacedName{Name: "all"}}

func addShared(mgr ctrl.Manager, o options.Options, p *phases.Phases) error {
	operators, err := configclient.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("making the client of ClusterOperators: %w", err)
	}
	served.Confirm(func(ctx context.Context) error { return live.CheckUnserved(ctx, p.Live) })
	s := &shared{Phases: p, operators: operators.ClusterOperators(), clock: o.House.Clock}
	looks := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request { return []reconcile.Request{one} })
	// Whoever waits for the Lease sees the API come, too.
	arrives := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		served.Expect()
		return nil
	})
	ours := predicate.NewPredicateFuncs(func(c client.Object) bool {
		return phases.Ours(c) || c.GetName() == phases.CRDsConfiguration || c.GetName() == phases.RequirementsConfiguration
	})
	return ctrl.NewControllerManagedBy(mgr).Named(table.Table.Name+"-shared").
		Watches(&requirementsv1alpha1.CompatibilityRequirement{}, looks).
		Watches(&admissionregistrationv1.ValidatingWebhookConfiguration{}, looks, builder.WithPredicates(ours)).
		Watches(&admissionregistrationv1.MutatingWebhookConfiguration{}, looks, builder.WithPredicates(ours)).
		Watches(&discoveryv1.EndpointSlice{}, looks, builder.WithPredicates(inNamespace(o.OperatorNamespace))).
		Watches(&appsv1.Deployment{}, looks, builder.WithPredicates(house.Named(phases.Service, phases.Second))).
		Watches(&policyv1.PodDisruptionBudget{}, looks, builder.WithPredicates(house.Named(phases.Service))).
		Watches(&configv1.Infrastructure{}, looks).
		Watches(&configv1.ClusterOperator{}, looks, builder.WithPredicates(house.Named(phases.ClusterOperator))).
		WatchesMetadata(phases.CRDMetadata(), arrives, builder.WithPredicates(house.Named(live.RequirementsCRD))).
		WithOptions(controller.Options{RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry)}).
		Complete(s)
}
