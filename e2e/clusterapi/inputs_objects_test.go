package clusterapi_test

import (
	"context"
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// runner is a Deployment of no pods that selects them by a label.
func runner(selector string) *unstructured.Unstructured {
	return object(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: runner, namespace: openshift-cluster-api}
spec:
  replicas: 0
  selector: {matchLabels: {app: ` + selector + `}}
  template:
    metadata: {labels: {app: runner, part: other}}
    spec: {containers: [{name: manager, image: registry.example/manager}]}`)
}

// gadgets is a kind that no provider brings, and what lets the operator write it.
const gadgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.elsewhere.cluster.x-k8s.io}
spec:
  group: elsewhere.cluster.x-k8s.io
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}`

func gadgetUser(name string) []*unstructured.Unstructured {
	return []*unstructured.Unstructured{
		object(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: gadgets
  labels: {capi-operator.openshift.io/aggregate-to-installer: "true"}
rules:
- apiGroups: [elsewhere.cluster.x-k8s.io]
  resources: [gadgets]
  verbs: [get, list, watch, create, update, patch, delete]`),
		gadget(name),
	}
}

func gadget(name string) *unstructured.Unstructured {
	return object("{apiVersion: elsewhere.cluster.x-k8s.io/v1, kind: Gadget, metadata: {name: " + name + ", namespace: openshift-cluster-api}}")
}

var _ = Describe("An object of a provider", func() {
	DescribeTable("that the API server refuses stops its revision with a terminal error, and the one before stays",
		func(ctx SpecContext, broken func(*provider), texts ...string) {
			g := installSmall(ctx, emptyProvider("running").at(30).with(runner("runner")))
			running := emptyProvider("running").at(30).with(runner("runner"))
			broken(running)
			release(ctx, small("two"), running)
			g.survives(ctx, installerController, nonRetryable, append(texts, "of running", " its manifest ")...)
			v, err := harness.See(ctx, env.Client)
			Expect(err).NotTo(HaveOccurred())
			Expect(v.Revisions()).To(HaveLen(2))
			release(ctx, small("three"), emptyProvider("running").at(30).with(runner("runner")))
			g.isReplaced(ctx, "three")
		},
		Entry("a new Deployment whose selector does not match its template",
			func(p *provider) {
				other := runner("nothing")
				other.SetName("walker")
				p.with(other)
			},
			"Deployment openshift-cluster-api/walker", "`selector` does not match template `labels`"),
		Entry("a change of a field that never changes",
			func(p *provider) {
				p.set("Deployment", "runner", map[string]any{"part": "other"}, "spec", "selector", "matchLabels")
			},
			"Deployment openshift-cluster-api/runner", "spec.selector", "field is immutable", "on-immutable-change: recreate"),
		Entry("a field that its kind does not have",
			func(p *provider) { p.set("Deployment", "runner", int64(3), "spec", "replica") },
			"Deployment openshift-cluster-api/runner", "spec.replica"),
		Entry("a new object with a field that its kind does not have",
			func(p *provider) {
				surplus := configMap("surplus", "one")
				surplus.Object["dta"] = map[string]any{}
				p.with(surplus)
			},
			"ConfigMap openshift-cluster-api/surplus", "dta"),
	)

	It("of a kind that nobody has installed is waited for until somebody does", func(ctx SpecContext) {
		g := installSmall(ctx)
		release(ctx, small("two"), emptyProvider("using").at(30).with(gadgetUser("first")...))
		g.survives(ctx, installerController, ephemeral, "Gadget openshift-cluster-api/first", "elsewhere.cluster.x-k8s.io/v1", "no CRD", "of using")
		Expect(env.Client.Create(ctx, object(gadgets))).To(Succeed())
		g.isReplaced(ctx, "two")
		Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(gadget("first")), gadget("first"))).To(Succeed())
	})

	It("without a namespace, of a kind that somebody else has installed with one, stops its revision with a terminal error", func(ctx SpecContext) {
		g := installSmall(ctx)
		Expect(env.Client.Create(ctx, object(gadgets))).To(Succeed())
		lost := gadgetUser("lost")
		lost[1].SetNamespace("")
		release(ctx, small("two"), emptyProvider("using").at(30).with(lost...))
		g.survives(ctx, installerController, nonRetryable, "Gadget lost", "has no metadata.namespace", "of using")
		release(ctx, small("three"))
		g.isReplaced(ctx, "three")
	})

	It("in a namespace that nobody has made is waited for until somebody does", func(ctx SpecContext) {
		g := installSmall(ctx)
		far := configMap("far", "away")
		far.SetNamespace("elsewhere")
		wanted := push(ctx, small("two"), emptyProvider("using").at(30).with(far))
		allow(ctx, wanted["using"], "namespace", "ConfigMap elsewhere/far")
		Expect(env.Allow(ctx, "elsewhere", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create", "delete", "get", "list", "patch", "watch"}})).To(Succeed())
		Expect(env.SetImages(ctx, wanted)).To(Succeed())
		g.survives(ctx, installerController, ephemeral, "ConfigMap elsewhere/far", `namespaces "elsewhere" not found`)
		Expect(env.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere"}})).To(Succeed())
		g.isReplaced(ctx, "two")
	})

	It("that a policy of the administrator denies is tried again until the policy is gone", func(ctx SpecContext) {
		g := installSmall(ctx)
		lift := deny(ctx, "forbidden")
		release(ctx, small("two"), emptyProvider("using").at(30).with(configMap("forbidden", "one")))
		g.survives(ctx, installerController, ephemeral, "ConfigMap openshift-cluster-api/forbidden", "ValidatingAdmissionPolicy", "nobody may have it")
		lift()
		g.isReplaced(ctx, "two")
	})
})

// deny has the API server refuse ConfigMaps of a name, and returns when it does;
// what it returns ends that, and returns when it has ended.
func deny(ctx context.Context, name string) (lift func()) {
	GinkgoHelper()
	policy := object(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: ` + name + `}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
  validations: [{expression: "object.metadata.name != '` + name + `'", message: nobody may have it}]`)
	binding := object(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: ` + name + `}
spec: {policyName: ` + name + `, validationActions: [Deny]}`)
	Expect(env.Client.Create(ctx, policy)).To(Succeed())
	Expect(env.Client.Create(ctx, binding)).To(Succeed())
	eventually(ctx, "the policy to be enforced", func(ctx context.Context) error {
		err := env.Client.Create(ctx, configMap(name, "one"), client.DryRunAll)
		if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
			return nil
		}
		return errors.Join(errors.New("the object would be accepted"), err)
	})
	return func() {
		GinkgoHelper()
		Expect(env.Client.Delete(ctx, binding)).To(Succeed())
		Expect(env.Client.Delete(ctx, policy)).To(Succeed())
		eventually(ctx, "the policy to be enforced no more", func(ctx context.Context) error {
			return client.IgnoreAlreadyExists(env.Client.Create(ctx, configMap(name, "one"), client.DryRunAll))
		})
	}
}
