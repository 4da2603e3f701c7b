package judge_test

import (
	"slices"
	"strings"
	"testing"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/crdschema"
	"github.com/capstan-capi/capstan/phases/crdschema/judge"
)

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: SPEC, status: STATUS}}}
`

const withoutSubresources = "    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}}\n"

// definition is widgets with schemas of spec and status, changed by pairs of an old and a new text.
func definition(spec, status string, changes ...string) string {
	text := strings.NewReplacer("SPEC", spec, "STATUS", status).Replace(widgets)
	return strings.NewReplacer(changes...).Replace(text)
}

// decoded is the need of a definition without some fields.
func decoded(t testing.TB, data string, excluded ...string) *crdschema.Need {
	t.Helper()
	spec := &requirementsv1alpha1.CompatibilityRequirementSpec{}
	spec.CompatibilitySchema.CustomResourceDefinition = requirementsv1alpha1.CRDData{Type: requirementsv1alpha1.CRDDataTypeYAML, Data: data}
	spec.CompatibilitySchema.RequiredVersions.DefaultSelection = requirementsv1alpha1.APIVersionSetTypeStorageOnly
	for _, path := range excluded {
		spec.CompatibilitySchema.ExcludedFields = append(spec.CompatibilitySchema.ExcludedFields, requirementsv1alpha1.APIExcludedField{
			Path: path, Versions: []requirementsv1alpha1.APIVersionString{"v1"},
		})
	}
	need, err := crdschema.Decode(spec)
	if err != nil {
		t.Fatal(err)
	}
	return need
}

// compiled is its judge.
func compiled(t testing.TB, data string, excluded ...string) *judge.Judge {
	t.Helper()
	compiled, err := judge.Compile(decoded(t, data, excluded...), "v1")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// kept is what a live definition has its objects keep.
func kept(t testing.TB, data string) *judge.Kept {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(data), crd); err != nil {
		t.Fatal(err)
	}
	kept, err := judge.Keep(crd, "v1")
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// widget is an object with what stands in a text beside its type and name, such as "spec: {a: b}". Without a text there is none.
func widget(t testing.TB, fields string) *unstructured.Unstructured {
	t.Helper()
	if fields == "" {
		return nil
	}
	text, err := yaml.YAMLToJSON([]byte("{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: default, resourceVersion: '1', labels: {a: b}}, " + fields + "}"))
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	return object
}

// refused are the paths of what is refused, sorted.
func refused(t testing.TB, j *judge.Judge, now, before *unstructured.Unstructured, subresource string) (paths []string) {
	t.Helper()
	untouched := now.DeepCopy()
	for _, problem := range j.Validate(t.Context(), now, before, subresource) {
		paths = append(paths, problem.Field)
	}
	if !equality.Semantic.DeepEqual(now, untouched) {
		t.Error("judging has changed the object")
	}
	slices.Sort(paths)
	return paths
}
