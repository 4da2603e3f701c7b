package shim_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("the shim", Ordered, func() {
	var shim *process

	BeforeAll(func(ctx SpecContext) {
		shim = place
		install(ctx, shim)
		shim.start(ctx)
		DeferCleanup(func() { shim.stop() })
	})

	It("converts a Machine up and down, with private groups in storage", func(ctx SpecContext) {
		machine := old(namespace(ctx).Name, "m")
		spec := machine.DeepCopy().Object["spec"]
		Expect(admin.Create(ctx, machine)).To(Succeed())

		stored := in("v1beta2", "Machine")
		Expect(admin.Get(ctx, at(machine), stored)).To(Succeed())
		Expect(stored.Object["spec"]).To(HaveKeyWithValue("infrastructureRef", Equal(map[string]any{"apiGroup": privateInfrastructure, "kind": "AWSMachine", "name": "m"})))
		Expect(stored.Object["spec"]).To(HaveKeyWithValue("deletion", Equal(map[string]any{"nodeDrainTimeoutSeconds": int64(10)})))
		Expect(stored.GetLabels()).To(HaveKey("cluster.x-k8s.io/cluster-name"))

		back := in("v1beta1", "Machine")
		Expect(admin.Get(ctx, at(machine), back)).To(Succeed())
		Expect(back.Object["spec"]).To(Equal(spec))
		Expect(back.GetUID()).To(Equal(stored.GetUID()))
	})

	It("converts a list in its order", func(ctx SpecContext) {
		where := namespace(ctx).Name
		for i := range 100 {
			Expect(admin.Create(ctx, old(where, fmt.Sprintf("m-%02d", i)))).To(Succeed())
		}
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(privateCore + "/v1beta1")
		list.SetKind("MachineList")
		Expect(admin.List(ctx, list, client.InNamespace(where))).To(Succeed())
		Expect(list.Items).To(HaveLen(100))
		for i, item := range list.Items {
			Expect(item.GetName()).To(Equal(fmt.Sprintf("m-%02d", i)))
			Expect(item.GetAPIVersion()).To(Equal(privateCore + "/v1beta1"))
		}
	})

	It("fails a whole list for one object that it cannot convert, and names it", func(ctx SpecContext) {
		where := namespace(ctx).Name
		Expect(admin.Create(ctx, old(where, "good"))).To(Succeed())
		bad := in("v1beta2", "Machine")
		bad.SetNamespace(where)
		bad.SetName("bad")
		bad.Object["spec"] = map[string]any{
			"clusterName": "c", "bootstrap": map[string]any{"dataSecretName": "s"},
			"infrastructureRef": map[string]any{"apiGroup": privateInfrastructure, "kind": "UnheardOfMachine", "name": "a"},
		}
		Expect(admin.Create(ctx, bad)).To(Succeed())
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(privateCore + "/v1beta1")
		list.SetKind("MachineList")
		Expect(admin.List(ctx, list, client.InNamespace(where))).To(MatchError(And(
			ContainSubstring("Machine "+where+"/bad"), ContainSubstring("from "+privateCore+"/v1beta2 to "+privateCore+"/v1beta1"),
			ContainSubstring("unheardofmachines."+privateInfrastructure),
		)))
	})

	It("counts what it was sent, how long it took, and what it could not convert", func(ctx SpecContext) {
		Expect(shim.counted(ctx)).To(And(
			MatchRegexp(`(?m)^hypershift_conversion_webhook_requests_total(\{.*\})? [1-9]`),
			MatchRegexp(`(?m)^hypershift_conversion_webhook_duration_seconds_count(\{.*\})? [1-9]`),
			MatchRegexp(`(?m)^hypershift_conversion_webhook_errors_total(\{.*\})? [1-9]`),
		))
	})

	It("while it is down stops no other kind's garbage collection, no read at the storage version, and no deletion of a namespace", func(ctx SpecContext) {
		where := namespace(ctx)
		machine := old(where.Name, "m")
		Expect(admin.Create(ctx, machine)).To(Succeed())
		shim.stop()
		DeferCleanup(func(ctx SpecContext) {
			if shim.child == nil {
				shim.start(ctx)
			}
		})
		Expect(admin.Get(ctx, at(machine), in("v1beta2", "Machine"))).To(Succeed())
		Expect(admin.Get(ctx, at(machine), in("v1beta1", "Machine"))).To(MatchError(ContainSubstring("conversion webhook")))

		owner, owned := configMap(where.Name, "owner"), configMap(where.Name, "owned")
		Expect(admin.Create(ctx, owner)).To(Succeed())
		owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}
		Expect(admin.Create(ctx, owned)).To(Succeed())
		Expect(admin.Delete(ctx, owner)).To(Succeed())
		eventually(ctx, "waiting for the garbage collector", func(ctx context.Context) error { return gone(ctx, owned) })

		Expect(admin.Delete(ctx, where)).To(Succeed())
		eventually(ctx, "waiting for the namespace to go", func(ctx context.Context) error { return gone(ctx, where) })
		shim.start(ctx)
		Expect(admin.Create(ctx, old(namespace(ctx).Name, "again"))).To(Succeed())
	})
})

func configMap(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}
