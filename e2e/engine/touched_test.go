package engine_test

import (
	"reflect"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// touched says that somebody has written to an object. The API server itself writes the status of a definition, whenever
// names that it asks for become free or are taken.
func touched(found, known *unstructured.Unstructured) bool {
	if found.GetKind() != "CustomResourceDefinition" {
		return found.GetUID() != known.GetUID() || found.GetResourceVersion() != known.GetResourceVersion()
	}
	return !reflect.DeepEqual(withoutStatus(found), withoutStatus(known))
}

// withoutStatus is a copy of an object without its status and without who wrote that.
func withoutStatus(o *unstructured.Unstructured) *unstructured.Unstructured {
	o = o.DeepCopy()
	o.SetResourceVersion("")
	delete(o.Object, "status")
	o.SetManagedFields(slices.DeleteFunc(o.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Subresource == "status" }))
	return o
}

func TestTouched_sees_every_write_but_those_of_the_API_server_to_the_status_of_a_definition(t *testing.T) {
	parsed := func(text string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatal(err)
		}
		return o
	}
	entry := `managedFields: [{manager: a, operation: Update}, {manager: kube-apiserver, operation: Update, subresource: status, time: "2026-01-01T00:00:00Z"}]`
	crd := `{kind: CustomResourceDefinition, metadata: {name: a, uid: u, resourceVersion: "1"}, spec: {x: 1}, status: {acceptedNames: {}}}`
	for name, row := range map[string]struct {
		found, known string
		want         bool
	}{
		"nothing":                    {crd, crd, false},
		"the status of a definition": {`{kind: CustomResourceDefinition, metadata: {name: a, uid: u, resourceVersion: "2", ` + entry + `}, spec: {x: 1}}`, `{kind: CustomResourceDefinition, metadata: {name: a, uid: u, resourceVersion: "1", managedFields: [{manager: a, operation: Update}]}, spec: {x: 1}}`, false},
		"its spec":                   {`{kind: CustomResourceDefinition, metadata: {name: a, uid: u, resourceVersion: "2"}, spec: {x: 2}}`, crd, true},
		"its metadata":               {`{kind: CustomResourceDefinition, metadata: {name: a, uid: u, resourceVersion: "2", labels: {a: b}}, spec: {x: 1}}`, crd, true},
		"another definition":         {`{kind: CustomResourceDefinition, metadata: {name: a, uid: v, resourceVersion: "2"}, spec: {x: 1}}`, crd, true},
		"anything else":              {`{kind: Service, metadata: {name: a, uid: u, resourceVersion: "2"}}`, `{kind: Service, metadata: {name: a, uid: u, resourceVersion: "1"}}`, true},
	} {
		if got := touched(parsed(row.found), parsed(row.known)); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
