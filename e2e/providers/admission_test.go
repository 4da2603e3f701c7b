package providers_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/deploy"
	"github.com/capstan-capi/capstan/phases/render/admission/admissiontest"
)

// What an API server lets an expression cost, and all of one binding; a tenth of it is for us.
const (
	expressionLimit = 1_000_000 / 10
	bindingLimit    = 10_000_000 / 10
	// verbCost is the fixed price of the question whether somebody has a verb, on top.
	verbCost = 350_000
)

// wall is one of the shipped policies, and what is expected of it.
type wall struct {
	params runtime.Object
	of     func(o *unstructured.Unstructured) bool // what it is asked about
	lets   bool                                    // it refuses nothing of the real providers
	limit  int64                                   // of an expression
}

func provided(o *unstructured.Unstructured) bool { return o.GetNamespace() != operatorNamespace }
func ours(o *unstructured.Unstructured) bool     { return !provided(o) }
func bindsARole(o *unstructured.Unstructured) bool {
	return strings.HasSuffix(o.GetKind(), "RoleBinding")
}
func isASecret(o *unstructured.Unstructured) bool { return o.GetKind() == "Secret" }

const operatorNamespace = "openshift-cluster-api-operator"

// walls are all policies that deploy brings.
var walls = map[string]wall{
	"capstan-writes":        {of: provided, lets: true, limit: expressionLimit},
	"capstan-contents":      {of: provided, lets: true, limit: expressionLimit},
	"capstan-exceptions":    {of: provided, params: &corev1.ConfigMap{Data: map[string]string{"one": "reason: a\nimage: b\nrule: kind\nobject: Node a\n"}}, limit: expressionLimit},
	"capstan-cluster-roles": {of: bindsARole, params: &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "another"}}, lets: true, limit: expressionLimit},
	"capstan-roles":         {of: bindsARole, params: &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "another"}}, lets: true, limit: expressionLimit},
	"capstan-status":        {of: ours, limit: expressionLimit + verbCost},
	"capstan-bookkeeping":   {of: ours, limit: expressionLimit + verbCost},
	"capstan-release":       {of: ours, limit: expressionLimit + verbCost},
	"capstan-acts":          {of: ours, limit: expressionLimit + verbCost},
	"capstan-namespace":     {of: ours, limit: expressionLimit},
	"capstan-tokens":        {of: isASecret, limit: expressionLimit},
}

func TestTheShippedPolicies_take_all_objects_of_the_real_providers_and_cost_a_tenth_of_the_limit(t *testing.T) {
	objects := map[string]*unstructured.Unstructured{
		"the largest inventory": configMap("capstan-inventory-7"), "the largest list of images": configMap("capi-installer-images"),
		"the largest token": {Object: map[string]any{
			"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token",
			"metadata": map[string]any{"name": "a", "namespace": operatorNamespace}, "data": map[string]any{"a": strings.Repeat("a", 1<<20)},
		}},
	}
	largest := 0
	for _, release := range releases {
		for _, profile := range build(t, release) {
			for _, o := range manifestsOf(t, filepath.Join(profile.Folder, "default", "manifests.yaml")) {
				objects[profile.Component+" "+profile.Version+" "+o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName()] = o
			}
			for _, o := range requirementsOf(t, profile) {
				objects[profile.Component+" "+profile.Version+" "+o.GetKind()+" "+o.GetName()] = o
				largest = max(largest, sizeOf(t, o))
			}
		}
	}
	if t.Logf("the largest requirement has %d bytes", largest); largest < 200<<10 {
		t.Errorf("the largest requirement has only %d bytes", largest)
	}
	shipped := shippedPolicies(t)
	for name := range walls {
		if shipped[name] == nil {
			t.Errorf("there is no policy %s", name)
		}
	}
	for name, policy := range shipped {
		expected, known := walls[name]
		if !known {
			t.Errorf("nobody measures policy %s", name)
			continue
		}
		var dearest int64
		for what, o := range objects {
			if expected.of(o) {
				dearest = max(dearest, measure(t, name+", "+what, policy, expected, o))
			}
		}
		t.Logf("%s: at most %d for an expression", name, dearest)
		if dearest == 0 {
			t.Errorf("%s: nothing was measured", name)
		}
	}
}

func TestTheShippedPolicies_let_pass_the_largest_that_a_move_writes_at_a_tenth_of_the_limit(t *testing.T) {
	policy := shippedPolicies(t)["capstan-writes"]
	hosted := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "c-e", Labels: map[string]string{
		"hypershift.openshift.io/hosted-control-plane": "true", "capstan.openshift.io/private-capi-fence": "both",
	}}}
	changed := func(o *unstructured.Unstructured, change func(*unstructured.Unstructured)) *unstructured.Unstructured {
		o = o.DeepCopy()
		change(o)
		return o
	}
	first := metav1.OwnerReference{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Machine", Name: "a", UID: "u"}
	second := metav1.OwnerReference{APIVersion: "cluster.hypershift.openshift.io/v1beta2", Kind: "Machine", Name: "a", UID: "v"}
	dependent := changed(configMap("a"), func(o *unstructured.Unstructured) {
		o.SetNamespace("c-e")
		o.SetOwnerReferences([]metav1.OwnerReference{first})
	})
	marked := func(o *unstructured.Unstructured) {
		o.SetAnnotations(map[string]string{"hypershift.openshift.io/scope": "legacy"})
	}
	cluster := largest("hypershift.openshift.io/v1beta1", "HostedCluster", "e", map[string]any{"a": entries("a", 1<<12)}, map[string]any{"conditions": entries("type", 100), "a": entries("a", 1<<10)})
	component := largest("apps/v1", "Deployment", "cluster-api", map[string]any{"replicas": int64(1), "template": map[string]any{"spec": map[string]any{
		"containers": entries("name", 20), "volumes": entries("name", 60), "affinity": map[string]any{"a": entries("a", 200)},
	}}}, nil)
	equipped := changed(component, func(o *unstructured.Unstructured) {
		spec := map[string]any{"name": "kube-apiserver-proxy", "securityContext": map[string]any{"allowPrivilegeEscalation": false}}
		if err := unstructured.SetNestedSlice(o.Object, []any{spec}, "spec", "template", "spec", "initContainers"); err != nil {
			t.Fatal(err)
		}
	})
	for name, r := range map[string]admissiontest.Request{
		"a second owner of the largest ConfigMap": {Object: changed(dependent, func(o *unstructured.Unstructured) { o.SetOwnerReferences([]metav1.OwnerReference{first, second}) }), Old: dependent},
		"the marks of a HostedCluster":            {Object: changed(cluster, marked), Old: cluster},
		"its condition":                           {Object: changed(cluster, marked), Old: cluster, Subresource: "status"},
		"a component that is equipped":            {Object: equipped, Old: component},
	} {
		r.Operation, r.Namespace, r.Verbs = admission.Update, hosted, []string{"move"}
		answers, err := policy.Ask(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range answers {
			if t.Logf("%s costs %d", name, a.Cost); a.Cost > expressionLimit+verbCost || a.Refused != "" {
				t.Errorf("%s costs %d, and is refused: %q", name, a.Cost, a.Refused)
			}
		}
	}
}

// largest is an object in the namespace of a control plane.
func largest(apiVersion, kind, name string, spec, status map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"namespace": "c-e", "name": name}, "spec": spec}}
	if status != nil {
		o.Object["status"] = status
	}
	return o
}

// entries are objects of a list, told apart by a key, of some 100 bytes each.
func entries(key string, n int) (list []any) {
	for i := range n {
		list = append(list, map[string]any{key: strconv.Itoa(i), "b": strings.Repeat("b", 80)})
	}
	return list
}

// measure asks a policy about an object, created and updated, and returns what the dearest expression costs.
func measure(t *testing.T, what string, policy *admissiontest.Policy, expected wall, o *unstructured.Unstructured) (dearest int64) {
	t.Helper()
	for _, r := range []admissiontest.Request{
		{Operation: admission.Create, Object: o, Params: expected.params},
		{Operation: admission.Update, Object: o, Old: o, Params: expected.params},
	} {
		answers, err := policy.Ask(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		var sum int64
		for _, a := range answers {
			sum += a.Cost
			if dearest = max(dearest, a.Cost); a.Cost > expected.limit {
				t.Errorf("%s: an expression costs %d", what, a.Cost)
			}
			if a.Refused != "" && expected.lets || strings.HasPrefix(a.Refused, "error: ") {
				t.Errorf("%s: it refuses to %s: %s", what, r.Operation, a.Refused)
			}
		}
		if sum > bindingLimit {
			t.Errorf("%s: it costs %d", what, sum)
		}
	}
	return dearest
}

// configMap is one of the operator's namespace, as large as an API server takes.
func configMap(name string) *unstructured.Unstructured {
	data := map[string]any{}
	for i := range 1 << 12 {
		data[strconv.Itoa(i)] = strings.Repeat("a", 250)
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": data, "metadata": map[string]any{"name": name, "namespace": operatorNamespace},
	}}
}

// shippedPolicies are those in deploy, by name.
func shippedPolicies(t *testing.T) map[string]*admissiontest.Policy {
	t.Helper()
	all, err := deploy.Objects()
	if err != nil {
		t.Fatal(err)
	}
	policies := map[string]*admissiontest.Policy{}
	for _, o := range all {
		if o.GetKind() == "ValidatingAdmissionPolicy" {
			if policies[o.GetName()], err = admissiontest.New(o); err != nil {
				t.Fatal(err)
			}
		}
	}
	return policies
}

// manifestsOf are the objects of a profile as the operator applies them.
func manifestsOf(t *testing.T, path string) (objects []*unstructured.Unstructured) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &o.Object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, labelled(o))
	}
	return objects
}

// labelled is an object with the labels that the operator gives it.
func labelled(o *unstructured.Unstructured) *unstructured.Unstructured {
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels["capi-operator.openshift.io/managed-by"] = "component"
	labels["capi-operator.openshift.io/policy-exceptions"] = "no-rule"
	o.SetLabels(labels)
	return o
}
