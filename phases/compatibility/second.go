package compatibility

import (
	"context"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// secondLabel, with value true, tells pods of the second Deployment from those of the first.
const secondLabel = "capstan.openshift.io/second"

// second has the checker's second Deployment there or not: one replica more, of the pods that the first Deployment has.
// The Service and the PodDisruptionBudget take the pods of both for the checker's, by the labels that they share. It goes
// with the first Deployment, and one that somebody else has made is left alone. It says whether the replica is to be counted on.
func (p *Phases) second(ctx context.Context, first *appsv1.Deployment, wanted bool) (stands bool, err error) {
	found, want := &appsv1.Deployment{}, secondOf(first)
	key := client.ObjectKeyFromObject(want)
	err = p.Client.Get(ctx, key, found)
	ours := found.Labels[CheckerLabel] == "true"
	switch there := err == nil; {
	case client.IgnoreNotFound(err) != nil:
		return false, fmt.Errorf("reading Deployment %s: %w", key, err)
	case !there && wanted:
		err = p.Client.Create(ctx, want, client.FieldOwner(Manager))
		stands = err == nil
	// A selector cannot be changed: what selects otherwise is made anew.
	case there && ours && (!wanted || !equality.Semantic.DeepEqual(found.Spec.Selector, want.Spec.Selector)):
		err = p.Client.Delete(ctx, found, client.Preconditions{UID: &found.UID}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	case there && ours && !asSecond(found, want):
		before := found.DeepCopy()
		found.OwnerReferences, found.Spec = want.OwnerReferences, want.Spec
		err = p.Client.Patch(ctx, found, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), client.FieldOwner(Manager))
		stands = true
	default:
		return there && ours, nil
	}
	return stands, written(err, "Deployment", key)
}

// secondOf is what the second Deployment should be. All but the number of replicas is the first one's, so that it is rolled
// out with it; a label more keeps their ReplicaSets apart.
func secondOf(first *appsv1.Deployment) *appsv1.Deployment {
	second := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: first.Namespace, Name: Second, Labels: with(maps.Clone(first.Labels), CheckerLabel, "true"),
		OwnerReferences: []metav1.OwnerReference{{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment", Name: first.Name, UID: first.UID}},
	}}
	first.Spec.DeepCopyInto(&second.Spec)
	second.Spec.Replicas = ptr.To[int32](1)
	second.Spec.Selector.MatchLabels = with(second.Spec.Selector.MatchLabels, secondLabel, "true")
	second.Spec.Template.Labels = with(second.Spec.Template.Labels, secondLabel, "true")
	return second
}

// asSecond says that the second Deployment is as it should be.
func asSecond(found, want *appsv1.Deployment) bool {
	return equality.Semantic.DeepEqual(found.Spec, want.Spec) && equality.Semantic.DeepEqual(found.OwnerReferences, want.OwnerReferences)
}
