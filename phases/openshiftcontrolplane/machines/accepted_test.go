package machines

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/api/v1alpha1"
)

// refused is what an API server refuses of an object by its definition, and whether it would store something else.
func refused(t *testing.T, definition string, object client.Object) (problems string, changed bool) {
	t.Helper()
	text, err := os.ReadFile(definition)
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(text, crd); err != nil {
		t.Fatal(err)
	}
	version := object.GetObjectKind().GroupVersionKind().Version
	props := &apiextensions.JSONSchemaProps{}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	for _, one := range crd.Spec.Versions {
		if one.Name == version {
			if err := scheme.Convert(one.Schema.OpenAPIV3Schema, props, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	structural, err := structuralschema.NewStructural(props)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		t.Fatal(err)
	}
	sent, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	delete(sent, "status") // is not written on creation
	stored := runtime.DeepCopyJSON(sent)
	pruning.Prune(stored, structural, true)
	defaulting.Default(stored, structural)
	all := listtype.ValidateListSetsAndMaps(nil, structural, stored)
	all = append(all, validation.ValidateCustomResource(nil, stored, validator)...)
	broken, _ := cel.NewValidator(structural, true, celconfig.PerCallLimit).Validate(t.Context(), nil, structural, stored, nil, celconfig.RuntimeCELCostBudget)
	all = append(all, broken...)
	if len(all) > 0 {
		problems = all.ToAggregate().Error()
	}
	return problems, !equality.Semantic.DeepEqual(sent, stored)
}

func TestMachines_are_accepted_by_the_definitions_and_stored_as_they_are(t *testing.T) {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, append(frame("z1"), asked(1, managed, labelled, relabelled, marked(v1alpha1.BootstrapFinishedMark)))...)
	s, _ := w.see()
	infra := s.wantedMaster(0).template
	infra.Kind, infra.Name = infraKind.Kind, "a-0"
	machine, config := s.machine(s.wantedMaster(0), infra), s.config(s.wantedBootstrap())
	machine.SetGroupVersionKind(machines)
	config.SetGroupVersionKind(configs)
	for definition, object := range map[string]client.Object{
		filepath.Join(strings.TrimSpace(string(dir)), "config", "crd", "bases", "cluster.x-k8s.io_machines.yaml"): machine,
		filepath.Join("..", "..", "..", "config", "crd", "cluster.openshift.io_openshiftconfigs.yaml"):            config,
	} {
		if problems, changed := refused(t, definition, object); problems != "" || changed {
			t.Errorf("%s: %s (stored as something else: %t)", filepath.Base(definition), problems, changed)
		}
	}
	if _, has := machine.Annotations[deletionHook]; !has {
		t.Error("the Machine has no hook")
	}
}

func TestSelector_chooses_control_plane_Machines_and_not_the_bootstraps(t *testing.T) {
	w := newWorld(t, append(frame(), asked(1))...)
	w.must((*Seen).CreateMachines)
	_, facts := w.see()
	chosen, err := labels.Parse(facts.Counts.Selector)
	if err != nil {
		t.Fatal(err)
	}
	if !chosen.Matches(labels.Set(w.machine("a-0").Labels)) || chosen.Matches(labels.Set(w.machine("a-bootstrap").Labels)) {
		t.Errorf("%s chooses others", facts.Counts.Selector)
	}
}
