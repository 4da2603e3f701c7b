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
