package policy_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/render/policy"
)

const image = "registry.example/capi@sha256:aa"

// providers allows what a provider needs.
var providers = policy.Policy{Namespaces: []string{"capi"}}

// parse reads documents.
func parse(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for _, document := range strings.Split(text, "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
	return objects
}

// broken are the rules that the first of some documents breaks, each with its path.
func broken(t *testing.T, p policy.Policy, text string) []string {
	t.Helper()
	var found []string
	for _, b := range p.Check(image, parse(t, text))[0].Breaches {
		if b.Why == "" {
			t.Errorf("no cause is given for %+v", b)
		}
		found = append(found, strings.TrimRight(b.Rule+" "+b.Path, " "))
	}
	return found
}

const (
	header  = "apiVersion: rbac.authorization.k8s.io/v1\n"
	cluster = header + "kind: ClusterRole\nmetadata: {name: manager}\n"
	binding = header + "kind: ClusterRoleBinding\nmetadata: {name: manager}\n"
	ref     = "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: manager}\n"
	subject = "subjects: [{kind: ServiceAccount, namespace: capi, name: manager}]\n"
	hook    = "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata: {name: hook}\nwebhooks:\n"
	service = "clientConfig: {service: {namespace: capi, name: hook}}"
	vap     = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: policy}\n"
	crd     = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.x}\n"
)

// row is one object, with what is beside it, and the rules that it breaks.
type row struct {
	name, text string
	broken     []string
}

// judge checks each row against the policy of a provider, by both walls.
func judge(t *testing.T, rows []row) {
	t.Helper()
	wall := second(t, "capstan-contents")
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := broken(t, providers, row.text); !slices.Equal(got, row.broken) {
				t.Errorf("breaks %q, want %q", got, row.broken)
			}
			agree(t, wall, row)
		})
	}
}

// cases are what an image may contain and may not.
var cases = []row{
	{"a Service", "{apiVersion: v1, kind: Service, metadata: {namespace: capi, name: a}}", nil},
	{"a custom resource of Cluster API", "{apiVersion: ipam.cluster.x-k8s.io/v1, kind: Pool, metadata: {name: a}}", nil},
	{"a Node", "{apiVersion: v1, kind: Node, metadata: {name: a}}", []string{"kind kind"}},
	{"a kind of the same name in another group", "{apiVersion: example.org/v1, kind: Deployment, metadata: {namespace: capi, name: a}}", []string{"kind kind"}},
	{"a group that only ends like Cluster API's", "{apiVersion: evil-cluster.x-k8s.io/v1, kind: A, metadata: {namespace: capi, name: a}}", []string{"kind kind"}},

	{"a name of the installer's", "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: capi, name: capstan-inventory-3}}", []string{"name metadata.name"}},
	{"the list of images", "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: capi, name: capi-installer-images}}", []string{"name metadata.name"}},
	{"a name that only begins like it", "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: capi, name: capstans}}", nil},

	{"another namespace", "{apiVersion: v1, kind: Secret, metadata: {namespace: kube-system, name: a}}", []string{"namespace metadata.namespace"}},
	{"no namespace where one belongs", "{apiVersion: v1, kind: Secret, metadata: {name: a}}", []string{"namespace metadata.namespace"}},
	{"a custom resource in another namespace", "{apiVersion: cluster.x-k8s.io/v1, kind: Cluster, metadata: {namespace: default, name: a}}", []string{"namespace metadata.namespace"}},
	{"a Namespace of the providers", "{apiVersion: v1, kind: Namespace, metadata: {name: capi}}", nil},
	{"a Namespace of its own", "{apiVersion: v1, kind: Namespace, metadata: {name: metal}}", nil},
	{"an object in a Namespace of its own", "{apiVersion: v1, kind: Secret, metadata: {namespace: metal, name: a}}\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: metal}}", nil},
	{"a cluster-wide object in a namespace", header + "kind: ClusterRole\nmetadata: {namespace: capi, name: a}", []string{"namespace metadata.namespace"}},
	{"the adoption of a cluster-wide object in a namespace", header + "kind: ClusterRole\nmetadata: {namespace: capi, name: a, annotations: {capi-operator.openshift.io/adopt-existing: always}}", []string{"namespace metadata.namespace", "adoption metadata.annotations.capi-operator.openshift.io/adopt-existing"}},
	{"an object in a Namespace of the cluster that is beside it", "{apiVersion: v1, kind: Secret, metadata: {namespace: openshift-etcd, name: a}}\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: openshift-etcd}}", []string{"namespace metadata.namespace"}},
	{"a binding for a Namespace of the cluster that is beside it", binding + ref + "subjects: [{kind: ServiceAccount, namespace: default, name: default}]\n---\n" + cluster + "---\n{apiVersion: v1, kind: Namespace, metadata: {name: default}}", []string{"subject subjects[0]"}},
	{"the default Namespace", "{apiVersion: v1, kind: Namespace, metadata: {name: default}}", []string{"brought-namespace metadata.name"}},
	{"a Namespace of Kubernetes", "{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}", []string{"brought-namespace metadata.name"}},
	{"a Namespace of OpenShift", "{apiVersion: v1, kind: Namespace, metadata: {name: openshift-etcd}}", []string{"brought-namespace metadata.name"}},
	{"a Namespace without walls", "{apiVersion: v1, kind: Namespace, metadata: {name: capi, labels: {pod-security.kubernetes.io/enforce: privileged}}}", []string{"brought-namespace metadata.labels.pod-security.kubernetes.io/enforce"}},
	{"a Namespace without constraints", "{apiVersion: v1, kind: Namespace, metadata: {name: capi, labels: {openshift.io/run-level: '0'}}}", []string{"brought-namespace metadata.labels.openshift.io/run-level"}},

	{"a definition", crd + "spec: {group: infrastructure.cluster.x-k8s.io}", nil},
	{"a definition of another group", crd + "spec: {group: machine.openshift.io}", []string{"group spec.group"}},
	{"a definition that nobody can read", crd + "spec: [1]", []string{"group spec"}},
	{"a definition whose group nobody can read", crd + "spec: {group: [1]}", []string{"group", "group spec.group"}},
	{"a definition converted in a Service", crd + "spec: {group: cluster.x-k8s.io, conversion: {strategy: Webhook, webhook: {" + service + "}}}", nil},
	{"a definition converted elsewhere", crd + "spec: {group: cluster.x-k8s.io, conversion: {webhook: {clientConfig: {url: 'https://a'}}}}", []string{"group spec.conversion.webhook.clientConfig.url"}},
	{"a definition converted in another namespace", crd + "spec: {group: cluster.x-k8s.io, conversion: {webhook: {clientConfig: {service: {namespace: default, name: a}}}}}", []string{"group spec.conversion.webhook.clientConfig.service"}},

	{"a binding to its own role", binding + ref + subject + "---\n" + cluster, nil},
	{"a binding to a role that is not there", binding + ref + subject, []string{"role roleRef"}},
	{"a binding to cluster-admin", binding + strings.Replace(ref, "manager", "cluster-admin", 1) + subject + "---\n" + cluster, []string{"role roleRef"}},
	{"a binding for a user", binding + ref + "subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: eve}]\n---\n" + cluster, []string{"subject subjects[0]"}},
	{"a binding for everybody", binding + ref + "subjects: [{kind: Group, apiGroup: rbac.authorization.k8s.io, name: 'system:authenticated'}]\n---\n" + cluster, []string{"subject subjects[0]"}},
	{"a binding for another namespace's account", binding + ref + "subjects: [{kind: ServiceAccount, namespace: default, name: default}]\n---\n" + cluster, []string{"subject subjects[0]"}},
	{
		"a RoleBinding to a Role of another namespace", header + "kind: RoleBinding\nmetadata: {namespace: capi, name: a}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}\n" + subject +
			"---\n" + header + "kind: Role\nmetadata: {namespace: other, name: r}\n", []string{"role roleRef"},
	},

	{"what providers ask for", cluster + `rules:
- {apiGroups: [""], resources: [secrets, configmaps, nodes], verbs: [get, list, watch, create, update, patch, delete]}
- {apiGroups: [rbac.authorization.k8s.io], resources: [roles, rolebindings], verbs: [create]}
- {apiGroups: [infrastructure.cluster.x-k8s.io, cluster.x-k8s.io], resources: ["*"], verbs: ["*"]}
- {apiGroups: [security.openshift.io], resources: [securitycontextconstraints], verbs: [use], resourceNames: [nonroot-v2]}
- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions, customresourcedefinitions/status], verbs: [update, patch], resourceNames: [clusters.cluster.x-k8s.io]}
- {nonResourceURLs: [/metrics], verbs: [get]}`, nil},
	{"escalate", cluster + `rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [get, escalate]}]`, []string{"permission rules[0].verbs"}},
	{"impersonation of one kind alone", cluster + `rules: [{apiGroups: [authentication.k8s.io], resources: [users], verbs: ["impersonate:user-info"]}]`, []string{"permission rules[0].verbs", "permission rules[0].resources"}},
	{"every verb", cluster + `rules: [{apiGroups: [""], resources: [pods], verbs: ["*"]}]`, []string{"permission rules[0].verbs", "permission rules[0].resources"}},
	{"every verb also outside Cluster API", cluster + `rules: [{apiGroups: [cluster.x-k8s.io, ""], resources: [pods], verbs: ["*"]}]`, []string{"permission rules[0].verbs", "permission rules[0].resources"}},
	{"every group", cluster + `rules: [{apiGroups: ["*"], resources: [pods], verbs: [get]}]`, []string{"permission rules[0].apiGroups"}},
	{"every resource", cluster + `rules: [{apiGroups: [apps], resources: ["*"], verbs: [get]}]`, []string{"permission rules[0].resources"}},
	{"every subresource", cluster + `rules: [{apiGroups: [""], resources: [pods/*], verbs: [get]}]`, []string{"permission rules[0].resources"}},
	{"exec, by reading", cluster + `rules: [{apiGroups: [""], resources: [pods/exec, nodes/proxy], verbs: [get]}]`, []string{"permission rules[0].resources", "permission rules[0].resources"}},
	{"tokens", cluster + `rules: [{apiGroups: [""], resources: [serviceaccounts/token], verbs: [create]}]`, []string{"permission rules[0].resources"}},
	{"cluster-wide RBAC, to write", cluster + `rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [patch]}]`, []string{"permission rules[0].resources"}},
	{"cluster-wide RBAC, to read", cluster + `rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [get, list]}]`, nil},
	{"admission, to write", cluster + `rules: [{apiGroups: [admissionregistration.k8s.io], resources: [validatingwebhookconfigurations], verbs: [deletecollection]}]`, []string{"permission rules[0].resources"}},
	{"the installer's record", cluster + `rules: [{apiGroups: [operator.openshift.io], resources: [clusterapis/status], verbs: [patch]}]`, []string{"permission rules[0].resources"}},
	{"any constraint", cluster + `rules: [{apiGroups: [security.openshift.io], resources: [securitycontextconstraints], verbs: [use]}]`, []string{"permission rules[0].resourceNames"}},
	{"the privileged constraint", cluster + `rules: [{apiGroups: [security.openshift.io], resources: [securitycontextconstraints], verbs: [use], resourceNames: [nonroot-v2, privileged]}]`, []string{"permission rules[0].resourceNames"}},
	{"every URL", cluster + `rules: [{nonResourceURLs: ["*"], verbs: [get]}]`, []string{"permission rules[0].nonResourceURLs"}},
	{"a Role with the same", header + "kind: Role\nmetadata: {namespace: capi, name: a}\n" + `rules: [{apiGroups: [""], resources: [pods/exec], verbs: [create]}]`, []string{"permission rules[0].resources"}},

	{"aggregation among Cluster API", cluster + `aggregationRule: {clusterRoleSelectors: [{matchLabels: {infrastructure.cluster.x-k8s.io/aggregate-to-manager: "true"}}]}`, nil},
	{"aggregation of everything", cluster + `aggregationRule: {clusterRoleSelectors: [{}]}`, []string{"aggregation aggregationRule.clusterRoleSelectors[0]"}},
	{"aggregation of admin's", cluster + `aggregationRule: {clusterRoleSelectors: [{matchLabels: {rbac.authorization.k8s.io/aggregate-to-admin: "true"}}]}`, []string{"aggregation aggregationRule.clusterRoleSelectors[0]"}},
	{"aggregation to admin", header + `kind: ClusterRole
metadata: {name: a, labels: {rbac.authorization.k8s.io/aggregate-to-admin: "true"}}`, []string{"aggregation metadata.labels"}},
	{"rights for the installer on Cluster API", header + `kind: ClusterRole
metadata: {name: a, labels: {capi-operator.openshift.io/aggregate-to-installer: "true"}}
rules: [{apiGroups: [cluster.x-k8s.io], resources: ["*"], verbs: [create]}]`, nil},
	{"other rights for the installer", header + `kind: ClusterRole
metadata: {name: a, labels: {capi-operator.openshift.io/aggregate-to-installer: "true"}}
rules: [{apiGroups: [""], resources: [nodes], verbs: [create]}]`, []string{"aggregation metadata.labels"}},

	{"rights for the installer out of another role", header + `kind: ClusterRole
metadata: {name: a, labels: {capi-operator.openshift.io/aggregate-to-installer: "true"}}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {cluster.x-k8s.io/aggregate-to-manager: "true"}}]}`, []string{"aggregation aggregationRule"}},
	{"aggregation by a label without a domain", header + `kind: ClusterRole
metadata: {name: a, labels: {aggregate-to-monitoring: "true"}}`, []string{"aggregation metadata.labels"}},

	{"a webhook for Cluster API", hook + "- {" + service + ", rules: [{apiGroups: [cluster.x-k8s.io], resources: [clusters]}]}", nil},
	{"a webhook for everything", hook + "- {" + service + `, rules: [{apiGroups: ["*"], resources: ["*"]}]}`, []string{"webhook webhooks[0].rules[0]"}},
	{
		"a webhook for Secrets of the providers", hook + "- {" + service + `, rules: [{apiGroups: [""], resources: [secrets], scope: Namespaced}], namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: capi}}}`, nil,
	},
	{
		"a webhook for what has no namespace", hook + "- {" + service + `, rules: [{apiGroups: [""], resources: ["*"]}], namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: capi}}}`,
		[]string{"webhook webhooks[0].rules[0]"},
	},
	{
		"a webhook for one namespace more", hook + "- {" + service + `, rules: [{apiGroups: [""], resources: [secrets], scope: Namespaced}], namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [capi, default]}]}}`,
		[]string{"webhook webhooks[0].rules[0]"},
	},
	{"a webhook elsewhere", hook + "- {clientConfig: {url: 'https://a'}, rules: [{apiGroups: [cluster.x-k8s.io]}]}", []string{"webhook webhooks[0].clientConfig.url"}},
	{"a webhook in another namespace", hook + "- {clientConfig: {service: {namespace: default, name: a}}, rules: [{apiGroups: [cluster.x-k8s.io]}]}", []string{"webhook webhooks[0].clientConfig.service"}},

	{"an admission policy for Cluster API", vap + "spec: {matchConstraints: {resourceRules: [{apiGroups: [cluster.x-k8s.io], resources: [clusters]}]}}", nil},
	{"an admission policy for everything", vap + `spec: {matchConstraints: {resourceRules: [{apiGroups: ["*"], resources: ["*"]}]}}`, []string{"admission spec.matchConstraints.resourceRules[0]"}},
	{"an admission policy that does not say", vap + `spec: {}`, []string{"admission spec.matchConstraints"}},
	{"a binding to its own policy", strings.Replace(vap, "Policy", "PolicyBinding", 1) + "spec: {policyName: policy}\n---\n" + vap, nil},
	{"a binding to another's policy", strings.Replace(vap, "Policy", "PolicyBinding", 1) + "spec: {policyName: theirs}\n---\n" + vap, []string{"admission spec.policyName"}},
}

func TestCheck(t *testing.T) { judge(t, cases) }

func TestCheck_anException_isForOneRuleOfOneObjectOfOneImage(t *testing.T) {
	node := "{apiVersion: v1, kind: Secret, metadata: {namespace: other, name: a}}"
	right := policy.Exception{Name: "a", Reason: "b", Image: image, Rule: "namespace", Object: "Secret other/a"}
	for name, row := range map[string]struct {
		change func(*policy.Exception)
		covers bool
	}{
		"as it is":           {func(*policy.Exception) {}, true},
		"for the repository": {func(e *policy.Exception) { e.Image = "registry.example/capi" }, true},
		"another digest":     {func(e *policy.Exception) { e.Image = "registry.example/capi@sha256:bb" }, false},
		"another repository": {func(e *policy.Exception) { e.Image = "registry.example/cap" }, false},
		"another rule":       {func(e *policy.Exception) { e.Rule = "kind" }, false},
		"another object":     {func(e *policy.Exception) { e.Object = "Secret other/b" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := right
			row.change(&e)
			p := providers
			p.Exceptions = []policy.Exception{e}
			if got := broken(t, p, node); (len(got) == 0) != row.covers {
				t.Errorf("breaks %q", got)
			}
		})
	}
}

func TestCheck_namesTheRulesThatAreBroken_byExceptionAndOtherwise(t *testing.T) {
	objects := parse(t, "{apiVersion: v1, kind: Node, metadata: {name: capstan}}")
	p := providers
	p.Exceptions = []policy.Exception{{Image: image, Rule: "kind", Object: "Node capstan"}}
	v := p.Check(image, objects)[0]
	if !slices.Equal(v.Excepted, []string{"kind"}) || !slices.Equal(v.Broken(), []string{"kind", "name"}) {
		t.Errorf("got %+v", v)
	}
}

func TestParseExceptions(t *testing.T) {
	good := "# for a while\nreason: it needs it: really\n\nimage: registry.example:5000/capi\nrule: permission\nobject: ClusterRole system:a \n"
	parsed, err := policy.ParseExceptions(map[string]string{"two": good, "one": good})
	want := policy.Exception{Name: "one", Reason: "it needs it: really", Image: "registry.example:5000/capi", Rule: "permission", Object: "ClusterRole system:a"}
	if err != nil || len(parsed) != 2 || parsed[0] != want {
		t.Errorf("got %+v, %v", parsed, err)
	}
	for text, want := range map[string]string{
		strings.Replace(good, "permission", "permissions", 1):    `there is no rule "permissions"`,
		strings.Replace(good, "reason: it", "# reason: it", 1):   "reason is missing",
		strings.Replace(good, "reason", "because: x\nreason", 1): `line "because: x" is not one of reason, image, rule or object`,
		strings.Replace(good, "rule", "rule: role\nrule", 1):     "rule is there twice",
		strings.Replace(good, "permission", "'permission'", 1):   "rule begins with \"'\": write the value plainly",
		"{reason: a, image: b, rule: role, object: Role a/b}":    "is not one of reason",
		"": "object is missing",
	} {
		if parsed, err := policy.ParseExceptions(map[string]string{"one": text}); err == nil || !strings.Contains(err.Error(), "exception one: ") || !strings.Contains(err.Error(), want) || parsed != nil {
			t.Errorf("%s: got %v, %v, want %s", text, parsed, err, want)
		}
	}
}
