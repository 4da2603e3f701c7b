package clusterapi_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// OpenShift serves Namespaces a second time as Projects, and RBAC a second time
// as authorization.openshift.io; every suite has such a server.
var _ = Describe("An object that OpenShift serves under two API groups", func() {
	It("is deleted once and by its own group after a takeover, but a namespace that nothing proves ours is left, with what is in it", func(ctx SpecContext) {
		alpha := newProvider("alpha")
		images := push(ctx, alpha)
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: images})
		full, bare := namespaceOf("full"), namespaceOf("bare")
		rules, inside := roles("dropped", harness.CAPINamespace), roles("inside", "bare")[2:]
		applyAsFormer(ctx, "alpha", 1, images["alpha"], slices.Concat([]*unstructured.Unstructured{full, bare}, rules, inside)...)
		applyAsFormer(ctx, "alpha", 2, images["alpha"], alpha.objects...)
		listAsFormer(ctx, images["alpha"], 1, 2)
		mine := configMap("mine", "one")
		mine.SetNamespace("full")
		Expect(env.Client.Create(ctx, mine, administrator)).To(Succeed())
		left := append([]*unstructured.Unstructured{full, bare, mine}, inside...)
		before := uids(ctx, left...)
		since := mark(ctx)

		operate(harness.OperatorOptions{})
		installed(ctx, 3)
		eventually(ctx, "what is dropped to go", func(ctx context.Context) error { return goneAll(ctx, rules...) })
		until(ctx, "the namespaces to be told", tellsStrays("Namespace bare", "Namespace full"),
			says("Available", "True", "AsExpected"), says("Degraded", "False", "AsExpected"))
		Expect(uids(ctx, left...)).To(Equal(before))
		Expect(deletionsOf(ctx, since)).To(ConsistOf(
			"clusterroles.rbac.authorization.k8s.io /dropped", "clusterrolebindings.rbac.authorization.k8s.io /dropped",
			"roles.rbac.authorization.k8s.io openshift-cluster-api/dropped", "rolebindings.rbac.authorization.k8s.io openshift-cluster-api/dropped",
		))
	})

	It("does not keep a lost inventory from being written anew, although one of the kinds there cannot be listed", func(ctx SpecContext) {
		rules := roles("goes", harness.CAPINamespace)
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").with(rules...))})
		operator := operate(harness.OperatorOptions{})
		installed(ctx, 1)
		Expect(operator.Stop()).To(Succeed())
		inventory := configMap("capstan-inventory-1", "")
		inventory.SetNamespace(harness.OperatorNamespace)
		Expect(env.Client.Delete(ctx, inventory)).To(Succeed())
		release(ctx, newProvider("alpha"))
		since := mark(ctx)
		operate(harness.OperatorOptions{})
		installed(ctx, 2)
		expectGone(ctx, rules...)
		Expect(deletionsOf(ctx, since)).To(ConsistOf(
			"clusterroles.rbac.authorization.k8s.io /goes", "clusterrolebindings.rbac.authorization.k8s.io /goes",
			"roles.rbac.authorization.k8s.io openshift-cluster-api/goes", "rolebindings.rbac.authorization.k8s.io openshift-cluster-api/goes",
		))
	})

	It("is one object that a namespace holds, and is told once", func(ctx SpecContext) {
		home := namespaceOf("home")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").with(home))})
		lookEverywhere(ctx)
		operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		before := uids(ctx, home)
		role := roles("mine", "home")[2]
		Expect(env.Client.Create(ctx, role, administrator)).To(Succeed())
		since := mark(ctx)
		release(ctx, newProvider("alpha"))
		installed(ctx, 2)
		until(ctx, "the namespace to be retained", says("Upgradeable", "True", "AsExpected", "Namespace home (holds 1 object)"))
		Expect(uids(ctx, home)).To(Equal(before))

		silent(ctx)
		Expect(env.Client.Delete(ctx, role)).To(Succeed())
		hastened(ctx, "the namespace to be deleted", 10*time.Second, func(ctx context.Context) error { return gone(ctx, home) })
		Expect(deletionsOf(ctx, since)).To(ConsistOf("namespaces home/home"))
	})
})

var _ = Describe("OpenShift's API server, when it does not answer", func() {
	It("holds up no installation and no upgrade: only the namespace stays that may hold its objects, and why is told", func(ctx SpecContext) {
		home := namespaceOf("home")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").with(home, configMap("goes", "one")))})
		lookEverywhere(ctx)
		answers := silence(ctx, "v1.project.openshift.io", "v1.authorization.openshift.io")
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		release(ctx, newProvider("alpha"))
		installed(ctx, 2)
		expectGone(ctx, configMap("goes", "one"))
		until(ctx, "the namespace to be retained", says("Upgradeable", "True", "AsExpected", "Namespace home", "project.openshift.io", "APIService"),
			says("Available", "True", "AsExpected"), says("Degraded", "False", "AsExpected"))
		uids(ctx, home)
		answers()
		release(ctx, newProvider("alpha").with(configMap("comes", "one")))
		installed(ctx, 3)
		eventually(ctx, "the namespace to be deleted", func(ctx context.Context) error { return gone(ctx, home) })
	})
})

// silence makes API groups of the aggregated server unavailable until the spec
// ends or the function that it returns is called.
func silence(ctx context.Context, names ...string) (answers func()) {
	GinkgoHelper()
	turn := func(ctx context.Context, service, available string) {
		GinkgoHelper()
		for _, name := range names {
			registration := apiService(name)
			patch(ctx, registration, fmt.Sprintf(`{"spec":{"service":{"name":%q}}}`, service))
			eventually(ctx, name+" to be available: "+available, func(ctx context.Context) error {
				found, err := fetch(ctx, registration)
				if err != nil {
					return err
				}
				conditions, _, _ := unstructured.NestedSlice(found.Object, "status", "conditions")
				if told := fmt.Sprint(conditions); len(conditions) != 1 || conditions[0].(map[string]any)["status"] != available {
					return fmt.Errorf("its conditions are %s", told)
				}
				return nil
			})
		}
	}
	turn(ctx, "nobody", "False")
	DeferCleanup(func(ctx SpecContext) { turn(ctx, "api", "True") }, NodeTimeout(patience))
	return func() { turn(ctx, "api", "True") }
}

func apiService(name string) *unstructured.Unstructured {
	return object(fmt.Sprintf("{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: %s}}", name))
}

func namespaceOf(name string) *unstructured.Unstructured {
	return object(fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", name))
}

// roles are one object of each kind of RBAC, cluster-scoped ones first.
func roles(name, namespace string) []*unstructured.Unstructured {
	GinkgoHelper()
	const group = "rbac.authorization.k8s.io"
	meta := fmt.Sprintf("{name: %s}", name)
	within := fmt.Sprintf("{name: %s, namespace: %s}", name, namespace)
	rules := "rules: [{apiGroups: [nothing.cluster.x-k8s.io], resources: [nothings], verbs: [get]}]"
	binding := func(kind string) string {
		return fmt.Sprintf("roleRef: {apiGroup: %s, kind: %s, name: %s}, subjects: [{kind: ServiceAccount, namespace: openshift-cluster-api, name: nobody}]", group, kind, name)
	}
	var all []*unstructured.Unstructured
	for _, o := range [][3]string{
		{"ClusterRole", meta, rules},
		{"ClusterRoleBinding", meta, binding("ClusterRole")},
		{"Role", within, rules},
		{"RoleBinding", within, binding("Role")},
	} {
		all = append(all, object(fmt.Sprintf("{apiVersion: %s/v1, kind: %s, metadata: %s, %s}", group, o[0], o[1], o[2])))
	}
	return all
}

// goneAll is gone of several objects.
func goneAll(ctx context.Context, objects ...*unstructured.Unstructured) error {
	for _, o := range objects {
		if err := gone(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// deletionsOf are the operator's deletions since a mark, as "resource.group namespace/name", each as often as it was
// accepted, without those of what it keeps for itself.
func deletionsOf(ctx context.Context, since cluster.Mark) []string {
	GinkgoHelper()
	var sent []string
	for _, r := range requests(ctx, since) {
		if r.Verb != "delete" || r.DryRun || r.Code >= http.StatusBadRequest || r.Namespace == harness.OperatorNamespace {
			continue
		}
		resource := r.Resource
		if r.APIGroup != "" {
			resource += "." + r.APIGroup
		}
		sent = append(sent, fmt.Sprintf("%s %s/%s", resource, r.Namespace, r.Name))
	}
	return sent
}
