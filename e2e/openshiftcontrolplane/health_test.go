package openshiftcontrolplane_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
)

// lasting is after how long people are told of what they were not told of at once.
const lasting = 5 * time.Minute

// degrade has an operator of a guest say whether it is degraded.
func degrade(ctx context.Context, key capiworld.Key, name string, is configv1.ConditionStatus) {
	GinkgoHelper()
	guest, err := world.Guest(ctx, key)
	Expect(err).NotTo(HaveOccurred())
	operator := &configv1.ClusterOperator{}
	Expect(guest.Get(ctx, client.ObjectKey{Name: name}, operator)).To(Succeed())
	for i := range operator.Status.Conditions {
		if c := &operator.Status.Conditions[i]; c.Type == configv1.OperatorDegraded {
			c.Status, c.Reason, c.LastTransitionTime = is, "Played", metav1.Now()
		}
	}
	Expect(guest.Update(ctx, operator)).To(Succeed())
}

// initialized is nil if both the control plane and its Cluster say that the API has answered once.
func initialized(ctx context.Context, key capiworld.Key) error {
	standing, err := world.Standing(ctx, key)
	if err != nil {
		return err
	}
	if is, _, _ := unstructured.NestedBool(standing.Object.Object, "status", "initialization", "controlPlaneInitialized"); !is {
		return errors.New("the control plane is not initialized")
	}
	of := &clusterv1.Cluster{}
	if err := world.API.Get(ctx, key, of); err != nil {
		return err
	}
	if !ptr.Deref(of.Status.Initialization.ControlPlaneInitialized, false) {
		return fmt.Errorf("the Cluster is not initialized: %+v", of.Status.Initialization)
	}
	return nil
}

// said is nil if a control plane says something of Available.
func said(ctx context.Context, key capiworld.Key, status metav1.ConditionStatus, names string) error {
	standing, err := world.Standing(ctx, key)
	if err != nil {
		return err
	}
	return standing.Says("Available", status, names)
}

var _ = Describe("An installed cluster that is not well", Label(long), func() {
	It("is not Available, by the name of the operator that is degraded or since its API is silent, and is well again by itself", func(ctx SpecContext) {
		ill, silent := ask(ctx, newKey(ctx), 1, "").Key, ask(ctx, newKey(ctx), 1, "").Key
		for _, key := range []capiworld.Key{ill, silent} {
			stands(ctx, key, "Installed")
			says(ctx, key, "Available", metav1.ConditionTrue, "")
		}
		begun := time.Now()
		degrade(ctx, ill, "network", configv1.ConditionTrue)
		says(ctx, ill, "Available", metav1.ConditionFalse, "network")
		says(ctx, ill, "OperatorsAvailable", metav1.ConditionFalse, "network")
		Expect(standsAt(ctx, ill, "Installed")).To(Succeed())
		Expect(world.Hold(ctx, silent, "api")).To(Succeed())
		says(ctx, silent, "Available", metav1.ConditionUnknown, "does not answer")
		Expect(initialized(ctx, silent)).To(Succeed())

		By("waiting until that has lasted")
		within(ctx, lasting+patience, "the silent one to be not Available", func(ctx context.Context) error {
			return errors.Join(standsAt(ctx, silent, "Installed"), said(ctx, silent, metav1.ConditionFalse, "does not answer"))
		})
		Expect(time.Since(begun)).To(BeNumerically(">", lasting-10*time.Second))
		Expect(initialized(ctx, silent)).To(Succeed())
		stands(ctx, ill, "Degraded")
		says(ctx, ill, "Available", metav1.ConditionFalse, "network")
		Expect(time.Since(begun)).To(BeNumerically(">", lasting-10*time.Second))

		By("letting both be well again")
		Expect(world.Hold(ctx, silent, "")).To(Succeed())
		degrade(ctx, ill, "network", configv1.ConditionFalse)
		for _, key := range []capiworld.Key{ill, silent} {
			stands(ctx, key, "Installed")
			says(ctx, key, "Available", metav1.ConditionTrue, "")
			remove(ctx, key)
		}
	}, SpecTimeout(lasting+5*patience))
})
