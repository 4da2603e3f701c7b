package crdschema_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

// drawn makes up a schema of at most so many levels.
func drawn(t *rapid.T, depth int) apiextensionsv1.JSONSchemaProps {
	kinds := []string{"string", "integer", "boolean"}
	if depth > 0 {
		kinds = append(kinds, "object", "object", "array", "map", "preserving")
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "array":
		items := drawn(t, depth-1)
		return apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &items}}
	case "map":
		values := drawn(t, depth-1)
		return apiextensionsv1.JSONSchemaProps{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &values}}
	case "object", "preserving":
		return drawnObject(t, depth, kind == "preserving")
	default:
		return apiextensionsv1.JSONSchemaProps{Type: kind}
	}
}

func drawnObject(t *rapid.T, depth int, preserving bool) apiextensionsv1.JSONSchemaProps {
	schema := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 1, 3, rapid.ID).Draw(t, "names") {
		schema.Properties[name] = drawn(t, depth-1)
		if rapid.Bool().Draw(t, "required") {
			schema.Required = append(schema.Required, name)
		}
	}
	if preserving {
		schema.XPreserveUnknownFields = ptr.To(true)
	}
	return schema
}

// place is a field of a schema.
type place struct {
	path      string
	excluding string // the path of an exclusion; nothing inside of maps
	preserved bool   // the object that it is in preserves unknown fields
	parent    *apiextensionsv1.JSONSchemaProps
	name      string
}

// places are all fields of a schema. What is changed in a parent is changed in the schema, since maps are shared.
func places(schema *apiextensionsv1.JSONSchemaProps, at place) (all []place) {
	preserved := at.preserved || schema.XPreserveUnknownFields != nil
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		field := place{path: strings.TrimPrefix(at.path+"."+name, "."), preserved: preserved, parent: schema, name: name}
		if at.path == "" || at.excluding != "" {
			field.excluding = strings.TrimPrefix(at.excluding+"."+name, ".")
		}
		property := schema.Properties[name]
		all = append(append(all, field), places(&property, place{path: field.path, excluding: field.excluding})...)
	}
	if schema.Items != nil {
		all = append(all, places(schema.Items.Schema, place{path: at.path + "[*]", excluding: at.excluding, preserved: preserved})...)
	}
	if schema.AdditionalProperties != nil {
		all = append(all, places(schema.AdditionalProperties.Schema, place{path: at.path + "{*}"})...)
	}
	return all
}

// made is a definition with a schema of spec in its versions.
func made(t *rapid.T, spec *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(definition("{}")), crd); err != nil {
		t.Fatal(err)
	}
	for i := range crd.Spec.Versions {
		crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"] = *spec.DeepCopy()
	}
	return crd
}

func needed(t *rapid.T, crd *apiextensionsv1.CustomResourceDefinition, excluded ...string) *crdschema.Need {
	text, err := yaml.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	spec := excluding(specification(string(text)), excluded...)
	if len(excluded) == 0 {
		spec.CompatibilitySchema.RequiredVersions.AdditionalVersions = []requirementsv1alpha1.APIVersionString{"v1beta1"}
	}
	need, err := crdschema.Decode(spec)
	if err != nil {
		t.Fatal(err)
	}
	return need
}

func TestEachDefinitionMeetsItselfInWhateverOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawnObject(t, 4, false)
		crd := made(t, &spec)
		need := needed(t, crd)
		slices.Reverse(crd.Spec.Versions)
		if verdict := need.Compare(crd); len(verdict.Missing)+len(verdict.Warnings) > 0 {
			t.Fatal(verdict)
		}
	})
}

func TestMoreFieldsAreNeverMissed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawnObject(t, 4, false)
		need := needed(t, made(t, &spec))
		for _, at := range places(&spec, place{}) {
			if rapid.Bool().Draw(t, "more") {
				at.parent.Properties["more"] = drawn(t, 2)
			}
		}
		if verdict := need.Compare(made(t, &spec)); len(verdict.Missing)+len(verdict.Warnings) > 0 {
			t.Fatal(verdict)
		}
	})
}

func TestAFieldThatGoesIsToldWithItsPathUnlessItIsExcluded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawnObject(t, 4, false)
		all := places(&spec, place{})
		gone := rapid.SampledFrom(all).Draw(t, "gone")
		var excluded []string
		spared := false
		if other := rapid.SampledFrom(all).Draw(t, "excluded"); other.excluding != "" && rapid.Bool().Draw(t, "exclude") {
			excluded = append(excluded, "spec."+other.excluding)
			spared = inside(gone.path, other.path)
		}
		need := needed(t, made(t, &spec), excluded...)
		delete(gone.parent.Properties, gone.name)
		verdict := need.Compare(made(t, &spec))
		var missing, warnings []string
		for _, version := range need.Versions() {
			line := version + ": spec." + gone.path
			switch {
			case spared:
			case gone.preserved:
				warnings = append(warnings, line+": is only preserved as an unknown field")
			default:
				missing = append(missing, line+" is missing")
			}
		}
		if !slices.Equal(verdict.Missing, missing) || !slices.Equal(verdict.Warnings, warnings) {
			t.Fatalf("%v of %v: %+v, want %v and %v", gone.path, excluded, verdict, missing, warnings)
		}
	})
}

// inside says that a path leads through another one.
func inside(path, other string) bool {
	rest, ok := strings.CutPrefix(path, other)
	return ok && (rest == "" || strings.ContainsRune(".[{", rune(rest[0])))
}
