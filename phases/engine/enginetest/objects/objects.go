// Package objects has objects for the tests of the engine's rooms, and how kube-apiserver keeps them. It knows no room, so
// that the tests of each can use it.
package objects

import (
	"embed"
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// The fields that an entry of managedFields has: of the marks and of the data of Settings, and of each alone.
const (
	AllFields = `{"f:data":{"f:a":{}},"f:metadata":{"f:annotations":{"f:capi-operator.openshift.io/owner":{},"f:capi-operator.openshift.io/revision":{}},"f:labels":{"f:capi-operator.openshift.io/managed-by":{}}}}`
	NoData    = `{"f:metadata":{"f:annotations":{"f:capi-operator.openshift.io/owner":{},"f:capi-operator.openshift.io/revision":{}},"f:labels":{"f:capi-operator.openshift.io/managed-by":{}}}}`
	OnlyData  = `{"f:data":{"f:a":{}}}`
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

// Settings is the manifest of a ConfigMap.
func Settings() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "settings", "namespace": "n"},
		"data":     map[string]any{"a": "1"},
	}}
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
