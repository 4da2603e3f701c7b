package clusterapi_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("The rights of the operator", func() {
	It("suffice for every kind that an image may bring: to find, adopt, create and delete it", func(ctx SpecContext) {
		definitions := monitoringDefinitions()
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType})
		for _, definition := range definitions {
			Expect(env.Client.Create(ctx, definition, administrator)).To(Succeed())
		}
		objects := everyKind()
		for _, o := range objects {
			if o.GetAnnotations()[adopting] == "" {
				continue
			}
			there := o.DeepCopy()
			there.SetAnnotations(nil)
			eventually(ctx, id(o)+" of somebody to be there", func(ctx context.Context) error { return env.Client.Create(ctx, there.DeepCopy(), administrator) })
		}
		Expect(env.SetImages(ctx, push(ctx, newProvider("alpha"), emptyProvider("kinds").at(30).with(objects...)))).To(Succeed())
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		for _, o := range slices.Backward(objects) {
			Expect(client.IgnoreNotFound(env.Client.Delete(ctx, o.DeepCopy()))).To(Succeed())
		}
		eventually(ctx, "all of them to be created again", func(ctx context.Context) error {
			var missing []error
			for _, o := range objects {
				found, err := fetch(ctx, o)
				if err == nil && found.GetDeletionTimestamp() != nil {
					err = errors.New(id(o) + " is on its way out")
				}
				missing = append(missing, err)
			}
			return errors.Join(missing...)
		})
		installed(ctx, 1)
		release(ctx, newProvider("alpha"))
		installed(ctx, 2)
		expectGone(ctx, objects[1:]...) // all but the Namespace, into which nobody may look
	})

	It("end at the namespaces of the providers: who lets an image bring another one has to give them there, and the message says so", func(ctx SpecContext) {
		home, inside := namespaceOf("home"), configMap("inside", "one")
		inside.SetNamespace("home")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").with(home, inside))})
		operate(harness.OperatorOptions{SteeredClock: true})
		until(ctx, "the missing right to be told", says("Progressing", "True", "EphemeralError", `cannot list resource "configmaps" in API group ""`, `in the namespace "home"`))
		Expect(env.Allow(ctx, "in-home", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create", "delete", "get", "list", "patch", "watch"}})).To(Succeed())
		installed(ctx, 1)
		uids(ctx, inside)

		release(ctx, newProvider("alpha"))
		installed(ctx, 2)
		expectGone(ctx, inside)
		until(ctx, "the namespace to be retained", says("Upgradeable", "True", "AsExpected",
			"Namespace home", "the operator may not list limitranges, persistentvolumeclaims, pods, podtemplates", "in namespace home: let it (verb list)"))
		lookEverywhere(ctx)
		hastened(ctx, "the namespace to be deleted", 10*time.Second, func(ctx context.Context) error { return gone(ctx, home) })
	})

	It("to write a policy that has Infrastructures as parameters is that to get those, and leaves no trace elsewhere", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		giveBack := take(ctx, "capstan", "get", "infrastructures")
		policy := object(policyOfInfrastructures)
		release(ctx, newProvider("alpha").with(policy))
		until(ctx, "the missing right to be told", says("Progressing", "False", "NonRetryableError", "of-infrastructures", `must have "get" permission`))
		giveBack(ctx)
		annotate(ctx, retryAnnotation, "again")
		installed(ctx, 2)
		uids(ctx, policy)
	})

	DescribeTable("to give rights that it does not have itself come from two verbs, and leave no trace elsewhere",
		func(ctx SpecContext, role, verb, kind, message string) {
			begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
			operate(harness.OperatorOptions{})
			installed(ctx, 1)
			giveBack := take(ctx, role, verb, kind)
			rules := roles("more", harness.CAPINamespace)
			for _, o := range rules {
				if o.GetKind() == "ClusterRole" || o.GetKind() == "Role" {
					Expect(unstructured.SetNestedSlice(o.Object, []any{map[string]any{
						"apiGroups": []any{"example.com"}, "resources": []any{"widgets"}, "verbs": []any{"get"},
					}}, "rules")).To(Succeed())
				}
			}
			release(ctx, newProvider("alpha").with(rules...))
			until(ctx, "the missing right to be told", says("Progressing", "True", "EphemeralError", message))
			giveBack(ctx)
			annotate(ctx, retryAnnotation, "again")
			installed(ctx, 2)
			uids(ctx, rules...)
		},
		Entry("escalate, in a ClusterRole", "capstan", "escalate", "clusterroles", `"more" is forbidden`),
		Entry("bind, in a ClusterRoleBinding", "capstan", "bind", "clusterroles", `"more" is forbidden`),
		Entry("escalate, in a Role", "capstan-namespace", "escalate", "roles", `"more" is forbidden`),
		Entry("bind, in a RoleBinding", "capstan-namespace", "bind", "roles", `"more" is forbidden`),
	)
})

const policyOfInfrastructures = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: of-infrastructures}
spec:
  paramKind: {apiVersion: config.openshift.io/v1, kind: Infrastructure}
  matchConstraints: {resourceRules: [{apiGroups: [nothing.cluster.x-k8s.io], apiVersions: [v1], operations: [CREATE], resources: [nothings]}]}
  validations: [{expression: "true"}]
`

// lookEverywhere lets the operator count what is in any namespace, as an administrator may who wants those that images
// brought to go by themselves.
func lookEverywhere(ctx context.Context) {
	GinkgoHelper()
	Expect(env.Allow(ctx, "look", rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"list"}})).To(Succeed())
}

// take takes a verb on a resource out of a ClusterRole of deploy, until the spec ends or the function that it returns is
// called.
func take(ctx context.Context, name, verb, resource string) (giveBack func(context.Context)) {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Name: name}, role)).To(Succeed())
	whole := role.DeepCopy().Rules
	for i, rule := range role.Rules {
		if slices.Contains(rule.Resources, resource) {
			role.Rules[i].Verbs = slices.DeleteFunc(rule.Verbs, func(v string) bool { return v == verb })
		}
	}
	role.Rules = slices.DeleteFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return len(r.Verbs) == 0 })
	Expect(role.Rules).NotTo(Equal(whole))
	Expect(env.Client.Update(ctx, role, administrator)).To(Succeed())
	giveBack = func(ctx context.Context) {
		GinkgoHelper()
		Expect(env.Client.Get(ctx, client.ObjectKey{Name: name}, role)).To(Succeed())
		role.Rules = whole
		Expect(env.Client.Update(ctx, role, administrator)).To(Succeed())
	}
	DeferCleanup(func(ctx SpecContext) { giveBack(ctx) }, NodeTimeout(patience))
	return giveBack
}

// group is a definition of a group, which has an instance called one in the providers' namespace.
func group(name, plural, kind string) []*unstructured.Unstructured {
	return []*unstructured.Unstructured{
		object(fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[2]s.%[1]s
  annotations: {api-approved.kubernetes.io: unapproved}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: %[2]s, singular: %[4]s, kind: %[3]s, listKind: %[3]sList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`, name, plural, kind, plural[:len(plural)-1])),
		object(fmt.Sprintf(`
apiVersion: %s/v1
kind: %s
metadata: {name: one, namespace: %s}
`, name, kind, harness.CAPINamespace)),
	}
}
