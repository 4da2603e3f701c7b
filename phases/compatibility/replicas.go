package compatibility

import (
	"context"
	"errors"
	"fmt"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cluster is the name of the Infrastructure.
const cluster = "cluster"

// Scale has as many replicas of the checker as the cluster's topology is for, and a PodDisruptionBudget where there are
// several. Without a Deployment or a topology nothing is written. One that a release brought keeps the replicas that it
// has, none of them included: the cluster-version operator puts its own number back, which is 1 where its manifest has none.
// What a single replica lacks there is made up for by a second Deployment.
func (p *Phases) Scale(ctx context.Context) error {
	infrastructure, deployment := &configv1.Infrastructure{}, &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: p.Namespace, Name: Service}
	for _, err := range []error{p.Client.Get(ctx, client.ObjectKey{Name: cluster}, infrastructure), p.Client.Get(ctx, key, deployment)} {
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading what replicas the checker should have: %w", err)
		}
	}
	wanted, has, second := int32(2), ptr.Deref(deployment.Spec.Replicas, 1), false
	switch infrastructure.Status.ControlPlaneTopology {
	case "":
		return nil
	case configv1.SingleReplicaTopologyMode:
		wanted = 1
	}
	switch {
	case ofRelease(deployment):
		second = has == 1 && wanted > 1 && deployment.DeletionTimestamp == nil // which would take along what is made now
	case has != wanted:
		before := deployment.DeepCopy()
		deployment.Spec.Replicas, has = &wanted, wanted
		if err := p.Client.Patch(ctx, deployment, client.MergeFrom(before), client.FieldOwner(Manager)); err != nil {
			return fmt.Errorf("scaling Deployment %s: %w", key, err)
		}
	}
	stands, err := p.second(ctx, deployment, second)
	// A budget for a single replica would keep its node from ever being drained.
	return errors.Join(err, p.budget(ctx, key, deployment.Spec.Selector, wanted > 1 && (stands || has > 1)))
}

// ofRelease says that an object came with a release, as its annotations for profiles of clusters tell.
func ofRelease(object client.Object) bool {
	for name := range object.GetAnnotations() {
		if strings.HasPrefix(name, "include.release.openshift.io/") {
			return true
		}
	}
	return false
}

// budget has a PodDisruptionBudget there or not.
func (p *Phases) budget(ctx context.Context, key client.ObjectKey, selects *metav1.LabelSelector, wanted bool) error {
	budget := &policyv1.PodDisruptionBudget{}
	err := p.Client.Get(ctx, key, budget)
	one := intstr.FromInt32(1)
	ours := budget.Labels[CheckerLabel] == "true" // whoever brings the operator may have brought it, too
	switch there := err == nil; {
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("reading PodDisruptionBudget %s: %w", key, err)
	case !there && wanted:
		budget.Namespace, budget.Name = key.Namespace, key.Name
		budget.Labels = map[string]string{CheckerLabel: "true"}
		budget.Spec = policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: selects}
		err = p.Client.Create(ctx, budget, client.FieldOwner(Manager))
	case there && !wanted && ours:
		err = p.Client.Delete(ctx, budget, client.Preconditions{UID: &budget.UID})
	case there && wanted && ours && (!equality.Semantic.DeepEqual(budget.Spec.MinAvailable, &one) || budget.Spec.MaxUnavailable != nil || !equality.Semantic.DeepEqual(budget.Spec.Selector, selects)):
		before := budget.DeepCopy()
		budget.Spec.MinAvailable, budget.Spec.MaxUnavailable, budget.Spec.Selector = &one, nil, selects
		err = p.Client.Patch(ctx, budget, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), client.FieldOwner(Manager))
	default:
		return nil
	}
	return written(err, "PodDisruptionBudget", key)
}

// written is the error of a write. Where somebody else was quicker there is none: what he has done is seen soon.
func written(err error, kind string, key client.ObjectKey) error {
	if err == nil || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return fmt.Errorf("writing %s %s: %w", kind, key, err)
}
