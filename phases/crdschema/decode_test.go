package crdschema_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

const someSpec = `{type: object, properties: {a: {type: string}, m: {type: object, additionalProperties: {type: object, properties: {x: {type: string}}}}, l: {type: array, items: {type: object, properties: {z: {type: string}}}}}}`

func TestDecode_defaults_as_the_API_server_does(t *testing.T) {
	need := decoded(t, specification(definition(someSpec)))
	crd := need.CRD()
	if crd.Spec.Names.Singular != "widget" || crd.Spec.Names.ListKind != "WidgetList" || crd.Spec.Conversion == nil {
		t.Fatalf("not defaulted: %+v", crd.Spec.Names)
	}
	if !slices.Equal(crd.Status.StoredVersions, []string{"v1beta2"}) || need.Name() != "widgets.example.com" {
		t.Fatalf("%v %s", crd.Status.StoredVersions, need.Name())
	}
}

func TestDecode_selects_versions(t *testing.T) {
	for name, c := range map[string]struct {
		selection  requirementsv1alpha1.APIVersionSelectionType
		additional []requirementsv1alpha1.APIVersionString
		want       []string
	}{
		"the stored one":               {"StorageOnly", nil, []string{"v1beta2"}},
		"all served":                   {"AllServed", nil, []string{"v1beta1", "v1beta2"}},
		"more, unserved or stored too": {"StorageOnly", []requirementsv1alpha1.APIVersionString{"v1beta2", "v1alpha1"}, []string{"v1alpha1", "v1beta2"}},
	} {
		t.Run(name, func(t *testing.T) {
			spec := specification(definition(someSpec))
			spec.CompatibilitySchema.RequiredVersions = requirementsv1alpha1.APIVersions{DefaultSelection: c.selection, AdditionalVersions: c.additional}
			if got := decoded(t, spec).Versions(); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestDecode_refuses_and_says_where(t *testing.T) {
	const data = "spec.compatibilitySchema.customResourceDefinition.data"
	nested := strings.Repeat("{type: array, items: ", 210) + "{type: string}" + strings.Repeat("}", 210)
	for name, c := range map[string]struct {
		data string
		want []string
	}{
		"nothing":              {"", []string{data, "no document"}},
		"an empty object":      {"{}", []string{data, "metadata.name", "kind: must be", "spec.versions: exactly one"}},
		"a list":               {"[]", []string{data, "decoding the definition"}},
		"null":                 {"null", []string{data, "kind: must be"}},
		"another kind":         {definition(someSpec, "kind: CustomResourceDefinition", "kind: ConfigMap"), []string{"kind: must be", `"ConfigMap"`}},
		"the old version":      {definition(someSpec, "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1"), []string{"kind: must be"}},
		"another name":         {definition(someSpec, "name: widgets.example.com", "name: gadgets.example.com"), []string{`metadata.name: must be "widgets.example.com"`}},
		"no scope":             {definition(someSpec, "scope: Namespaced", ""), []string{"spec.scope: must be Cluster or Namespaced"}},
		"two documents":        {definition(someSpec) + "---\n{}\n", []string{"more than one document"}},
		"an empty second one":  {definition(someSpec) + "---\n", []string{"more than one document"}},
		"rubbish behind it":    {definition(someSpec) + "---\n{", []string{"after the first document"}},
		"no YAML":              {"{", []string{"reading YAML"}},
		"a key twice":          {definition(someSpec, "scope: Namespaced", "scope: Namespaced\n  scope: Cluster"), []string{`key "scope" already set`}},
		"a misspelt field":     {definition(someSpec, "scope: Namespaced", "scoop: Namespaced"), []string{`unknown field "spec.scoop"`}},
		"a field in capitals":  {definition(someSpec, "scope: Namespaced", "Scope: Namespaced"), []string{`unknown field "spec.Scope"`}},
		"misspelt in a schema": {definition(`{type: object, propertys: {}}`), []string{`unknown field "spec.versions[0].schema.openAPIV3Schema.properties.spec.propertys"`}},
		"misspelt in items":    {definition(`{type: array, items: {type: object, propertys: {}}}`), []string{`unknown field "spec.versions[2].schema.openAPIV3Schema.properties.spec.items.propertys"`}},
		"misspelt in a map":    {definition(`{type: object, additionalProperties: {type: object, properties: {a: {typ: string}}}}`), []string{`unknown field "spec.versions[0].schema.openAPIV3Schema.properties.spec.additionalProperties.properties.a.typ"`}},
		"two stored versions":  {definition(someSpec, "storage: false", "storage: true"), []string{"exactly one version must have storage: true, and 2 have it"}},
		"a version twice":      {definition(someSpec, "name: v1beta1", "name: v1alpha1"), []string{`spec.versions[1].name: "v1alpha1" is there twice`}},
		"a bad version":        {definition(someSpec, "name: v1beta1", "name: V1"), []string{`spec.versions[1].name: "V1"`}},
		"no schema":            {definition(someSpec, "    schema: {openAPIV3Schema: {type: object, properties: {spec: "+someSpec+", status: {type: object}}}}\n", ""), []string{"spec.versions[2].schema.openAPIV3Schema: must be set"}},
		"not structural":       {definition(`{properties: {a: {type: string}}}`), []string{"spec.versions[2].schema.openAPIV3Schema.properties[spec].type", "must not be empty"}},
		"a reference":          {definition(`{$ref: '#/definitions/a'}`), []string{"'$ref' is not supported"}},
		"too long":             {definition(someSpec) + "#" + strings.Repeat("ä", 1572864), []string{"and may have 1572864"}},
		"too many values":      {"a: [" + strings.Repeat("1,", 500_000) + "]", []string{"and may have 500000"}},
		"too deep":             {definition(nested), []string{"more than 200 maps and lists are inside each other"}},
		"aliases multiply":     {"a: &a [aaaaaaaaaaaaaaaaaaaa]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n", []string{"aliases stand for more than 1572864 bytes"}},
		"an alias of itself":   {"a: &a [*a]", []string{"stands for what it is in"}},
		"of an API server":     {strings.NewReplacer("example.com", "coordination.k8s.io", "widgets", "leases").Replace(definition(someSpec)), []string{"metadata.name: API servers serve the group coordination.k8s.io themselves: no requirement may have a definition in it"}},
		"of Kubernetes's own":  {strings.NewReplacer("example.com", "apps", "widgets", "deployments").Replace(definition(someSpec)), []string{"API servers serve the group apps themselves"}},
		"what Capstan needs":   {strings.NewReplacer("example.com", "operator.openshift.io", "widgets", "clusterapis").Replace(definition(someSpec)), []string{"metadata.name: Capstan needs clusterapis.operator.openshift.io"}},
		"too many rules":       {definition(`{type: string, x-kubernetes-validations: [` + strings.Repeat(`{rule: "true"},`, 334) + `]}`), []string{"spec.versions: together they have 1002 rules", "may have 1000"}},
		"rules in maps":        {definition(`{type: object, additionalProperties: {type: array, items: {type: string, x-kubernetes-validations: [` + strings.Repeat(`{rule: "true"},`, 1001) + `]}}}`), []string{"together they have 3003 rules"}},
		"too long rules":       {definition(`{type: string, x-kubernetes-validations: [{rule: "` + strings.Repeat("a", 256<<10) + `b"}]}`), []string{"together they have 786435 bytes in x-kubernetes-validations"}},
		"too many clauses":     {definition(`{type: string, allOf: [` + strings.Repeat("{},", 5000) + `{anyOf: [` + strings.Repeat("{},", 5000) + `{}]}]}`), []string{"together they have 30006 clauses"}},
	} {
		t.Run(name, func(t *testing.T) { refused(t, specification(c.data), c.want) })
	}
}

func TestDecode_refuses_versions_and_exclusions(t *testing.T) {
	const schema = "spec.compatibilitySchema."
	type versions = []requirementsv1alpha1.APIVersionString
	for name, c := range map[string]struct {
		change func(*requirementsv1alpha1.CompatibilitySchema)
		want   []string
	}{
		"an unknown selection": {func(s *requirementsv1alpha1.CompatibilitySchema) { s.RequiredVersions.DefaultSelection = "Some" }, []string{schema + "requiredVersions.defaultSelection", "Some"}},
		"more than all served": {func(s *requirementsv1alpha1.CompatibilitySchema) {
			s.RequiredVersions = requirementsv1alpha1.APIVersions{DefaultSelection: "AllServed", AdditionalVersions: versions{"v1beta1"}}
		}, []string{schema + "requiredVersions.additionalVersions", "AllServed"}},
		"an absent version": {func(s *requirementsv1alpha1.CompatibilitySchema) {
			s.RequiredVersions.AdditionalVersions = versions{"v1"}
		}, []string{schema + "requiredVersions.additionalVersions[0]", "no such version"}},
		"a version twice": {func(s *requirementsv1alpha1.CompatibilitySchema) {
			s.RequiredVersions.AdditionalVersions = versions{"v1beta1", "v1beta1"}
		}, []string{schema + "requiredVersions.additionalVersions[1]", "Duplicate"}},
		"an excluded field that is absent":           {exclude("v1beta2", "spec.a", "spec.b"), []string{schema + "excludedFields[1].path", `there is no field "spec.b"`}},
		"an excluded field through a map":            {exclude("v1beta2", "spec.m.x"), []string{schema + "excludedFields[0].path", `"spec.m" is a map`}},
		"an excluded field below a text":             {exclude("v1beta2", "spec.a.b"), []string{`there is no field "spec.a.b"`}},
		"an excluded field in an unselected version": {exclude("v1beta1", "spec.a"), []string{schema + "excludedFields[0].versions[0]", "not selected"}},
		"an excluded field twice":                    {exclude("v1beta2", "spec.a", "spec.a"), []string{schema + "excludedFields[1].path", "Duplicate"}},
	} {
		t.Run(name, func(t *testing.T) {
			spec := specification(definition(someSpec))
			c.change(&spec.CompatibilitySchema)
			refused(t, spec, c.want)
		})
	}
}

func TestDecode_finds_excluded_fields_in_items(t *testing.T) {
	excluded := decoded(t, excluding(specification(definition(someSpec)), "spec.l.z", "status")).Exclusions("v1beta2")
	if !excluded.Has("status") || excluded.Has("spec") || !excluded["spec"].Below["l"].Below.Has("z") {
		t.Errorf("%+v", excluded)
	}
}

func TestDecode_reads_the_definitions_that_are_shipped(t *testing.T) {
	files, err := filepath.Glob("../../crds/manifests/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	refused := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := crdschema.Decode(specification(string(data))); err != nil && strings.HasSuffix(err.Error(), "no requirement may have it") {
			refused++ // Capstan needs it
			continue
		}
		verdict := decoded(t, specification(string(data))).Compare(live(t, string(data)))
		if len(verdict.Missing)+len(verdict.Warnings) > 0 {
			t.Errorf("%s: does not meet itself: %v", file, verdict)
		}
	}
	if refused != 3 {
		t.Errorf("Capstan needs %d of them", refused)
	}
}

func exclude(version requirementsv1alpha1.APIVersionString, paths ...string) func(*requirementsv1alpha1.CompatibilitySchema) {
	return func(s *requirementsv1alpha1.CompatibilitySchema) {
		for _, path := range paths {
			s.ExcludedFields = append(s.ExcludedFields, requirementsv1alpha1.APIExcludedField{Path: path, Versions: []requirementsv1alpha1.APIVersionString{version}})
		}
	}
}

func refused(t *testing.T, spec *requirementsv1alpha1.CompatibilityRequirementSpec, want []string) {
	t.Helper()
	_, err := crdschema.Decode(spec)
	if err == nil {
		t.Fatal("it is taken")
	}
	for _, text := range want {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%v\nlacks %q", err, text)
		}
	}
}
