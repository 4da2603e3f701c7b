package compatibility

import (
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestScale_follows_the_topology_and_leaves_a_release_its_number(t *testing.T) {
	const several, single = configv1.HighlyAvailableTopologyMode, configv1.SingleReplicaTopologyMode
	release := map[string]string{"include.release.openshift.io/self-managed-high-availability": "true"}
	for name, row := range map[string]struct {
		topology    configv1.TopologyMode
		annotations map[string]string
		has         int32
		// budget is whether there is a PodDisruptionBudget before; then and budgetThen are how it is after.
		budget     bool
		then       int32
		budgetThen bool
	}{
		"several nodes":                  {several, nil, 1, false, 2, true},
		"several nodes, nothing to do":   {several, nil, 2, true, 2, true},
		"one node":                       {single, nil, 2, true, 1, false},
		"a topology that is not known":   {"", nil, 2, false, 2, false},
		"a release with one replica":     {several, release, 1, false, 1, true},
		"a budget from before a release": {several, release, 1, true, 1, true},
		"a release on one node":          {single, release, 1, true, 1, false},
		"a release with two replicas":    {several, release, 2, false, 2, true},
		"a release with two on one node": {single, release, 2, true, 2, false},
		"a release scaled to none":       {several, release, 0, true, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			for _, add := range []func(*runtime.Scheme) error{configv1.AddToScheme, appsv1.AddToScheme, policyv1.AddToScheme} {
				if err := add(scheme); err != nil {
					t.Fatal(err)
				}
			}
			at := metav1.ObjectMeta{Namespace: "ours", Name: Service, Annotations: row.annotations}
			objects := []client.Object{
				&configv1.Infrastructure{ObjectMeta: metav1.ObjectMeta{Name: cluster}, Status: configv1.InfrastructureStatus{ControlPlaneTopology: row.topology}},
				&appsv1.Deployment{ObjectMeta: at, Spec: appsv1.DeploymentSpec{Replicas: ptr.To(row.has), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "checker"}}}},
			}
			if row.budget {
				objects = append(objects, &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{
					Namespace: "ours", Name: Service,
					Labels: map[string]string{CheckerLabel: "true"},
				}, Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromInt32(2)), Selector: &metav1.LabelSelector{}}})
			}
			p := &Phases{Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), Namespace: "ours"}
			if err := p.Scale(t.Context()); err != nil {
				t.Fatal(err)
			}
			deployment, budget := &appsv1.Deployment{}, &policyv1.PodDisruptionBudget{}
			if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(objects[1]), deployment); err != nil {
				t.Fatal(err)
			}
			err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(objects[1]), budget)
			if got := ptr.Deref(deployment.Spec.Replicas, 0); got != row.then || (err == nil) != row.budgetThen || client.IgnoreNotFound(err) != nil {
				t.Errorf("%d replicas, budget: %v (%v)", got, err == nil, apierrors.IsNotFound(err))
			}
			if err == nil && (budget.Spec.MinAvailable.IntValue() != 1 || budget.Spec.Selector.MatchLabels["app"] != "checker") {
				t.Errorf("the budget asks for %+v", budget.Spec)
			}
		})
	}
}
