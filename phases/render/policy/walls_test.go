package policy_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kadmission "k8s.io/apiserver/pkg/admission"

	"github.com/capstan-capi/capstan/phases/render/admission"
	"github.com/capstan-capi/capstan/phases/render/admission/admissiontest"
	"github.com/capstan-capi/capstan/phases/render/policy"
)

// second is the wall that an API server is, for the installation that deploy/ brings, whose namespace of the providers is
// called as in these tests.
func second(t *testing.T, name string) *admissiontest.Policy {
	t.Helper()
	installation := admission.Shipped
	installation.Policy = &providers
	for _, o := range installation.Objects() {
		if o.GetName() == name {
			p, err := admissiontest.New(o)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
	}
	t.Fatalf("there is no policy %s", name)
	return nil
}

// judged are the rules that the policy of contents asks about, in its order.
func judged() []string {
	var names []string
	for _, r := range policy.Rules {
		if r.Expression(&providers) != "" {
			names = append(names, r.Name)
		}
	}
	return names
}

// managed is an object as the installer applies it.
func managed(o *unstructured.Unstructured) *unstructured.Unstructured {
	o = o.DeepCopy()
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[policy.ManagedByLabel] = "component"
	o.SetLabels(labels)
	return o
}

// refusing are the rules by which the second wall refuses that an object is created.
func refusing(t *testing.T, wall *admissiontest.Policy, r admissiontest.Request) []string {
	t.Helper()
	answers, err := wall.Ask(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	names := judged()
	if len(answers) != len(names) {
		t.Fatalf("%d validations for %d rules", len(answers), len(names))
	}
	var refusing []string
	for i, a := range answers {
		if a.Refused == "" {
			continue
		}
		refusing = append(refusing, names[i])
		if !strings.HasPrefix(a.Refused, "error: ") && !strings.Contains(a.Refused, r.Object.GetName()+" breaks rule "+names[i]+" of the policy: ") {
			t.Errorf("the message is %q", a.Refused)
		}
	}
	return refusing
}

// unsaid are the rules that the policy of contents does not ask about.
var unsaid = []string{"role", "admission", "requirement"}

// unseen are the rows that only the first wall refuses.
var unseen = map[string]string{
	"no namespace where one belongs":       "an API server gives it one",
	"a cluster-wide object in a namespace": "an API server takes the namespace off",

	"the adoption of a cluster-wide object in a namespace": "an API server takes the namespace off",

	"another profile's account":                   "what is in the profile is not seen",
	"another profile's account, by the old field": "what is in the profile is not seen",
}

func TestTheSecondWall_asksAboutAllRulesButThree(t *testing.T) {
	var missing []string
	for _, r := range policy.Rules {
		if r.Expression(&providers) == "" {
			missing = append(missing, r.Name)
		}
	}
	if !slices.Equal(missing, unsaid) {
		t.Errorf("rules %q have no expression, want %q", missing, unsaid)
	}
}

// agree asks the second wall about a row, which it is to refuse by the same rules as the first.
func agree(t *testing.T, wall *admissiontest.Policy, r row) {
	t.Helper()
	objects := parse(t, r.text)
	var want []string
	for _, broken := range r.broken {
		if rule, _, _ := strings.Cut(broken, " "); unseen[r.name] == "" && !slices.Contains(unsaid, rule) && !slices.Contains(want, rule) {
			want = append(want, rule)
		}
	}
	got := refusing(t, wall, admissiontest.Request{Operation: kadmission.Create, Object: managed(objects[0]), Namespace: namespaceOf(objects)})
	if !slices.Equal(got, want) {
		t.Errorf("refused by %q, and by the first wall by %q", got, want)
	}
}

// namespaceOf is the Namespace of the first of some objects, as it is when the others were applied.
func namespaceOf(objects []*unstructured.Unstructured) *corev1.Namespace {
	name := objects[0].GetNamespace()
	if name == "" {
		return nil
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, o := range objects[1:] {
		if o.GetKind() == "Namespace" && o.GetName() == name {
			namespace.Labels = managed(o).GetLabels()
		}
	}
	return namespace
}

func TestTheSecondWall_lets_what_others_have_put_into_a_managed_object(t *testing.T) {
	wall := second(t, "capstan-contents")
	for name, row := range map[string]struct{ good, bad, rule string }{
		"a subject": {
			binding + ref + subject, binding + ref + "subjects: [{kind: ServiceAccount, namespace: capi, name: manager}, {kind: User, name: eve}]\n", "subject",
		},
		"a rule":            {cluster, cluster + `rules: [{apiGroups: [""], resources: [pods/exec], verbs: [create]}]`, "permission"},
		"a label":           {cluster, header + "kind: ClusterRole\nmetadata: {name: manager, labels: {rbac.authorization.k8s.io/aggregate-to-admin: 'true'}}", "aggregation"},
		"a webhook":         {hook + " []", hook + "- {" + service + `, rules: [{apiGroups: ["*"], resources: ["*"]}]}`, "webhook"},
		"a converting host": {crd + "spec: {group: cluster.x-k8s.io}", crd + "spec: {group: cluster.x-k8s.io, conversion: {webhook: {clientConfig: {url: 'https://a'}}}}", "group"},
		"a privilege":       {"{apiVersion: v1, kind: Namespace, metadata: {name: capi}}", "{apiVersion: v1, kind: Namespace, metadata: {name: capi, labels: {openshift.io/run-level: '0'}}}", "brought-namespace"},
		"a mark": {
			"{apiVersion: v1, kind: Namespace, metadata: {name: capi}}", "{apiVersion: v1, kind: Namespace, metadata: {name: capi, annotations: {openshift.io/sa.scc.mcs: a}}}", "brought-namespace",
		},
		"an adoption":         {cluster, header + "kind: ClusterRole\nmetadata: {name: manager, annotations: {capi-operator.openshift.io/adopt-existing: force}}", "adoption"},
		"a share of the node": {runs("Deployment", "hostPID: false"), runs("Deployment", "hostPID: true"), "workload"},
		"a node":              {runs("Deployment", "hostPID: false"), runs("Deployment", "nodeName: a"), "workload"},
		"a pod's profile":     {runs("CronJob", "hostPID: false"), runs("CronJob", "securityContext: {seccompProfile: {type: Unconfined}}"), "workload"},
		"a volume":            {runs("Deployment", "volumes: []"), runs("Deployment", "volumes: [{name: a, hostPath: {path: /}}]"), "workload"},
		"a privileged container": {
			runs("Deployment", "containers: [{name: a}]"), runs("Deployment", "containers: [{name: a, securityContext: {privileged: true}}]"), "workload",
		},
		"a Service's address": {
			"{apiVersion: v1, kind: Service, metadata: {namespace: capi, name: a}}", "{apiVersion: v1, kind: Service, metadata: {namespace: capi, name: a}, spec: {externalIPs: [10.0.0.1]}}", "service",
		},
		"a monitor's token": {
			"{apiVersion: monitoring.coreos.com/v1, kind: PodMonitor, metadata: {namespace: capi, name: a}}",
			"{apiVersion: monitoring.coreos.com/v1, kind: PodMonitor, metadata: {namespace: capi, name: a}, spec: {podMetricsEndpoints: [{bearerTokenFile: /a}]}}", "monitor",
		},
	} {
		good, bad := parse(t, row.good)[0], parse(t, row.bad)[0]
		ask := func(old, object *unstructured.Unstructured) []string {
			return refusing(t, wall, admissiontest.Request{Operation: kadmission.Update, Old: old, Object: object})
		}
		if got := ask(managed(bad), managed(bad)); got != nil {
			t.Errorf("%s that was there: refused by %q", name, got)
		}
		if got := ask(managed(good), managed(bad)); !slices.Equal(got, []string{row.rule}) {
			t.Errorf("%s that is new: refused by %q", name, got)
		}
		// What is not managed yet is judged as a whole: otherwise a label would be enough to make cluster-admin a provider's.
		if got := ask(bad, managed(bad)); !slices.Equal(got, []string{row.rule}) && row.rule != "brought-namespace" {
			t.Errorf("%s of what was nobody's: refused by %q", name, got)
		}
	}
}

func TestTheSecondWall_lets_repair_a_container_that_others_have_privileged(t *testing.T) {
	stored := managed(parse(t, runs("Deployment", "containers: [{name: a, image: theirs, securityContext: {privileged: true}}, {name: b}]"))[0])
	for text, want := range map[string][]string{
		"containers: [{name: a, image: ours, securityContext: {privileged: true}}, {name: b}]":                                      nil,
		"containers: [{name: a, image: ours, securityContext: {privileged: true}}, {name: b, securityContext: {privileged: true}}]": {"workload"},
	} {
		object := managed(parse(t, runs("Deployment", text))[0])
		if got := refusing(t, second(t, "capstan-contents"), admissiontest.Request{Operation: kadmission.Update, Old: stored, Object: object}); !slices.Equal(got, want) {
			t.Errorf("%s: refused by %q, want %q", text, got, want)
		}
	}
}

func TestTheSecondWall_takes_a_ClusterRole_for_bindable_only_when_it_is_managed(t *testing.T) {
	wall := second(t, "capstan-cluster-roles")
	o := managed(parse(t, binding+ref+subject)[0])
	for name, refused := range map[string]bool{"manager": true, "cluster-admin": false} {
		unmanaged := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}}}
		answers, err := wall.Ask(t.Context(), admissiontest.Request{Operation: kadmission.Create, Object: o, Params: unmanaged})
		if err != nil {
			t.Fatal(err)
		}
		if got := answers[0].Refused; (got != "") != refused || refused && !strings.Contains(got, "ClusterRoleBinding manager breaks rule role of the policy") {
			t.Errorf("beside %s: %q", name, got)
		}
	}
}

func TestTheSecondWall_reads_exceptions_as_the_first_does(t *testing.T) {
	contents, wall := second(t, "capstan-contents"), second(t, "capstan-exceptions")
	for name, row := range map[string]struct {
		labelled, data string
		want           string
	}{
		"the exception":     {"kind", "reason: a\nimage: registry.example/capi\nrule: kind\nobject: Node a\n", ""},
		"another rule":      {"kind", "reason: a\nimage: registry.example/capi\nrule: name\nobject: Node a\n", "Node a breaks rule kind of the policy"},
		"another object":    {"kind", "reason: a\nimage: registry.example/capi\nrule: kind\nobject: Node ab\n", "Node a breaks rule kind of the policy"},
		"one of two":        {"kind.name", "reason: a\nimage: registry.example/capi\nrule: kind\nobject: Node a\n", "Node a breaks rule name of the policy"},
		"no rule":           {"", "", "Node a breaks rule"},
		"a rule in a value": {"kind", "reason: rule: kind object: Node a\nimage: a\nrule: name\nobject: Node a\n", "Node a breaks rule kind of the policy"},
	} {
		node := managed(parse(t, "{apiVersion: v1, kind: Node, metadata: {name: a}}")[0])
		if got := refusing(t, contents, admissiontest.Request{Operation: kadmission.Create, Object: node}); !slices.Equal(got, []string{"kind"}) {
			t.Errorf("%s, not labelled: refused by %q", name, got)
		}
		labels := node.GetLabels()
		labels[policy.ExceptedLabel] = row.labelled
		node.SetLabels(labels)
		request := admissiontest.Request{Operation: kadmission.Create, Object: node, Params: &corev1.ConfigMap{Data: map[string]string{"mine": row.data}}}
		if got := refusing(t, contents, request); (got == nil) != strings.Contains(row.labelled, "kind") {
			t.Errorf("%s, labelled: refused by %q", name, got)
		}
		answers, err := wall.Ask(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if got := answers[0].Refused; (got == "") != (row.want == "") || !strings.Contains(got, row.want) {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}
