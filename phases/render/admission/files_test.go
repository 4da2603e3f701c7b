package admission_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/render/admission"
	"github.com/capstan-capi/capstan/phases/render/admission/admissiontest"
)

//go:generate go test -vet=off . -run TestTheManifests -update

var update = flag.Bool("update", false, "write deploy/admission.yaml; look at what changed before you commit it")

const manifests = "../../../deploy/admission.yaml"

func TestTheManifests_sayWhatTheRulesSay(t *testing.T) {
	var text bytes.Buffer
	text.WriteString("# Generated from the rules in phases/render/policy by `make generate`: do not edit.\n" +
		"# What these policies are for, and what they cannot do: docs/threat-model.md.\n")
	for i, o := range admission.Shipped.Objects() {
		if i > 0 {
			text.WriteString("---\n")
		}
		document, err := yaml.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(document)
	}
	if *update {
		if err := os.WriteFile(manifests, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(manifests)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stored, text.Bytes()) {
		t.Error("deploy/admission.yaml is stale: run make generate")
	}
}

func TestObjects_areWhatAnAPIServerTakes(t *testing.T) {
	bindings := map[string]bool{}
	for _, o := range admission.Shipped.Objects() {
		if !strings.HasPrefix(o.GetName(), "capstan-") {
			t.Errorf("%s could be a provider's", o.GetName())
		}
		switch o.GetKind() {
		case "ValidatingAdmissionPolicy":
			if _, err := admissiontest.New(o); err != nil {
				t.Error(err)
			}
			bindings[o.GetName()] = false
		case "ValidatingAdmissionPolicyBinding":
			bindings[o.GetName()] = true
		}
	}
	for name, bound := range bindings {
		if !bound {
			t.Errorf("%s is bound by nothing", name)
		}
	}
}
