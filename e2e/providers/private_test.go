package providers_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/e2e/providers"
)

const (
	// privateGolden holds a line per private object: route, kind, name and SHA-256.
	privateGolden = "testdata/private-types.txt"
	// privateDefinitions are those that are shipped: the core's, as a whole.
	privateDefinitions = "../../deploy/privatecapi/crds.yaml"
)

func TestPrivateTypes_of_the_real_providers_are_golden(t *testing.T) {
	var got strings.Builder
	built := build(t, providers.ReleaseOne)
	for _, component := range slices.Sorted(maps.Keys(built)) {
		platform := map[string]string{"infrastructure-aws": "AWS", "infrastructure-vsphere": "VSphere", "infrastructure-powervs": "PowerVS"}[component]
		if platform == "" {
			platform = "None"
		}
		var reports []struct {
			Route   string
			Objects []struct{ Kind, Name, SHA256 string }
			LeftOut []string
		}
		if err := json.Unmarshal(runCapstan(t, "private-capi", "manifests", "--dir", mounted(t, built[component]), "--platform", platform, "-o", "json"), &reports); err != nil {
			t.Fatal(err)
		}
		for _, report := range reports {
			fmt.Fprintf(&got, "%s %s\n", report.Route, built[component].Version)
			for _, o := range report.Objects {
				fmt.Fprintf(&got, "  %s %s: %s\n", o.Kind, o.Name, o.SHA256)
			}
			for _, name := range report.LeftOut {
				fmt.Fprintf(&got, "  left out: %s\n", name)
			}
		}
	}
	golden(t, privateGolden, got.String())
}

func TestPrivateTypes_of_the_core_are_shipped(t *testing.T) {
	core := build(t, providers.ReleaseOne)["core-cluster-api"]
	text := string(runCapstan(t, "private-capi", "manifests", "--dir", mounted(t, core), "--definitions", "-o", "yaml"))
	if count := strings.Count(text, "\nkind: CustomResourceDefinition\n"); count != 13 {
		t.Errorf("there are %d definitions", count)
	}
	golden(t, privateDefinitions, text)
}

// golden compares with a file, or writes it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is stale; if the change is meant, run this test with -update", file)
	}
}
