package crds_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/crds"
)

var update = flag.Bool("update", false, "copy the manifests from the module instead of comparing them")

// sources are files of github.com/openshift/api; where a definition has several
// feature sets, Default is the one that clusters run unless told otherwise; of
// what Machine API has, TechPreviewNoUpgrade knows which API is authoritative.
var sources = []string{
	"apiextensions/v1alpha1/zz_generated.crd-manifests/0000_20_crd-compatibility-checker_01_compatibilityrequirements.crd.yaml",
	"config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusteroperators.crd.yaml",
	"config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusterversions-Default.crd.yaml",
	"config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_apiservers-Default.crd.yaml",
	"config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_clusterimagepolicies.crd.yaml",
	"config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_imagedigestmirrorsets.crd.yaml",
	"config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_imagepolicies.crd.yaml",
	"config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_images.crd.yaml",
	"config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_infrastructures-Default.crd.yaml",
	"config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_networks-Default.crd.yaml",
	"machine/v1/zz_generated.crd-manifests/0000_10_control-plane-machine-set_01_controlplanemachinesets-TechPreviewNoUpgrade.crd.yaml",
	"machine/v1beta1/zz_generated.crd-manifests/0000_10_machine-api_01_machinesets-TechPreviewNoUpgrade.crd.yaml",
	"operator/v1/zz_generated.crd-manifests/0000_80_machine-config_01_machineconfigurations-Default.crd.yaml",
	"operator/v1alpha1/zz_generated.crd-manifests/0000_10_config-operator_01_imagecontentsourcepolicies.crd.yaml",
	"operator/v1alpha1/zz_generated.crd-manifests/0000_30_cluster-api_01_clusterapis.crd.yaml",
}

func TestEveryManifestIsACopyOfTheModulesOwn(t *testing.T) {
	module := moduleDir(t, "github.com/openshift/api")
	wanted := make([]string, 0, len(sources))
	for _, source := range sources {
		original, err := os.ReadFile(filepath.Join(module, source))
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(source)
		wanted = append(wanted, name)
		path := filepath.Join("manifests", name)
		if *update {
			if err := os.WriteFile(path, original, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if copied, err := os.ReadFile(path); err != nil || !bytes.Equal(copied, original) {
			t.Errorf("%s is not the module's %s (%v): run go generate ./crds", path, source, err)
		}
	}
	entries, err := os.ReadDir("manifests")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !slices.Contains(wanted, entry.Name()) {
			t.Errorf("manifests/%s has no source in this test: delete it or name where it comes from", entry.Name())
		}
	}
}

func TestAllHoldsEveryDefinitionThatCapstanWatches(t *testing.T) {
	var names []string
	for _, crd := range crds.All() {
		names = append(names, crd.Name)
	}
	slices.Sort(names)
	want := []string{
		"apiservers.config.openshift.io",
		"clusterapis.operator.openshift.io",
		"clusterimagepolicies.config.openshift.io",
		"clusteroperators.config.openshift.io",
		"clusterversions.config.openshift.io",
		"compatibilityrequirements.apiextensions.openshift.io",
		"controlplanemachinesets.machine.openshift.io",
		"imagecontentsourcepolicies.operator.openshift.io",
		"imagedigestmirrorsets.config.openshift.io",
		"imagepolicies.config.openshift.io",
		"images.config.openshift.io",
		"infrastructures.config.openshift.io",
		"machineconfigurations.operator.openshift.io",
		"machinesets.machine.openshift.io",
		"networks.config.openshift.io",
	}
	if !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}

func TestParseRefusesAFieldItDoesNotKnow(t *testing.T) {
	_, err := crds.Parse([]byte("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  colour: red\n"))
	if err == nil || !strings.Contains(err.Error(), "colour") {
		t.Errorf("got %v, want an error that names the field", err)
	}
}

func moduleDir(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatalf("finding %s: %v", module, err)
	}
	dir := strings.TrimSpace(string(out))
	if dir == "" {
		t.Fatalf("%s is not downloaded: run go mod download %s", module, module)
	}
	return dir
}
