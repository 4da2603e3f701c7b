package clusterapi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// rbac begins a manifest.
const rbac = "apiVersion: rbac.authorization.k8s.io/v1\n"

// walled is, for the rules of what an image may contain, one object that the API server takes of the operator, and one that
// it refuses.
var walled = []struct{ rule, takes, refuses string }{
	{"kind", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: openshift-cluster-api}}", "{apiVersion: v1, kind: PersistentVolume, metadata: {name: a}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /}}}"},
	{"name", "{apiVersion: v1, kind: ConfigMap, metadata: {name: capstans, namespace: openshift-cluster-api}}", "{apiVersion: v1, kind: ConfigMap, metadata: {name: capstan-recorder, namespace: openshift-cluster-api}}"},
	{"namespace", "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: openshift-cluster-api}}", "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: kube-system}}"},
	{"brought-namespace", "{apiVersion: v1, kind: Namespace, metadata: {name: metal, labels: {pod-security.kubernetes.io/enforce: baseline}}}", "{apiVersion: v1, kind: Namespace, metadata: {name: metal, labels: {pod-security.kubernetes.io/enforce: privileged}}}"},
	{"group", walledDefinition("test.cluster.x-k8s.io"), walledDefinition("machine.example.org")},
	{"subject", bindingOf("manager", "{kind: ServiceAccount, name: a, namespace: openshift-cluster-api}"), bindingOf("manager", "{kind: ServiceAccount, name: a, namespace: kube-system}")},
	{"role", bindingOf("manager", "{kind: ServiceAccount, name: a, namespace: openshift-cluster-api}"), bindingOf("cluster-admin", "{kind: ServiceAccount, name: a, namespace: openshift-cluster-api}")},
	{"permission", rbac + "kind: ClusterRole\nmetadata: {name: a}\nrules: [{apiGroups: [cluster.x-k8s.io], resources: ['*'], verbs: ['*']}]", rbac + "kind: ClusterRole\nmetadata: {name: a}\nrules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]"},
	{"aggregation", rbac + "kind: ClusterRole\nmetadata: {name: a}\naggregationRule: {clusterRoleSelectors: [{matchLabels: {cluster.x-k8s.io/aggregate-to-manager: 'true'}}]}", rbac + "kind: ClusterRole\nmetadata: {name: a, labels: {capi-operator.openshift.io/aggregate-to-installer: 'true'}}\nrules: [{apiGroups: [''], resources: [nodes], verbs: [create]}]"},
	{"webhook", hookFor("cluster.x-k8s.io"), hookFor("*")},
	{"adoption", "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: openshift-cluster-api, annotations: {capi-operator.openshift.io/adopt-existing: always}}, spec: {ports: [{port: 1}]}}", "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: openshift-cluster-api, annotations: {capi-operator.openshift.io/adopt-existing: force}}, spec: {ports: [{port: 1}]}}"},
	{"service", "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: openshift-cluster-api}, spec: {ports: [{port: 1}]}}", "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: openshift-cluster-api}, spec: {type: ExternalName, externalName: example.org}}"},
	{"workload", deploymentWith("hostPID: false"), deploymentWith("hostPID: true")},
}

func walledDefinition(group string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: walls.%[1]s, annotations: {api-approved.kubernetes.io: unapproved}}
spec: {group: %[1]s, scope: Cluster, names: {plural: walls, kind: Wall}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}`, group)
}

func deploymentWith(field string) string {
	return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: openshift-cluster-api}, spec: {selector: {matchLabels: {a: b}}, " +
		"template: {metadata: {labels: {a: b}}, spec: {" + field + ", containers: [{name: a, image: a}]}}}}"
}

func bindingOf(role, subject string) string {
	return rbac + "kind: ClusterRoleBinding\nmetadata: {name: a}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " + role + "}\nsubjects: [" + subject + "]"
}

func hookFor(group string) string {
	return "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: a}, webhooks: [" +
		"{name: a.cluster.x-k8s.io, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {service: {namespace: openshift-cluster-api, name: a}}, " +
		"rules: [{apiGroups: ['" + group + "'], apiVersions: ['*'], operations: ['*'], resources: ['*']}]}]}"
}

// labelledBy is an object of a manifest with labels added.
func labelledBy(document string, added ...string) *unstructured.Unstructured {
	o := object(document)
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	for i := 0; i < len(added); i += 2 {
		labels[added[i]] = added[i+1]
	}
	o.SetLabels(labels)
	return o
}

const exceptedLabel = "capi-operator.openshift.io/policy-exceptions"

// refusal matches the refusal of one of the shipped policies, with texts in its message.
func refusal(policy string, texts ...string) OmegaMatcher {
	all := []OmegaMatcher{MatchError(apierrors.IsForbidden, "IsForbidden"), MatchError(ContainSubstring("ValidatingAdmissionPolicy '" + policy + "' "))}
	for _, text := range texts {
		all = append(all, MatchError(ContainSubstring(text)))
	}
	return And(all...)
}

// userOf is a client of a user who may do everything that RBAC knows a verb for, but the one that opens the walls.
func userOf(ctx context.Context, user string, verbs ...string) client.Client {
	GinkgoHelper()
	name := "walls-" + strings.ReplaceAll(user, ":", "-")
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: append([]string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "bind", "escalate"}, verbs...)},
	}}
	Expect(env.Client.Create(ctx, role)).To(Succeed())
	bound := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	Expect(env.Client.Create(ctx, bound)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		Expect(env.Client.Delete(ctx, bound)).To(Succeed())
		Expect(env.Client.Delete(ctx, role)).To(Succeed())
	})
	config, err := env.Cluster.ConfigFor(user)
	Expect(err).NotTo(HaveOccurred())
	c, err := harness.NewClient(config)
	Expect(err).NotTo(HaveOccurred())
	eventually(ctx, "the rights of "+user, func(ctx context.Context) error {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "create", Resource: "persistentvolumes"},
		}}
		if err := c.Create(ctx, review); err != nil {
			return err
		}
		if !review.Status.Allowed {
			return errors.New("it has none yet")
		}
		return nil
	})
	return c
}

var _ = Describe("The wall outside of the process", func() {
	user := "system:serviceaccount:" + harness.OperatorNamespace + ":" + harness.ServiceAccount

	It("holds the operator's ServiceAccount to what an image may contain, whatever rights it has", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType})
		operator := operatorWithAllRights(ctx, user)
		for _, w := range walled {
			Expect(operator.Create(ctx, labelledBy(w.takes, harness.ManagedByLabel, "a"), client.DryRunAll)).To(Succeed(), "rule %s", w.rule)
			policy := "capstan-contents"
			if w.rule == "role" {
				policy = "capstan-cluster-roles"
			}
			refused := labelledBy(w.refuses, harness.ManagedByLabel, "a")
			Eventually(ctx, func() error { return operator.Create(ctx, refused.DeepCopy(), client.DryRunAll) }).WithTimeout(patience).Should(refusal(policy, refused.GetKind()+" ", refused.GetName()+" breaks rule "+w.rule+" of the policy",
				"exception in ConfigMap openshift-cluster-api-operator/capi-installer-exceptions"), "rule %s", w.rule)
			// An administrator is not the operator.
			Expect(env.Client.Create(ctx, refused, client.DryRunAll)).To(Succeed(), "rule %s", w.rule)
		}
	})

	It("lets the operator break a rule only by an exception that there is", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType})
		operator := operatorWithAllRights(ctx, user)
		role := labelledBy(rbac+"kind: ClusterRole\nmetadata: {name: shell}\nrules: [{apiGroups: [''], resources: [pods/exec], verbs: [create]}]",
			harness.ManagedByLabel, "a", exceptedLabel, "permission")
		Eventually(ctx, func() error { return operator.Create(ctx, role.DeepCopy(), client.DryRunAll) }).WithTimeout(patience).Should(
			And(MatchError(ContainSubstring("ValidatingAdmissionPolicy 'capstan-exceptions' ")), MatchError(ContainSubstring("no params found"))))
		exceptions := allow(ctx, "registry.example/a@sha256:00", "permission", "ClusterRole shel")
		Eventually(ctx, func() error { return operator.Create(ctx, role.DeepCopy(), client.DryRunAll) }).WithTimeout(patience).Should(refusal("capstan-exceptions",
			"ClusterRole shell breaks rule permission of the policy, and ConfigMap openshift-cluster-api-operator/capi-installer-exceptions has no exception for that"))
		exceptions.Data["mine"] = strings.Replace(exceptions.Data["mine"], "shel\n", "shell\n", 1)
		Expect(env.Client.Update(ctx, exceptions)).To(Succeed())
		eventually(ctx, "the exception to let it through", func(ctx context.Context) error { return operator.Create(ctx, role.DeepCopy(), client.DryRunAll) })
	})

	It("holds the operator's ServiceAccount to what it manages", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: map[string]string{}})
		operator := operatorWithAllRights(ctx, user)
		theirs := object("{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs, namespace: openshift-cluster-api}}")
		Expect(env.Client.Create(ctx, theirs)).To(Succeed())
		neither := "neither its own nor does it carry the label"
		for what, attempt := range map[string]func() error{
			"creates what it does not manage": func() error {
				return operator.Create(ctx, object("{apiVersion: v1, kind: ConfigMap, metadata: {name: more, namespace: openshift-cluster-api}}"), client.DryRunAll)
			},
			"changes what is another's": func() error {
				return operator.Patch(ctx, theirs.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"data":{"a":"b"}}`)), client.DryRunAll)
			},
			"deletes what is another's": func() error { return operator.Delete(ctx, theirs.DeepCopy(), client.DryRunAll) },
			"writes the list of images": func() error { return operator.Delete(ctx, list(harness.ImagesConfigMap), client.DryRunAll) },
			"makes itself an exception": func() error { return operator.Create(ctx, list("capi-installer-exceptions"), client.DryRunAll) },
			"makes itself a token": func() error {
				account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: harness.ServiceAccount}}
				return operator.SubResource("token").Create(ctx, account, &authenticationv1.TokenRequest{})
			},
			"gives itself more rights": func() error {
				return operator.Patch(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "capstan"}}, client.RawPatch("application/merge-patch+json", []byte(`{"rules":[]}`)), client.DryRunAll)
			},
		} {
			Eventually(ctx, attempt).WithTimeout(patience).Should(refusal("capstan-writes", neither), "it %s", what)
		}
		// A label does not make it the operator's, either.
		mine := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"`+harness.ManagedByLabel+`":"a"}}}`))
		for _, o := range []client.Object{
			&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "cluster-admin"}}, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "capstan"}},
			list(harness.ImagesConfigMap), theirs.DeepCopy(),
		} {
			Expect(operator.Patch(ctx, o, mine, client.DryRunAll)).To(Or(refusal("capstan-writes", neither), refusal("capstan-contents")), o.GetName())
		}
	})

	It("lets only the operator write its records, only the release its list, and whoever has the verb for it", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: map[string]string{}})
		inventory := list("capstan-inventory-7")
		Expect(env.Client.Create(ctx, inventory)).To(Succeed())
		need := &requirementsv1alpha1.CompatibilityRequirement{ObjectMeta: metav1.ObjectMeta{Name: "need"}}
		need.Spec.CompatibilitySchema.CustomResourceDefinition = requirementsv1alpha1.CRDData{Type: requirementsv1alpha1.CRDDataTypeYAML, Data: "{}"}
		need.Spec.CompatibilitySchema.RequiredVersions.DefaultSelection = requirementsv1alpha1.APIVersionSetTypeStorageOnly
		Expect(env.Client.Create(ctx, need)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(env.Client.Delete(ctx, need)).To(Succeed()) })
		changed := func(o *corev1.ConfigMap) *corev1.ConfigMap {
			o = o.DeepCopy()
			o.Data = map[string]string{"a": "b"}
			return o
		}
		attempts := map[string]func(c client.Client) error{
			"the status": func(c client.Client) error {
				api := &operatorv1alpha1.ClusterAPI{ObjectMeta: metav1.ObjectMeta{Name: harness.Singleton}}
				return c.Status().Patch(ctx, api, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"a":"b"}}}`)), client.DryRunAll)
			},
			"the status of a requirement": func(c client.Client) error {
				return c.Status().Patch(ctx, need.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"a":"b"}}}`)), client.DryRunAll)
			},
			"an inventory":      func(c client.Client) error { return c.Create(ctx, list("capstan-inventory-8"), client.DryRunAll) },
			"one that is there": func(c client.Client) error { return c.Update(ctx, changed(inventory), client.DryRunAll) },
			"one of any name":   func(c client.Client) error { return c.Create(ctx, labelledInventory(), client.DryRunAll) },
			"none any more":     func(c client.Client) error { return c.Delete(ctx, inventory.DeepCopy(), client.DryRunAll) },
			"the recorder":      func(c client.Client) error { return c.Create(ctx, list("capstan-recorder"), client.DryRunAll) },
			"the history":       func(c client.Client) error { return c.Create(ctx, list("capstan-history"), client.DryRunAll) },
			"a record": func(c client.Client) error {
				return c.Create(ctx, list("capstan-clusterapi-records"), client.DryRunAll)
			},
			"the list of images": func(c client.Client) error {
				return c.Update(ctx, changed(list(harness.ImagesConfigMap)), client.DryRunAll)
			},
			"the exceptions": func(c client.Client) error { return c.Create(ctx, list("capi-installer-exceptions"), client.DryRunAll) },
		}
		release := userOf(ctx, "system:serviceaccount:openshift-cluster-version:cluster-version-operator")
		mallory, helper := userOf(ctx, "mallory"), userOf(ctx, "helper", "intervene")
		refused := And(MatchError(apierrors.IsForbidden, "IsForbidden"), MatchError(ContainSubstring("needs the verb intervene on clusterapis.operator.openshift.io cluster")))
		for what, attempt := range attempts {
			Eventually(ctx, func() error { return attempt(mallory) }).WithTimeout(patience).Should(refused, what)
			Expect(attempt(helper)).To(Succeed(), what)
			if what == "the list of images" || what == "the exceptions" {
				Expect(attempt(release)).To(Succeed(), what)
			} else {
				Expect(attempt(release)).To(refused, what)
			}
		}
		// Whoever migrates what is stored writes each object as it is.
		Expect(mallory.Update(ctx, inventory.DeepCopy(), client.DryRunAll)).To(Succeed())
		// Once they are there, the exceptions are the administrator's.
		exceptions := list("capi-installer-exceptions")
		Expect(env.Client.Create(ctx, exceptions)).To(Succeed())
		Expect(release.Update(ctx, changed(exceptions), client.DryRunAll)).To(refusal("capstan-release", "is written by who brings the cluster's release"))
		Expect(helper.Update(ctx, changed(exceptions), client.DryRunAll)).To(Succeed())
	})
})

var _ = Describe("The wall around the operator's namespace", func() {
	It("keeps providers from writing there, and from tokens of the cluster's accounts, whatever rights they have", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: map[string]string{}})
		manager := userOf(ctx, "system:serviceaccount:openshift-cluster-api:capi-manager", "*")
		account := func(namespace, name string) *corev1.ServiceAccount {
			return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		}
		tokenOf := func(namespace string) *corev1.Secret {
			return &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "a-", Annotations: map[string]string{corev1.ServiceAccountNameKey: "default"}},
				Type:       corev1.SecretTypeServiceAccountToken,
			}
		}
		tenant := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "tenant-"}}
		Expect(env.Client.Create(ctx, tenant)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(env.Client.Delete(ctx, tenant)).To(Succeed()) })
		for what, attempt := range map[string]func(c client.Client) error{
			"a ConfigMap": func(c client.Client) error { return c.Create(ctx, list("anything"), client.DryRunAll) },
			"the list":    func(c client.Client) error { return c.Delete(ctx, list(harness.ImagesConfigMap), client.DryRunAll) },
			"a token Secret": func(c client.Client) error {
				return c.Create(ctx, tokenOf(harness.OperatorNamespace), client.DryRunAll)
			},
			"a token": func(c client.Client) error {
				return c.SubResource("token").Create(ctx, account(harness.OperatorNamespace, harness.ServiceAccount), &authenticationv1.TokenRequest{})
			},
		} {
			// Of several policies that refuse, the API server tells one.
			refused := SatisfyAny(refusal("capstan-namespace", "no provider has anything to write there"), refusal("capstan-tokens", "may not make tokens"))
			Eventually(ctx, func() error { return attempt(manager) }).WithTimeout(patience).Should(refused, what)
			Expect(attempt(env.Client)).To(Succeed(), what)
		}
		for what, attempt := range map[string]func(namespace string) error{
			"a token Secret": func(namespace string) error { return manager.Create(ctx, tokenOf(namespace), client.DryRunAll) },
			"a token": func(namespace string) error {
				return manager.SubResource("token").Create(ctx, account(namespace, "default"), &authenticationv1.TokenRequest{})
			},
		} {
			Eventually(ctx, func() error { return attempt("kube-system") }).WithTimeout(patience).Should(
				refusal("capstan-tokens", "capi-manager may not make tokens of ServiceAccounts in namespace kube-system"), what)
			for _, namespace := range []string{"openshift-cluster-api", tenant.Name} {
				eventually(ctx, what+" in "+namespace, func(context.Context) error { return attempt(namespace) })
			}
		}
		// What else a provider writes in a namespace of the cluster is a matter of its rights.
		secret := tokenOf("kube-system")
		secret.Type, secret.Annotations = corev1.SecretTypeOpaque, nil
		Expect(manager.Create(ctx, secret, client.DryRunAll)).To(Succeed())
	})
})

// operatorWithAllRights is a client of the operator's ServiceAccount, which is a cluster administrator until the spec ends:
// what is refused then, no missing right refuses. It returns when the policies are in force.
func operatorWithAllRights(ctx context.Context, user string) client.Client {
	GinkgoHelper()
	return userOf(ctx, user, "*")
}

// list is a ConfigMap of the operator's namespace.
func list(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: name}}
}

func labelledInventory() *corev1.ConfigMap {
	o := list("anything")
	o.Labels = map[string]string{"capi-operator.openshift.io/inventory": "cluster"}
	return o
}
