package v1alpha1_test

import (
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capstan-capi/capstan/api/v1alpha1"
)

func TestDefinitions_are_named_and_labelled_as_Cluster_API_finds_them(t *testing.T) {
	kinds := map[string]string{
		"openshiftcontrolplanes": v1alpha1.ControlPlaneKind, "openshiftconfigs": v1alpha1.ConfigKind, "openshiftconfigtemplates": v1alpha1.ConfigTemplateKind,
	}
	for _, plural := range definitions {
		crd, _ := definition(t, plural)
		if want := plural + "." + v1alpha1.GroupVersion.Group; crd.Name != want || crd.Spec.Scope != apiextensionsv1.NamespaceScoped {
			t.Errorf("%s is called %s, of scope %s", want, crd.Name, crd.Spec.Scope)
		}
		if crd.Spec.Names.Kind != kinds[plural] || crd.Spec.Names.Plural != strings.ToLower(kinds[plural])+"s" {
			t.Errorf("%s has the names %+v", plural, crd.Spec.Names)
		}
		if got := crd.Labels["cluster.x-k8s.io/v1beta2"]; got != v1alpha1.GroupVersion.Version {
			t.Errorf("%s: the contract v1beta2 is %q", plural, got)
		}
		if _, moved := crd.Labels["clusterctl.cluster.x-k8s.io"]; !moved || crd.Labels["cluster.x-k8s.io/provider"] == "" {
			t.Errorf("%s: clusterctl would not find its objects: %v", plural, crd.Labels)
		}
	}
}

func TestDefinitions_have_the_fields_that_Cluster_API_reads(t *testing.T) {
	fields := func(plural string, path ...string) []string {
		crd, _ := definition(t, plural)
		at := *crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		for _, name := range path {
			at = at.Properties[name]
		}
		var names []string
		for name := range at.Properties {
			names = append(names, name)
		}
		return names
	}
	for name, row := range map[string]struct {
		plural string
		path   []string
		want   []string
	}{
		"status of a control plane": {"openshiftcontrolplanes", []string{"status"}, []string{
			"conditions", "initialization", "selector", "replicas", "readyReplicas", "availableReplicas", "upToDateReplicas", "version",
			"observedGeneration", "machine", "state", "since", "waits", "deadline", "lastFailure",
		}},
		"initialization of a control plane": {"openshiftcontrolplanes", []string{"status", "initialization"}, []string{"controlPlaneInitialized"}},
		"machines of a control plane": {"openshiftcontrolplanes", []string{"spec", "machineTemplate", "spec"}, []string{
			"infrastructureRef", "deletion", "readinessGates", "taints",
		}},
		"status of a config":         {"openshiftconfigs", []string{"status"}, []string{"conditions", "initialization", "dataSecretName", "machine", "state"}},
		"initialization of a config": {"openshiftconfigs", []string{"status", "initialization"}, []string{"dataSecretCreated"}},
		"template of a config":       {"openshiftconfigtemplates", []string{"spec", "template"}, []string{"metadata", "spec"}},
	} {
		got := fields(row.plural, row.path...)
		for _, want := range row.want {
			if !slices.Contains(got, want) {
				t.Errorf("%s: there is no %s, only %v", name, want, got)
			}
		}
	}
	for _, never := range []string{"failureReason", "failureMessage"} {
		if slices.Contains(fields("openshiftcontrolplanes", "status"), never) || slices.Contains(fields("openshiftconfigs", "status"), never) {
			t.Errorf("%s is a field that the contract has given up", never)
		}
	}
	if slices.Contains(fields("openshiftcontrolplanes", "spec"), "version") {
		t.Error("spec.version would be Kubernetes' version, which nobody chooses here")
	}
	crd, _ := definition(t, "openshiftcontrolplanes")
	scale := crd.Spec.Versions[0].Subresources.Scale
	if scale == nil || scale.SpecReplicasPath != ".spec.replicas" || scale.StatusReplicasPath != ".status.replicas" || *scale.LabelSelectorPath != ".status.selector" {
		t.Errorf("the scale subresource is %+v", scale)
	}
}

func TestScheme_knows_every_kind(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{v1alpha1.ControlPlaneKind, v1alpha1.ConfigKind, v1alpha1.ConfigTemplateKind} {
		for _, name := range []string{kind, kind + "List"} {
			if !scheme.Recognizes(v1alpha1.GroupVersion.WithKind(name)) {
				t.Errorf("the scheme does not know %s", name)
			}
		}
	}
}
