package providers_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/providers"
)

// requirementsOf are what a revision derives of a profile where somebody else manages all of its definitions: one for the shape of
// each and one for its objects, that hold it as a text, and are larger than it.
func requirementsOf(t *testing.T, profile providers.Profile) (derived []*unstructured.Unstructured) {
	t.Helper()
	var about struct {
		Platform string `json:"platform"`
	}
	text, err := os.ReadFile(filepath.Join(profile.Folder, "default", "metadata.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &about); err != nil {
		t.Fatal(err)
	}
	if about.Platform == "" {
		about.Platform = "None"
	}
	args := []string{"render", "--release-version", "4.22.0", "--platform", about.Platform, "--dir", mounted(t, profile), "--output", "yaml"}
	for _, o := range manifestsOf(t, filepath.Join(profile.Folder, "default", "manifests.yaml")) {
		if o.GetKind() == "CustomResourceDefinition" {
			args = append(args, "--unmanaged", o.GetName())
		}
	}
	for document := range bytes.SplitSeq(runCapstan(t, args...), []byte("\n---\n")) {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &o.Object); err != nil {
			t.Fatal(err)
		}
		if o.GetKind() == "CompatibilityRequirement" {
			derived = append(derived, labelled(o))
		}
	}
	return derived
}

func sizeOf(t *testing.T, o *unstructured.Unstructured) int {
	t.Helper()
	text, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return len(text)
}
