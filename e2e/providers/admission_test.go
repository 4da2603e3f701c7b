package providers_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/deploy"
	"github.com/capstan-capi/capstan/phases/render/admission/admissiontest"
)

// What an API server lets an expression cost, and all of one binding; a tenth of it is for us.
const (
	expressionLimit = 1_000_000 / 10
	bindingLimit    = 10_000_000 / 10
)

func TestTheShippedPolicies_take_all_objects_of_the_real_providers_and_cost_a_tenth_of_the_limit(t *testing.T) {
	objects := map[string]*unstructured.Unstructured{}
	for _, release := range releases {
		for _, profile := range build(t, release) {
			for _, o := range manifestsOf(t, filepath.Join(profile.Folder, "default", "manifests.yaml")) {
				objects[profile.Component+" "+profile.Version+" "+o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName()] = o
			}
		}
	}
	exceptions := &corev1.ConfigMap{Data: map[string]string{"one": "reason: a\nimage: b\nrule: kind\nobject: Node a\n"}}
	for name, wall := range shippedPolicies(t, "capstan-writes", "capstan-contents", "capstan-exceptions") {
		var dearest admissiontest.Answer
		for what, o := range objects {
			for _, r := range []admissiontest.Request{
				{Operation: admission.Create, Object: o, Params: exceptions},
				{Operation: admission.Update, Object: o, Old: o, Params: exceptions},
			} {
				answers, err := wall.Ask(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				var sum int64
				for _, a := range answers {
					if sum += a.Cost; a.Cost > dearest.Cost {
						dearest = a
					}
					if a.Cost > expressionLimit {
						t.Errorf("%s: an expression costs %d for %s", name, a.Cost, what)
					}
					if a.Refused != "" && name != "capstan-exceptions" {
						t.Errorf("%s refuses to %s %s: %s", name, r.Operation, what, a.Refused)
					}
				}
				if sum > bindingLimit {
					t.Errorf("%s: it costs %d for %s", name, sum, what)
				}
			}
		}
		t.Logf("%s: at most %d for an expression", name, dearest.Cost)
		if dearest.Cost == 0 {
			t.Errorf("%s: nothing was measured", name)
		}
	}
}

// shippedPolicies are some of those in deploy, by name.
func shippedPolicies(t *testing.T, names ...string) map[string]*admissiontest.Policy {
	t.Helper()
	all, err := deploy.Objects()
	if err != nil {
		t.Fatal(err)
	}
	policies := map[string]*admissiontest.Policy{}
	for _, name := range names {
		for _, o := range all {
			if o.GetKind() != "ValidatingAdmissionPolicy" || o.GetName() != name {
				continue
			}
			if policies[name], err = admissiontest.New(o); err != nil {
				t.Fatal(err)
			}
		}
		if policies[name] == nil {
			t.Fatalf("there is no policy %s", name)
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
		labels := o.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels["capi-operator.openshift.io/managed-by"] = "component"
		labels["capi-operator.openshift.io/policy-exceptions"] = "no-rule"
		o.SetLabels(labels)
		objects = append(objects, o)
	}
	return objects
}
