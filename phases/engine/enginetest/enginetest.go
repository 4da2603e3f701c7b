// Package enginetest is what the tests of the engine's rooms share: objects, and how kube-apiserver keeps them.
package enginetest

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// The installation that tests act for, and the number of its revision.
const (
	Owner  = "clusterapi/cluster"
	Number = 7
)

// The fields that an entry of managedFields has: of the marks, and of the data of Settings.
const (
	NoData   = `{"f:metadata":{"f:annotations":{"f:capi-operator.openshift.io/owner":{},"f:capi-operator.openshift.io/revision":{}},"f:labels":{"f:capi-operator.openshift.io/managed-by":{}}}}`
	OnlyData = `{"f:data":{"f:a":{}}}`

	allFields = `{"f:data":{"f:a":{}},"f:metadata":{"f:annotations":{"f:capi-operator.openshift.io/owner":{},"f:capi-operator.openshift.io/revision":{}},"f:labels":{"f:capi-operator.openshift.io/managed-by":{}}}}`
)

// Parse reads an object from YAML.
func Parse(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return u
}

// Made are objects o0, o1, ... of kinds such as "apps/v1 Deployment".
func Made(t testing.TB, kinds ...string) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for i, kind := range kinds {
		version, name, _ := strings.Cut(kind, " ")
		out = append(out, Parse(t, fmt.Sprintf(`{apiVersion: %s, kind: %s, metadata: {name: o%d}}`, version, name, i)))
	}
	return out
}

// Revision is a revision of one component.
func Revision(number int64, objects ...*unstructured.Unstructured) *decide.Revision {
	return &decide.Revision{Name: "rev", Number: number, ContentID: "content", Components: []decide.Component{{Name: "core", Objects: objects}}}
}

// Settings is the manifest of a ConfigMap.
func Settings() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "settings", "namespace": "n"},
		"data":     map[string]any{"a": "1"},
	}}
}

// Applied is the object of Settings as revision Number has applied it.
func Applied() *unstructured.Unstructured {
	obj := Settings()
	obj.SetLabels(map[string]string{decide.ManagedByLabel: "core"})
	obj.SetAnnotations(map[string]string{decide.RevisionAnnotation: fmt.Sprint(Number), decide.OwnerAnnotation: Owner})
	obj.SetUID("uid")
	obj.SetResourceVersion("10")
	return WithEntry(obj, "capstan", "Apply", allFields)
}

// WithEntry puts an entry into the managedFields of an object, in the place of that of the same manager and operation.
func WithEntry(obj *unstructured.Unstructured, manager, operation, fields string) *unstructured.Unstructured {
	var entries []metav1.ManagedFieldsEntry
	for _, e := range obj.GetManagedFields() {
		if e.Manager != manager || string(e.Operation) != operation {
			entries = append(entries, e)
		}
	}
	obj.SetManagedFields(append(entries, metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationType(operation), APIVersion: obj.GetAPIVersion(),
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}))
	return obj
}

// Sample is a manifest and what kube-apiserver 1.36 made of it: after a POST by us, after the creation was recorded and
// applied once more, and after an edit by somebody else.
type Sample struct {
	Manifest, Created, Applied, Edited *unstructured.Unstructured
}

//go:embed testdata
var samples embed.FS

// Samples are samples of ten kinds, by name.
func Samples(t testing.TB) map[string]Sample {
	t.Helper()
	files, err := samples.ReadDir("testdata")
	if err != nil || len(files) < 10 {
		t.Fatalf("want ten samples, got %v, %v", files, err)
	}
	all := map[string]Sample{}
	for _, file := range files {
		raw, err := samples.ReadFile("testdata/" + file.Name())
		if err != nil {
			t.Fatal(err)
		}
		var stages map[string]json.RawMessage
		if err := json.Unmarshal(raw, &stages); err != nil {
			t.Fatal(err)
		}
		stage := func(name string) *unstructured.Unstructured {
			u := &unstructured.Unstructured{}
			if err := u.UnmarshalJSON(stages[name]); err != nil {
				t.Fatalf("%s: %s: %v", file.Name(), name, err)
			}
			return u
		}
		all[strings.TrimSuffix(file.Name(), ".json")] = Sample{stage("manifest"), stage("created"), stage("applied"), stage("edited")}
	}
	return all
}
