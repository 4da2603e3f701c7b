package openshiftcontrolplane_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
)

// still is for how long something that is held does not happen.
const still = 12 * time.Second

// installManaged makes a cluster whose control-plane Machines stay ours.
func installManaged(ctx context.Context, key capiworld.Key, replicas int) *capiworld.Asked {
	GinkgoHelper()
	image, err := world.Release(ctx, release)
	Expect(err).NotTo(HaveOccurred())
	asked := world.Ask(key, replicas, image, "")
	Expect(unstructured.SetNestedField(asked.ControlPlane.Object, "Managed", "spec", "management")).To(Succeed())
	Expect(world.Create(ctx, asked.Objects()...)).To(Succeed())
	stands(ctx, key, "Installed")
	return asked
}

func resize(ctx context.Context, a *capiworld.Asked, replicas int) {
	GinkgoHelper()
	Expect(refine(ctx, a.ControlPlane, fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas))).To(Succeed())
}

// machinesOf are the Machines of a cluster by name. It fails where two are on their way, in or out, at the same time.
func machinesOf(ctx context.Context, key capiworld.Key) map[string]*clusterv1.Machine {
	GinkgoHelper()
	list := &clusterv1.MachineList{}
	Expect(world.API.List(ctx, list, client.InNamespace(key.Namespace))).To(Succeed())
	all := map[string]*clusterv1.Machine{}
	var way []string
	for i := range list.Items {
		one := &list.Items[i]
		all[one.Name] = one
		if !one.Status.NodeRef.IsDefined() || !one.DeletionTimestamp.IsZero() {
			way = append(way, one.Name)
		}
	}
	Expect(len(way)).To(BeNumerically("<=", 1), "Machines on their way: %v", way)
	return all
}

// settled is nil once a cluster has as many Machines as asked for, each with a Node, and is Installed.
func settled(ctx context.Context, key capiworld.Key, replicas int) error {
	all := machinesOf(ctx, key)
	if len(all) != replicas {
		return fmt.Errorf("there are %d Machines", len(all))
	}
	for name, one := range all {
		if !one.Status.NodeRef.IsDefined() || !one.DeletionTimestamp.IsZero() {
			return fmt.Errorf("Machine %s is on its way", name)
		}
	}
	return standsAt(ctx, key, "Installed")
}

// settles waits until a cluster has as many Machines as asked for, one after the other.
func settles(ctx context.Context, key capiworld.Key, replicas int) {
	GinkgoHelper()
	eventually(ctx, fmt.Sprintf("%s to have %d Machines", key, replicas), func(ctx context.Context) error { return settled(ctx, key, replicas) })
}

// deleted are the Machines of a cluster that the provider has deleted, in order.
func deleted(ctx context.Context, since cluster.Mark, key capiworld.Key) (names []string) {
	GinkgoHelper()
	for _, r := range written(ctx, since, key) {
		// One that is bound to a version which somebody has overtaken deletes nothing.
		if r.Verb == "delete" && r.Resource == "machines" && r.Code != http.StatusConflict {
			names = append(names, r.Name)
		}
	}
	return names
}

// waitsInVain is nil once Cluster API keeps a Machine that is deleted for the sake of our hook.
func waitsInVain(ctx context.Context, key capiworld.Key, name string) error {
	one := machinesOf(ctx, key)[name]
	if one == nil {
		return errors.New("it is gone")
	}
	c := meta.FindStatusCondition(one.Status.Conditions, clusterv1.MachineDeletingCondition)
	if c == nil || c.Reason != clusterv1.MachineDeletingWaitingForPreTerminateHookReason {
		return fmt.Errorf("it says %+v", c)
	}
	return nil
}

// checked has Cluster API look for control-plane Machines whose Nodes are not Ready.
func checked(key capiworld.Key) *clusterv1.MachineHealthCheck {
	second, long, all := int32(1), int32(3600), intstr.FromString("100%")
	return &clusterv1.MachineHealthCheck{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec: clusterv1.MachineHealthCheckSpec{
			ClusterName: key.Name,
			Selector:    metav1.LabelSelector{MatchLabels: map[string]string{clusterv1.MachineControlPlaneLabel: ""}},
			Checks: clusterv1.MachineHealthCheckChecks{
				NodeStartupTimeoutSeconds: &long,
				UnhealthyNodeConditions:   []clusterv1.UnhealthyNodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse, TimeoutSeconds: &second}},
			},
			Remediation: clusterv1.MachineHealthCheckRemediation{TriggerIf: clusterv1.MachineHealthCheckRemediationTriggerIf{UnhealthyLessThanOrEqualTo: &all}},
		},
	}
}

// breaks has the Node of a guest say that it is not Ready.
func breaks(ctx context.Context, key capiworld.Key, name string) {
	GinkgoHelper()
	turns(ctx, key, name, corev1.ConditionFalse)
}

// turns has the Node of a guest say whether it is Ready, once it is there.
func turns(ctx context.Context, key capiworld.Key, name string, ready corev1.ConditionStatus) {
	GinkgoHelper()
	eventually(ctx, "Node "+name+" to be changed", func(ctx context.Context) error {
		guest, err := world.Guest(ctx, key)
		if err != nil {
			return err
		}
		node := &corev1.Node{}
		if err := guest.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
			return err
		}
		for i := range node.Status.Conditions {
			if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
				c.Status, c.Reason, c.LastTransitionTime = ready, "Turned", metav1.Now()
			}
		}
		return guest.Update(ctx, node)
	})
}

// uids are those of a cluster's Machines.
func uids(ctx context.Context, key capiworld.Key) map[string]types.UID {
	GinkgoHelper()
	all := map[string]types.UID{}
	for name, one := range machinesOf(ctx, key) {
		all[name] = one.UID
	}
	return all
}

// replaced is nil once one of three Machines is another one than before.
func replaced(ctx context.Context, key capiworld.Key, name string, before map[string]types.UID) error {
	if uids(ctx, key)[name] == before[name] {
		return errors.New("it is the same")
	}
	return settled(ctx, key, len(before))
}

var _ = Describe("A cluster under Managed", Label(long), func() {
	It("is scaled from three machines to five and back, one by one, and lets none go that is a member of etcd", func(ctx SpecContext) {
		asked := installManaged(ctx, newKey(ctx), 3)
		since := mark(ctx)
		resize(ctx, asked, 5)
		stands(ctx, asked.Key, "Scaling")
		settles(ctx, asked.Key, 5)
		Expect(deleted(ctx, since, asked.Key)).To(BeEmpty())

		Expect(world.Hold(ctx, asked.Key, "members")).To(Succeed())
		resize(ctx, asked, 3)
		eventually(ctx, "Machine one-4 to be held", func(ctx context.Context) error { return waitsInVain(ctx, asked.Key, "one-4") })
		Consistently(func() error { return waitsInVain(ctx, asked.Key, "one-4") }).WithTimeout(still).WithPolling(time.Second).Should(Succeed())
		has(ctx, asked.Key, "DevMachine one-4")
		Expect(world.Hold(ctx, asked.Key, "")).To(Succeed())
		settles(ctx, asked.Key, 3)
		Expect(deleted(ctx, since, asked.Key)).To(Equal([]string{"one-4", "one-3"}))
		remove(ctx, asked.Key)
	}, SpecTimeout(10*time.Minute))

	It("has one of three machines replaced that a health check finds unhealthy, and no other", func(ctx SpecContext) {
		asked := installManaged(ctx, newKey(ctx), 3)
		since, before := mark(ctx), uids(ctx, asked.Key)
		Expect(world.Create(ctx, checked(asked.Key))).To(Succeed())
		breaks(ctx, asked.Key, "one-1")
		eventually(ctx, "Machine one-1 to be replaced", func(ctx context.Context) error { return replaced(ctx, asked.Key, "one-1", before) })
		after := uids(ctx, asked.Key)
		Expect(after["one-0"]).To(Equal(before["one-0"]))
		Expect(after["one-2"]).To(Equal(before["one-2"]))
		Expect(deleted(ctx, since, asked.Key)).To(Equal([]string{"one-1"}))
		remove(ctx, asked.Key)
	}, SpecTimeout(10*time.Minute))

	It("keeps its only machine though a health check finds it unhealthy, and says why", func(ctx SpecContext) {
		asked := installManaged(ctx, newKey(ctx), 1)
		since, before := mark(ctx), uids(ctx, asked.Key)
		Expect(world.Create(ctx, checked(asked.Key))).To(Succeed())
		breaks(ctx, asked.Key, "one-0")
		eventually(ctx, "it to say that there is no quorum", func(ctx context.Context) error {
			standing, err := world.Standing(ctx, asked.Key)
			if err != nil {
				return err
			}
			return standing.WaitsFor("no quorum")
		})
		Consistently(func() map[string]types.UID { return uids(ctx, asked.Key) }).WithTimeout(still).WithPolling(time.Second).Should(Equal(before))
		Expect(deleted(ctx, since, asked.Key)).To(BeEmpty())
		remove(ctx, asked.Key)
	}, SpecTimeout(10*time.Minute))
})
