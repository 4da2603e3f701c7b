package compatibility_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("The checker's Deployment", func() {
	It("has as many replicas as the cluster's topology is for, and a budget where there are several", func(ctx SpecContext) {
		s := alone(ctx, 0)
		deployment := deployed(ctx, nil)
		isFor := func(topology configv1.TopologyMode, replicas int32, budgeted bool) {
			GinkgoHelper()
			setTopology(ctx, topology)
			eventually(ctx, fmt.Sprintf("%d replicas for %s", replicas, topology), func(ctx context.Context) error {
				if err := env.Client.Get(ctx, client.ObjectKeyFromObject(deployment), deployment); err != nil {
					return err
				}
				err := env.Client.Get(ctx, client.ObjectKeyFromObject(deployment), &policyv1.PodDisruptionBudget{})
				if got := ptr.Deref(deployment.Spec.Replicas, 0); got != replicas || (err == nil) != budgeted || (err != nil && !apierrors.IsNotFound(err)) {
					return fmt.Errorf("it has %d, with a budget: %t", got, err == nil)
				}
				return nil
			})
		}
		s.operate()
		isFor(configv1.HighlyAvailableTopologyMode, 2, true)
		spoilt := []byte(`{"spec":{"minAvailable":2}}`)
		Expect(env.Client.Patch(ctx, &policyv1.PodDisruptionBudget{ObjectMeta: checkerAt}, client.RawPatch(types.MergePatchType, spoilt))).To(Succeed())
		eventually(ctx, "the budget is as it was", func(ctx context.Context) error {
			budget := &policyv1.PodDisruptionBudget{}
			if err := env.Client.Get(ctx, client.ObjectKeyFromObject(deployment), budget); err != nil || budget.Spec.MinAvailable.IntValue() == 1 {
				return err
			}
			return fmt.Errorf("it asks for %s", budget.Spec.MinAvailable)
		})
		isFor(configv1.SingleReplicaTopologyMode, 1, false)
		isFor(configv1.HighlyAvailableTopologyMode, 2, true)
	})

	It("has a second one beside where a release brings a single replica, which follows it", func(ctx SpecContext) {
		s := alone(ctx, 0)
		first := deployed(ctx, map[string]string{"include.release.openshift.io/self-managed-high-availability": "true"})
		second := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: first.Namespace, Name: first.Name + "-2"}}
		DeferCleanup(func(ctx SpecContext) {
			Expect(client.IgnoreNotFound(env.Client.Delete(ctx, second, client.PropagationPolicy(metav1.DeletePropagationForeground)))).To(Succeed())
		})
		runs := func(image string) {
			GinkgoHelper()
			eventually(ctx, "a second replica of "+image, func(ctx context.Context) error {
				if err := env.Client.Get(ctx, client.ObjectKeyFromObject(second), second); err != nil {
					return err
				}
				got := second.Spec.Template.Spec.Containers[0].Image
				return unless(got == image && *second.Spec.Replicas == 1, fmt.Sprintf("it has %d of %s", *second.Spec.Replicas, got))
			})
		}
		setTopology(ctx, configv1.HighlyAvailableTopologyMode)
		s.operate()
		runs("checker")
		budget := &policyv1.PodDisruptionBudget{}
		eventually(ctx, "a budget for both", func(ctx context.Context) error { return env.Client.Get(ctx, client.ObjectKeyFromObject(first), budget) })
		selects, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		Expect(err).NotTo(HaveOccurred())
		for _, of := range []*appsv1.Deployment{first, second} {
			Expect(selects.Matches(labels.Set(of.Spec.Template.Labels))).To(BeTrue(), of.Name)
		}

		upgraded := []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"checker","image":"checker-of-the-next-release"}]}}}}`)
		Expect(env.Client.Patch(ctx, first.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, upgraded))).To(Succeed())
		runs("checker-of-the-next-release")
		Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(first), first)).To(Succeed())
		Expect(*first.Spec.Replicas).To(Equal(int32(1)))

		setTopology(ctx, configv1.SingleReplicaTopologyMode)
		eventually(ctx, "the second one and the budget to go", func(ctx context.Context) error {
			for _, o := range []client.Object{second.DeepCopy(), budget.DeepCopy()} {
				if err := env.Client.Get(ctx, client.ObjectKeyFromObject(o), o); !apierrors.IsNotFound(err) {
					return fmt.Errorf("%s is there: %w", o.GetName(), err)
				}
			}
			return nil
		})
		Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(first), first)).To(Succeed())
		Expect(*first.Spec.Replicas).To(Equal(int32(1)))
	})
})

// checkerAt is where the checker's Deployment and its PodDisruptionBudget are.
var checkerAt = metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: harness.WebhooksAccount}

// deployed is a Deployment of the checker with one replica, with annotations. It goes with the spec.
func deployed(ctx context.Context, annotations map[string]string) *appsv1.Deployment {
	GinkgoHelper()
	own := map[string]string{"app": "checker-at-play"}
	deployment := &appsv1.Deployment{ObjectMeta: checkerAt, Spec: appsv1.DeploymentSpec{
		Replicas: ptr.To[int32](1), Selector: &metav1.LabelSelector{MatchLabels: own},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: own},
			Spec:       corev1.PodSpec{ServiceAccountName: harness.WebhooksAccount, Containers: []corev1.Container{{Name: "checker", Image: "checker"}}},
		},
	}}
	deployment.Annotations = annotations
	Expect(env.Client.Create(ctx, deployment)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.IgnoreNotFound(env.Client.Delete(ctx, &appsv1.Deployment{ObjectMeta: checkerAt}, client.PropagationPolicy(metav1.DeletePropagationForeground)))).To(Succeed())
		Expect(client.IgnoreNotFound(env.Client.Delete(ctx, &policyv1.PodDisruptionBudget{ObjectMeta: checkerAt}))).To(Succeed())
	})
	return deployment
}

// setTopology has the Infrastructure say of how many nodes the control plane is.
func setTopology(ctx context.Context, topology configv1.TopologyMode) {
	GinkgoHelper()
	infrastructure := &configv1.Infrastructure{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Name: harness.Singleton}, infrastructure)).To(Succeed())
	infrastructure.Status.ControlPlaneTopology, infrastructure.Status.InfrastructureTopology = topology, topology
	Expect(env.Client.Status().Update(ctx, infrastructure)).To(Succeed())
}
