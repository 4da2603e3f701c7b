// Package clusteroperator watches the ClusterOperator and keeps its aggregated
// conditions fresh.
package clusteroperator

import (
	"context"
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned/typed/config/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	phases "github.com/capstan-capi/capstan/phases/clusteroperator"
)

// Reconciler writes the aggregated conditions.
type Reconciler struct {
	client    client.Client
	operators configclient.ClusterOperatorInterface
	parts     []string
	clock     clock.PassiveClock
}

// Reconcile sums up what the other controllers have written.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	operator := &configv1.ClusterOperator{}
	if err := r.client.Get(ctx, req.NamespacedName, operator); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, phases.Write(ctx, r.operators, operator, r.parts, r.clock.Now())
}

// Part is what the controller brings to the house.
var Part = options.Part{Name: name, Add: Add, Kinds: kinds}

const name = "clusteroperator"

func kinds(o options.Options) []house.Kind {
	kind := house.Kind{Version: configv1.GroupVersion, Object: &configv1.ClusterOperator{}, List: &configv1.ClusterOperatorList{}}
	for _, name := range o.ClusterOperators {
		kind.Only = append(kind.Only, client.ObjectKey{Name: name})
	}
	return []house.Kind{kind}
}

// Add starts the controller with the manager. The ClusterOperators of others are none of its business, even if the
// manager's cache shows them.
func Add(mgr ctrl.Manager, o options.Options) error {
	operators, err := configclient.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("making the client of ClusterOperators: %w", err)
	}
	r := &Reconciler{client: mgr.GetClient(), operators: operators.ClusterOperators(), parts: o.ConditionParts, clock: o.House.Clock}
	return ctrl.NewControllerManagedBy(mgr).Named(name).
		For(&configv1.ClusterOperator{}, builder.WithPredicates(house.Named(o.ClusterOperators...))).Complete(r)
}
