// Package tools has what is needed to work on this repository, and no code of its own.
package tools

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// What several modules build from the same versions is compiled once for all, which
// is a sixth of all that a first `make demo` compiles.
func TestTheSuitesAndTheControlPlaneUseTheOperatorsVersionsOfTheModulesTheyShare(t *testing.T) {
	operator := required(t, "../go.mod")
	for _, file := range []string{"e2e/controlplane/go.mod", "e2e/go.mod"} {
		for path, version := range required(t, "../"+file) {
			if own := operator[path]; own != "" && own != version {
				t.Errorf("%s is %s in go.mod and %s in %s: raise the older one", path, own, version, file)
			}
		}
	}
}

// The kinds of OpenShift clusters are made of types of Cluster API, which a provider of its own needs and the operator does not.
func TestTheOperatorDoesNotLinkClusterAPI(t *testing.T) {
	packages, err := exec.CommandContext(t.Context(), "go", "list", "-C", "..", "-deps", "./cmd/capstan", "./cmd/capstan-stub").Output()
	if err != nil {
		t.Fatalf("listing what the operator links: %v", err)
	}
	for name := range strings.FieldsSeq(string(packages)) {
		if strings.HasPrefix(name, "sigs.k8s.io/cluster-api/") || strings.HasPrefix(name, "github.com/capstan-capi/capstan/api/") {
			t.Errorf("the operator links %s", name)
		}
	}
}

func required(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json", file).Output()
	if err != nil {
		t.Fatalf("reading %s: %v", file, err)
	}
	type module struct{ Path, Version string }
	var content struct {
		Require []module
		Replace []struct{ Old, New module }
	}
	if err := json.Unmarshal(text, &content); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, m := range content.Require {
		versions[m.Path] = m.Version
	}
	for _, r := range content.Replace {
		versions[r.Old.Path] = r.New.Version
	}
	return versions
}
