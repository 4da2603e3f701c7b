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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("The checker's Deployment", func() {
	It("has as many replicas as the cluster's topology is for, and a budget where there are several", func(ctx SpecContext) {
		s := alone(ctx, 0)
		at := metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: harness.WebhooksAccount}
		labels := map[string]string{"app": "checker-at-play"}
		deployment := &appsv1.Deployment{ObjectMeta: at, Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "checker", Image: "checker"}}}},
		}}
		Expect(env.Client.Create(ctx, deployment)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(client.IgnoreNotFound(env.Client.Delete(ctx, &appsv1.Deployment{ObjectMeta: at}, client.PropagationPolicy(metav1.DeletePropagationForeground)))).To(Succeed())
			Expect(client.IgnoreNotFound(env.Client.Delete(ctx, &policyv1.PodDisruptionBudget{ObjectMeta: at}))).To(Succeed())
		})
		isFor := func(topology configv1.TopologyMode, replicas int32, budgeted bool) {
			GinkgoHelper()
			infrastructure := &configv1.Infrastructure{}
			Expect(env.Client.Get(ctx, client.ObjectKey{Name: harness.Singleton}, infrastructure)).To(Succeed())
			infrastructure.Status.ControlPlaneTopology, infrastructure.Status.InfrastructureTopology = topology, topology
			Expect(env.Client.Status().Update(ctx, infrastructure)).To(Succeed())
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
		Expect(env.Client.Patch(ctx, &policyv1.PodDisruptionBudget{ObjectMeta: at}, client.RawPatch(types.MergePatchType, spoilt))).To(Succeed())
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
})
