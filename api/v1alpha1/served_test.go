package v1alpha1_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// definitions are the generated files, by plural.
var definitions = []string{"openshiftconfigs", "openshiftconfigtemplates", "openshiftcontrolplanes"}

// served is what an API server makes of a definition.
type served struct {
	schema     apiservervalidation.SchemaValidator
	structural *structuralschema.Structural
	rules      *cel.Validator
}

// definition reads a generated file; internal is as an API server sees it, with its defaults.
func definition(t *testing.T, plural string) (crd *apiextensionsv1.CustomResourceDefinition, internal *apiextensions.CustomResourceDefinition) {
	t.Helper()
	text, err := os.ReadFile("../../config/crd/cluster.openshift.io_" + plural + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd, internal = &apiextensionsv1.CustomResourceDefinition{}, &apiextensions.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, crd); err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	scheme.Default(crd)
	if err := scheme.Convert(crd, internal, nil); err != nil {
		t.Fatal(err)
	}
	return crd, internal
}

func serve(t *testing.T, plural string) served {
	t.Helper()
	_, internal := definition(t, plural)
	schema := internal.Spec.Validation
	if schema == nil {
		schema = internal.Spec.Versions[0].Schema
	}
	structural, err := structuralschema.NewStructural(schema.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := apiservervalidation.NewSchemaValidator(schema.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	return served{schema: validator, structural: structural, rules: cel.NewValidator(structural, true, celconfig.PerCallLimit)}
}

// accepts returns an object with its defaults, and what is refused of its creation, or of an update of old.
func (s served) accepts(t *testing.T, object, old map[string]any) (map[string]any, field.ErrorList) {
	t.Helper()
	object = runtime.DeepCopyJSON(object)
	pruning.Prune(object, s.structural, true)
	structuraldefaulting.Default(object, s.structural)
	problems := listtype.ValidateListSetsAndMaps(nil, s.structural, object)
	var before any // a nil map would be taken for an object
	if old == nil {
		problems = append(problems, apiservervalidation.ValidateCustomResource(nil, object, s.schema)...)
	} else {
		before = old
		problems = append(problems, apiservervalidation.ValidateCustomResourceUpdate(nil, object, old, s.schema)...)
	}
	if len(problems) > 0 {
		return object, problems
	}
	broken, _ := s.rules.Validate(t.Context(), nil, s.structural, object, before, celconfig.RuntimeCELCostBudget)
	return object, broken
}

// object reads YAML as an API server reads a request.
func object(t *testing.T, text string) map[string]any {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return decoded(t, raw)
}

// written is a typed object as a client sends it.
func written(t *testing.T, typed any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(typed)
	if err != nil {
		t.Fatal(err)
	}
	return decoded(t, raw)
}

func decoded(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	var all map[string]any
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber()
	if err := decoder.Decode(&all); err != nil {
		t.Fatal(err)
	}
	return numbered(all).(map[string]any)
}

// numbered has whole numbers as int64, as API servers have them.
func numbered(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, one := range v {
			v[key] = numbered(one)
		}
	case []any:
		for i, one := range v {
			v[i] = numbered(one)
		}
	case json.Number:
		if whole, err := v.Int64(); err == nil {
			return whole
		}
	}
	return value
}

func TestDefinitions_are_accepted_by_an_API_server(t *testing.T) {
	for _, plural := range definitions {
		_, internal := definition(t, plural)
		if problems := apiextensionsvalidation.ValidateCustomResourceDefinition(t.Context(), internal); len(problems) > 0 {
			t.Errorf("%s: %v", plural, problems.ToAggregate())
		}
	}
}
