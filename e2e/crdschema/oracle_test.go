package crdschema_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/crdify/pkg/config"
	"sigs.k8s.io/crdify/pkg/validations/crd/existingfieldremoval"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/crds"
	"github.com/capstan-capi/capstan/phases/crdschema"
)

// TestWhatIsMissingIsWhatCrdifySays takes each field out of each definition of OpenShift that is shipped for tests, one after the
// other. crdify also tells of all below a field.
func TestWhatIsMissingIsWhatCrdifySays(t *testing.T) {
	removed := 0
	for _, shipped := range crds.All() {
		crd := shipped.DeepCopy() // in a group of the test, since some of them no requirement may have
		crd.Spec.Group, crd.Name = "example.com", crd.Spec.Names.Plural+".example.com"
		need := needed(t, crd)
		version := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
		live := crd.DeepCopy()
		eachField(live.Spec.Versions[version].Schema.OpenAPIV3Schema, func() {
			removed++
			want := saidByCrdify(crd, live)
			if got := crdifys(need.Compare(live)); !slices.Equal(got, want) {
				t.Errorf("%s: %q, crdify says %q", crd.Name, got, want)
			}
		})
	}
	if removed < 500 {
		t.Errorf("only %d fields", removed)
	}
}

func needed(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) *crdschema.Need {
	t.Helper()
	text, err := yaml.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	spec := &requirementsv1alpha1.CompatibilityRequirementSpec{}
	spec.CompatibilitySchema.CustomResourceDefinition.Data = string(text)
	spec.CompatibilitySchema.RequiredVersions.DefaultSelection = requirementsv1alpha1.APIVersionSetTypeStorageOnly
	need, err := crdschema.Decode(spec)
	if err != nil {
		t.Fatal(err)
	}
	return need
}

// eachField takes each field out of a schema, calls without, and puts it back. The type and metadata of an object are always there.
func eachField(schema *apiextensionsv1.JSONSchemaProps, without func()) {
	eachBelow(schema, true, without)
}

func eachBelow(schema *apiextensionsv1.JSONSchemaProps, root bool, without func()) {
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if root && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) {
			continue
		}
		property := schema.Properties[name]
		delete(schema.Properties, name)
		without()
		schema.Properties[name] = property
		eachBelow(&property, false, without)
	}
	if schema.Items != nil {
		eachBelow(schema.Items.Schema, false, without)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		eachBelow(schema.AdditionalProperties.Schema, false, without)
	}
}

// saidByCrdify are the fields that crdify says are gone, in its words: of a parent only itself.
func saidByCrdify(crd, live *apiextensionsv1.CustomResourceDefinition) (gone []string) {
	oracle := &existingfieldremoval.ExistingFieldRemoval{}
	oracle.SetEnforcement(config.EnforcementPolicyError)
	said := oracle.Compare(crd, live).Errors
	slices.Sort(said)
	for _, path := range said {
		path = strings.TrimPrefix(path, "removed field : ")
		if !slices.ContainsFunc(gone, func(parent string) bool { return strings.HasPrefix(path, parent+".") }) {
			gone = append(gone, path)
		}
	}
	return gone
}

// crdifys are the fields that a verdict says are gone, in the words of crdify, which does not ask who preserves unknown fields.
func crdifys(verdict crdschema.Verdict) (gone []string) {
	words := strings.NewReplacer(": is only preserved as an unknown field", "", ": ", ".^.", " is missing", "", "[*]", ".items", "{*}", ".additionalProperties")
	for _, line := range slices.Concat(verdict.Missing, verdict.Warnings) {
		gone = append(gone, words.Replace(line))
	}
	return gone
}
