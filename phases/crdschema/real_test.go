package crdschema

import (
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// Definitions of OpenShift, each of which is far from all bounds.
func TestBounds_are_ten_times_what_definitions_have(t *testing.T) {
	files, err := filepath.Glob("../../crds/manifests/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		asJSON, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		size, err := sizeOf(asJSON, maxDepth/5, maxName/10)
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err != nil || yaml.Unmarshal(text, crd) != nil || size.Maps > maxMaps/10 || size.Values > maxValues/10 || size.Paths > maxPaths/10 {
			t.Errorf("%s: %+v, %v", file, size, err)
		}
		var all cost
		for i := range crd.Spec.Versions {
			all.addVersion(&crd.Spec.Versions[i], nil)
		}
		if all.regexps.instructions > MaxRegexps/10 || len(all.problems) > 0 {
			t.Errorf("%s: %d instructions, %v", file, all.regexps.instructions, all.problems)
		}
	}
}
