package clusterapi_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("The wall outside of the process, around what belongs to others", func() {
	It("lets the operator label nothing of theirs, not even what it empties in the same request", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: map[string]string{}})
		operator := operatorWithAllRights(ctx, "system:serviceaccount:"+harness.OperatorNamespace+":"+harness.ServiceAccount)
		const label = `"labels":{"` + harness.ManagedByLabel + `":"a"}`
		made := func(document string) *unstructured.Unstructured {
			o := object(document)
			Expect(env.Client.Create(ctx, o)).To(Succeed())
			DeferCleanup(func(ctx SpecContext) { Expect(client.IgnoreNotFound(env.Client.Delete(ctx, o))).To(Succeed()) })
			return o
		}
		hook := made("{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: theirs}}")
		tenant := made("{apiVersion: v1, kind: Namespace, metadata: {name: their-project}}")
		admin := object(rbac + "kind: ClusterRole\nmetadata: {name: cluster-admin}")
		neither := refusal("capstan-writes", "neither its own nor does it carry the label")
		for _, attempt := range []struct {
			object *unstructured.Unstructured
			patch  string
		}{
			{admin, `{"metadata":{` + label + `},"rules":[]}`},
			{hook, `{"metadata":{` + label + `},"webhooks":[]}`},
			{tenant, `{"metadata":{` + label + `}}`},
		} {
			what := attempt.object.GetKind()
			raw := client.RawPatch("application/merge-patch+json", []byte(attempt.patch))
			Eventually(ctx, func() error { return operator.Patch(ctx, attempt.object.DeepCopy(), raw, client.DryRunAll) }).WithTimeout(patience).Should(neither, what)
			Expect(operator.Delete(ctx, attempt.object.DeepCopy(), client.DryRunAll)).To(neither, what)
			// An administrator is not the operator.
			Expect(env.Client.Patch(ctx, attempt.object.DeepCopy(), raw, client.DryRunAll)).To(Succeed(), what)
		}
		adopting := client.RawPatch("application/merge-patch+json",
			[]byte(`{"metadata":{`+label+`,"annotations":{"capi-operator.openshift.io/adopt-existing":"always"}},"rules":[]}`))
		Expect(operator.Patch(ctx, admin.DeepCopy(), adopting, client.DryRunAll)).To(refusal("capstan-contents", "breaks rule adoption of the policy"))
	})
})
