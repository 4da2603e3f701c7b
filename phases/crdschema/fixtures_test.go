package crdschema_test

import (
	"strings"
	"testing"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

// widgets is a definition with the versions v1alpha1, v1beta1 and v1beta2, which is stored; v1alpha1 is not served.
const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - {name: v1alpha1, served: false, storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: SPEC}}}}
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: SPEC}}}}
  - name: v1beta2
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: SPEC, status: {type: object}}}}
`

// definition is widgets with a schema of spec, changed by pairs of an old and a new text.
func definition(spec string, changes ...string) string {
	text := strings.ReplaceAll(widgets, "SPEC", spec)
	for i := 0; i < len(changes); i += 2 {
		text = strings.Replace(text, changes[i], changes[i+1], 1)
	}
	return text
}

// specification is a requirement on the stored version of a definition.
func specification(data string) *requirementsv1alpha1.CompatibilityRequirementSpec {
	spec := &requirementsv1alpha1.CompatibilityRequirementSpec{}
	spec.CompatibilitySchema.CustomResourceDefinition = requirementsv1alpha1.CRDData{Type: requirementsv1alpha1.CRDDataTypeYAML, Data: data}
	spec.CompatibilitySchema.RequiredVersions.DefaultSelection = requirementsv1alpha1.APIVersionSetTypeStorageOnly
	return spec
}

// excluding adds excluded fields of v1beta2.
func excluding(spec *requirementsv1alpha1.CompatibilityRequirementSpec, paths ...string) *requirementsv1alpha1.CompatibilityRequirementSpec {
	for _, path := range paths {
		spec.CompatibilitySchema.ExcludedFields = append(spec.CompatibilitySchema.ExcludedFields, requirementsv1alpha1.APIExcludedField{
			Path: path, Versions: []requirementsv1alpha1.APIVersionString{"v1beta2"},
		})
	}
	return spec
}

func decoded(t testing.TB, spec *requirementsv1alpha1.CompatibilityRequirementSpec) *crdschema.Need {
	t.Helper()
	need, err := crdschema.Decode(spec)
	if err != nil {
		t.Fatal(err)
	}
	return need
}

func live(t testing.TB, data string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(data), crd); err != nil {
		t.Fatal(err)
	}
	return crd
}
