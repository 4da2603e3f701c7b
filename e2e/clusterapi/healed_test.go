package clusterapi_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("What heals without an event", func() {
	It("is tried again every ten minutes, also after a terminal error, such as a port that another Service had", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		other := object(`{apiVersion: v1, kind: Service, metadata: {name: other, namespace: default}, spec: {type: NodePort, ports: [{port: 80, nodePort: 30080}]}}`)
		Expect(env.Client.Create(ctx, other, administrator)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { _ = env.Client.Delete(ctx, other) })
		ports := []any{map[string]any{"port": int64(443), "targetPort": int64(9443), "nodePort": int64(30080)}}
		release(ctx, newProvider("alpha").set("Service", "alpha", "NodePort", "spec", "type").set("Service", "alpha", ports, "spec", "ports"))
		until(ctx, "the port to be refused", inState(harness.Degraded),
			says("Degraded", "True", "NonRetryableError", "Service openshift-cluster-api/alpha", "already allocated", "tried again every 10 minutes"))

		Expect(env.Client.Delete(ctx, other)).To(Succeed())
		Expect(operator.Advance(10 * time.Minute)).To(Succeed())
		installed(ctx, 2)
		until(ctx, "the conditions of a finished installation", finished)
	})
})

var _ = Describe("A field that an admission policy changes back", func() {
	It("is told, holds nothing up, and is put right when the policy goes", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		lift := overrule(ctx, "policy")
		release(ctx, newProvider("alpha").set("ConfigMap", "alpha", "two", "data", "setting"))
		installed(ctx, 2)
		until(ctx, "the field to be told", says("InstallerControllerProgressing", "False", "AsExpected",
			"field .data.setting of ConfigMap openshift-cluster-api/alpha", "is changed by the API server, a webhook or an admission policy whenever it is written"), says("Degraded", "False", "AsExpected"))
		Expect(setting(ctx, configMap("alpha", ""))).To(Equal("policy"))

		lift()
		Expect(operator.Advance(10 * time.Minute)).To(Succeed())
		eventually(ctx, "the field to be put right", func(ctx context.Context) error {
			return has(ctx, configMap("alpha", ""), "two", "data", "setting")
		})
	})
})

// overrule has an admission policy give the setting of ConfigMap alpha a value whenever that is written, and returns when
// it does; what it returns ends that.
func overrule(ctx context.Context, value string) (lift func()) {
	GinkgoHelper()
	policy := object(`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: overrule}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
  matchConditions: [{name: has-setting, expression: "has(object.data) && 'setting' in object.data"}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: 'Object{data: {"setting": "` + value + `"}}'}`)
	binding := object(`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: overrule}
spec: {policyName: overrule}`)
	Expect(env.Client.Create(ctx, policy)).To(Succeed())
	Expect(env.Client.Create(ctx, binding)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { // when the spec has failed
		_, _ = env.Client.Delete(ctx, binding), env.Client.Delete(ctx, policy)
	})
	becomes := func(want string) {
		GinkgoHelper()
		eventually(ctx, "the policy to be enforced, or not any more", func(ctx context.Context) error {
			trial := configMap("trial", "mine")
			if err := env.Client.Create(ctx, trial, client.DryRunAll); err != nil {
				return err
			}
			return holds(trial, want, "data", "setting")
		})
	}
	becomes(value)
	return func() {
		GinkgoHelper()
		Expect(env.Client.Delete(ctx, binding)).To(Succeed())
		Expect(env.Client.Delete(ctx, policy)).To(Succeed())
		becomes("mine")
	}
}
