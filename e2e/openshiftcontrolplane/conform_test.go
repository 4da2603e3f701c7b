package openshiftcontrolplane_test

import (
	"context"
	"errors"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// met sets a condition of a Cluster to True, as one does who has asked to be waited for.
func met(ctx context.Context, key capiworld.Key, kind string) error {
	of := &clusterv1.Cluster{}
	if err := world.API.Get(ctx, key, of); err != nil {
		return err
	}
	before := client.MergeFrom(of.DeepCopy())
	meta.SetStatusCondition(&of.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: "Done"})
	return world.API.Status().Patch(ctx, of, before)
}

// read reads an object of a cluster's namespace.
func read(ctx context.Context, key capiworld.Key, kind, name string) *unstructured.Unstructured {
	GinkgoHelper()
	of := &unstructured.Unstructured{}
	of.SetGroupVersionKind(capiworld.OpenShift.WithKind(kind))
	if kind == "DevMachine" || kind == "DevMachineTemplate" || kind == "DevCluster" {
		of.SetGroupVersionKind(capiworld.Infrastructure.WithKind(kind))
	}
	Expect(world.API.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: name}, of)).To(Succeed())
	return of
}

// workers are a MachineDeployment of one worker, and the two templates that it names.
func workers(key capiworld.Key) []client.Object {
	name := capiworld.Key{Namespace: key.Namespace, Name: key.Name + "-workers"}
	config := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"role": "worker"}}}}}
	config.SetGroupVersionKind(capiworld.OpenShift.WithKind("OpenShiftConfigTemplate"))
	config.SetNamespace(name.Namespace)
	config.SetName(name.Name)
	labels := map[string]string{clusterv1.ClusterNameLabel: key.Name, "pool": name.Name}
	return []client.Object{config, capiworld.MachineTemplate(name), &clusterv1.MachineDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name, Labels: labels},
		Spec: clusterv1.MachineDeploymentSpec{
			ClusterName: key.Name, Replicas: ptr.To(int32(1)), Selector: metav1.LabelSelector{MatchLabels: labels},
			Rollout: clusterv1.MachineDeploymentRolloutSpec{Strategy: clusterv1.MachineDeploymentRolloutStrategy{
				Type: clusterv1.RollingUpdateMachineDeploymentStrategyType,
				RollingUpdate: clusterv1.MachineDeploymentRolloutStrategyRollingUpdate{
					MaxSurge: ptr.To(intstr.FromInt32(1)), MaxUnavailable: ptr.To(intstr.FromInt32(0)),
				},
			}},
			Template: clusterv1.MachineTemplateSpec{
				ObjectMeta: clusterv1.ObjectMeta{Labels: labels},
				Spec: clusterv1.MachineSpec{
					ClusterName: key.Name,
					Bootstrap: clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{
						APIGroup: capiworld.OpenShift.Group, Kind: "OpenShiftConfigTemplate", Name: name.Name,
					}},
					InfrastructureRef: clusterv1.ContractVersionedObjectReference{
						APIGroup: capiworld.Infrastructure.Group, Kind: "DevMachineTemplate", Name: name.Name,
					},
				},
			},
		},
	}}
}

// worker waits until a cluster has a worker's config in a state, and returns its name.
func worker(ctx context.Context, key capiworld.Key, states ...any) (name string) {
	GinkgoHelper()
	eventually(ctx, fmt.Sprintf("a worker's config to be %v", states), func(ctx context.Context) error {
		all, err := world.List(ctx, capiworld.OpenShift.WithKind("OpenShiftConfig"), key.Namespace)
		if err != nil {
			return err
		}
		for _, one := range all {
			role, _, _ := unstructured.NestedString(one.Object, "spec", "role")
			state, _, _ := unstructured.NestedString(one.Object, "status", "state")
			if role != "worker" {
				continue
			}
			for _, wanted := range states {
				if state == wanted {
					name = one.GetName()
					return nil
				}
			}
			err = fmt.Errorf("%s is %s", one.GetName(), state)
		}
		return errors.Join(errors.New("there is none"), err)
	})
	return name
}

// pauseCluster has all of a cluster stand still, or go on.
func pauseCluster(ctx context.Context, key capiworld.Key, paused bool) {
	GinkgoHelper()
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"paused":%t}}`, paused))
	Expect(world.API.Patch(ctx, capiworld.Cluster(key, true), patch, harness.Administrator)).To(Succeed())
}

// spread gives the infrastructure of a cluster three failure domains, and waits until Cluster API knows them.
func spread(ctx context.Context, key capiworld.Key) {
	GinkgoHelper()
	domains := []byte(`{"status":{"failureDomains":[{"name":"a","controlPlane":true},{"name":"b","controlPlane":true},{"name":"c","controlPlane":true}]}}`)
	eventually(ctx, "failure domains", func(ctx context.Context) error {
		of := &clusterv1.Cluster{}
		if err := world.API.Get(ctx, key, of); err != nil || len(of.Status.FailureDomains) == 3 {
			return err
		}
		if err := world.API.Status().Patch(ctx, read(ctx, key, "DevCluster", key.Name), client.RawPatch(types.MergePatchType, domains)); err != nil {
			return err
		}
		return errors.New("the Cluster has none")
	})
}

var _ = Describe("A cluster of three control-plane machines", func() {
	It("is what Cluster API asks for, and is installed once, whatever is done to it on the way", func(ctx SpecContext) {
		image, err := world.Release(ctx, release)
		Expect(err).NotTo(HaveOccurred())
		asked := world.Ask(newKey(ctx), 3, image, "api")
		key := asked.Key
		spec(asked.ControlPlane, map[string]any{"labels": map[string]any{"team": "blue"}}, "machineTemplate", "metadata")
		since := mark(ctx)
		Expect(world.Create(ctx, append(workers(key), asked.Secret, asked.Template, asked.DevCluster, asked.Cluster)...)).To(Succeed())
		spread(ctx, key)
		Expect(world.Create(ctx, asked.ControlPlane)).To(Succeed())

		By("making no worker before the API has answered")
		stands(ctx, key, "AwaitingAPI")
		worker(ctx, key, "AwaitingPayload")
		Expect(world.Hold(ctx, key, "etcd,operators")).To(Succeed())
		stands(ctx, key, "Bootstrapping")
		worker(ctx, key, "Ready", "Frozen")

		By("spreading its machines, by which what they are made of is owned")
		domains := map[string]string{}
		for _, name := range []string{"one-0", "one-1", "one-2"} {
			of := &clusterv1.Machine{}
			Expect(world.API.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: name}, of)).To(Succeed())
			domains[of.Spec.FailureDomain] = name
			Expect(of.Labels).To(HaveKeyWithValue("team", "blue"))
			Expect(of.Labels).To(HaveKey(clusterv1.MachineControlPlaneLabel))
			Expect(of.Spec.MinReadySeconds).To(HaveValue(BeEquivalentTo(0)))
			Expect(metav1.GetControllerOf(of)).To(HaveField("Kind", "OpenShiftControlPlane"))
			Expect(metav1.GetControllerOf(read(ctx, key, "OpenShiftConfig", name))).To(HaveField("Kind", "Machine"))
			Expect(metav1.GetControllerOf(read(ctx, key, "DevMachine", name))).To(HaveField("Kind", "Machine"))
		}
		Expect(domains).To(And(HaveLen(3), HaveKey("a"), HaveKey("b"), HaveKey("c")))
		Expect(read(ctx, key, "DevMachineTemplate", "one").GetOwnerReferences()).To(ContainElement(HaveField("Kind", "Cluster")))

		By("leaving alone what a machine was booted with")
		config := stored(ctx, key, "one-0")
		config.Data["value"] = []byte("altered")
		Expect(world.API.Update(ctx, config)).To(Succeed())
		Consistently(func() string { return string(stored(ctx, key, "one-0").Data["value"]) }).
			WithTimeout(quiet).WithPolling(quiet / 3).Should(Equal("altered"))

		By("standing still while its Cluster is paused")
		pauseCluster(ctx, key, true)
		stands(ctx, key, "Paused")
		pauseCluster(ctx, key, false)
		stands(ctx, key, "Bootstrapping")

		By("losing its status, as in a move, but none of its marks")
		status := client.RawPatch(types.JSONPatchType, []byte(`[{"op":"remove","path":"/status"}]`))
		Expect(world.API.Status().Patch(ctx, asked.ControlPlane, status)).To(Succeed())
		Expect(asked.ControlPlane.Object).NotTo(HaveKey("status"))
		stands(ctx, key, "Bootstrapping")

		By("telling how many machines there are, and what holds it back")
		scale := &unstructured.Unstructured{}
		scale.SetGroupVersionKind(autoscalingv1.SchemeGroupVersion.WithKind("Scale"))
		Expect(world.API.SubResource("scale").Get(ctx, asked.ControlPlane, scale)).To(Succeed())
		Expect(scale.Object).To(HaveKeyWithValue("spec", HaveKeyWithValue("replicas", BeEquivalentTo(3))))
		Expect(scale.Object).To(HaveKeyWithValue("status", And(HaveKeyWithValue("replicas", BeEquivalentTo(3)), HaveKeyWithValue("selector", Not(BeEmpty())))))
		Expect(world.Hold(ctx, key, "operators")).To(Succeed())
		stands(ctx, key, "Settling")
		says(ctx, key, "OperatorsAvailable", metav1.ConditionFalse, "authentication")
		says(ctx, key, "Available", metav1.ConditionFalse, "")
		Expect(world.Hold(ctx, key, "")).To(Succeed())
		stands(ctx, key, "Installed")

		By("making nothing twice")
		for what, times := range made(ctx, since, key) {
			Expect(times).To(Equal(1), "creations of "+what)
		}
		Expect(bootstraps(ctx, since, key)).To(HaveLen(1))

		By("deleting workers before control-plane machines")
		since = mark(ctx)
		remove(ctx, key)
		all, err := world.Cluster.RequestsSince(ctx, since)
		Expect(err).NotTo(HaveOccurred())
		var first []string
		for _, r := range all {
			if r.Namespace == key.Namespace && r.Verb == "delete" && (r.Resource == "machinedeployments" || r.Resource == "machines") {
				first = append(first, r.Resource+" "+r.Name)
			}
		}
		Expect(first).NotTo(BeEmpty())
		Expect(first[0]).To(Equal("machinedeployments one-workers"))
		Expect(first).To(ContainElement("machines one-0"))
	}, SpecTimeout(3*patience))

	It("leaves nothing when it is deleted while its bootstrap machine is at work", func(ctx SpecContext) {
		asked := ask(ctx, newKey(ctx), 3, "complete")
		stands(ctx, asked.Key, "Bootstrapping")
		has(ctx, asked.Key, "Machine one-bootstrap")
		remove(ctx, asked.Key)
	}, SpecTimeout(2*patience))
})
