package faults_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// What is in nobody's way for long, or only in one state, is no row of the matrix.
var _ = Describe("Trouble beside the matrix", Label("long"), func() {
	const limit = NodeTimeout(3 * time.Minute)
	DescribeTable("is told, and ends with its cause",
		func(ctx SpecContext, begin func(context.Context) (end func()), told string) {
			atGood(ctx)
			at = nil
			end := begin(ctx)
			until(ctx, "it to be told", mentions(told))
			end()
			until(ctx, "all to be well, and nothing of it to be told", harness.InState(harness.Installed), finished, not(mentions(told)))
		},
		Entry("an image that brings nothing", anImageThatBringsNothing, "and brings nothing", limit),
		Entry("a field that an admission policy changes", anAdmissionPolicy, "whenever it is written", limit),
		Entry("a workload that is scaled to zero", scaledToZero, "scaled to zero by", limit),
		Entry("an API group that does not answer while an inventory is lost", aSilentGroup, "API groups that may have objects of older revisions", limit),
		Entry("a number that no inventory explains", anUnexplainedNumber, "of which no inventory tells", limit))
})

func anImageThatBringsNothing(ctx context.Context) (end func()) {
	GinkgoHelper()
	listed := images(one)
	listed["other"] = pushFiles(ctx, "other", map[string][]byte{"README": []byte("no provider")})
	Expect(env.SetImages(ctx, listed)).To(Succeed())
	return func() { Expect(env.SetImages(ctx, images(one))).To(Succeed()) }
}

func anAdmissionPolicy(ctx context.Context) (end func()) {
	GinkgoHelper()
	policy := parsed(`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: overrule}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
  matchConditions: [{name: is-kept, expression: "object.metadata.name == 'kept'"}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: 'Object{data: {"setting": "overruled"}}'}`)
	binding := parsed(`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: overrule}
spec: {policyName: overrule}`)
	Expect(env.Client.Create(ctx, policy)).To(Succeed())
	Expect(env.Client.Create(ctx, binding)).To(Succeed())
	lift := func(ctx context.Context) { _, _ = env.Client.Delete(ctx, binding), env.Client.Delete(ctx, policy) }
	DeferCleanup(func(ctx SpecContext) { lift(ctx) })
	triedIs := func(want string) {
		GinkgoHelper()
		eventually(ctx, "the policy to be enforced, or not any more", func(ctx context.Context) error {
			trial := configMap("kept")
			merge := client.RawPatch(types.MergePatchType, []byte(`{"data":{"setting":"tried"}}`))
			if err := env.Client.Patch(ctx, trial, merge, administrator, client.DryRunAll); err != nil {
				return err
			}
			return holdsSetting(trial, want)
		})
	}
	triedIs("overruled")
	patch(ctx, configMap("kept"), `{"data":{"setting":"wrong"}}`)
	return func() {
		GinkgoHelper()
		lift(ctx)
		triedIs("tried")
		advance(10 * time.Minute) // by then it is written once more, whatever was made of the writes before
		eventually(ctx, "the field to be put right", func(ctx context.Context) error { return hasSetting(ctx, "kept", "right") })
	}
}

func scaledToZero(ctx context.Context) (end func()) {
	GinkgoHelper()
	worker := shape("apps/v1", "Deployment", harness.CAPINamespace, "worker")
	patch(ctx, worker, `{"spec":{"replicas":0}}`)
	return func() { patch(ctx, worker, `{"spec":{"replicas":1}}`) }
}

// aSilentGroup lets the inventory of the revision before be lost while it is still needed: what was in it is looked for
// among all kinds, and those of one group cannot be seen.
func aSilentGroup(ctx context.Context) (end func()) {
	GinkgoHelper()
	patch(ctx, configMap("goes"), hold)
	Expect(env.SetImages(ctx, images(two))).To(Succeed())
	until(ctx, "the pruning to wait", harness.InState(harness.Pruning), mentions("test.cluster.x-k8s.io/hold"))
	killAll()
	patch(ctx, configMap("goes"), free)
	remove(ctx, shape("v1", "ConfigMap", harness.OperatorNamespace, "capstan-inventory-1"))
	silent := parsed(`
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.silent.faults.cluster.x-k8s.io}
spec:
  group: silent.faults.cluster.x-k8s.io
  version: v1
  groupPriorityMinimum: 1000
  versionPriority: 15
  insecureSkipTLSVerify: true
  service: {namespace: default, name: nobody}`)
	Expect(env.Client.Create(ctx, silent)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { _ = env.Client.Delete(ctx, silent) })
	startGood()
	return func() { remove(ctx, silent) }
}

func anUnexplainedNumber(ctx context.Context) (end func()) {
	GinkgoHelper()
	number := func(value string) {
		merge := fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, harness.RevisionAnnotation, value)
		Expect(env.Client.Patch(ctx, configMap("kept"), client.RawPatch(types.MergePatchType, []byte(merge)), client.FieldOwner("capstan"))).To(Succeed())
	}
	number(`"9000000"`)
	return func() { number("null") }
}

// not is the question whether another one is not answered yes.
func not(question func(harness.View) error) func(harness.View) error {
	return func(v harness.View) error {
		if question(v) == nil {
			return errors.New("what should have ended is still so")
		}
		return nil
	}
}

// parsed is an object from its manifest.
func parsed(manifest string) *unstructured.Unstructured {
	GinkgoHelper()
	o := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal([]byte(manifest), &o.Object)).To(Succeed())
	return o
}
