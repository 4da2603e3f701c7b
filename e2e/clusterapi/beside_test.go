package clusterapi_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("The status of the ClusterOperator", func() {
	It("can be shared with another machine, that keeps a record and conditions of its own", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)

		theirs := object(`
apiVersion: config.openshift.io/v1
kind: ClusterOperator
metadata: {name: cluster-api}
status:
  extension: {tides: {state: Flood}}
  conditions:
  - {type: TidesControllerDegraded, status: "False", reason: AsExpected, message: "", lastTransitionTime: "2026-01-01T12:00:00Z"}`)
		Expect(env.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(theirs), client.FieldOwner("capstan-tides"), client.ForceOwnership)).To(Succeed())
		release(ctx, newProvider("alpha").with(configMap("more", "two")))
		installed(ctx, 2)

		shared := &unstructured.Unstructured{}
		shared.SetGroupVersionKind(theirs.GroupVersionKind())
		Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(theirs), shared)).To(Succeed())
		extension, _, err := unstructured.NestedMap(shared.Object, "status", "extension")
		Expect(err).NotTo(HaveOccurred())
		Expect(extension).To(And(HaveKeyWithValue("tides", HaveKeyWithValue("state", "Flood")), HaveKeyWithValue("clusterapi", HaveKeyWithValue("state", "Installed")), HaveKey("clusterapiDetail")))
		conditions, _, err := unstructured.NestedSlice(shared.Object, "status", "conditions")
		Expect(err).NotTo(HaveOccurred())
		Expect(conditions).To(ContainElement(HaveKeyWithValue("type", "TidesControllerDegraded")))
	})
})
