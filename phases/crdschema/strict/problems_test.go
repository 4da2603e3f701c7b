package strict_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/capstan-capi/capstan/phases/crdschema/strict"
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
  - {name: v1alpha1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string}, m: {type: object, additionalProperties: {type: object, properties: {b: {type: string}}}}}}}}}}
`

// requirement is one on widgets, changed by pairs of an old and a new text.
func requirement(changes ...string) *requirementsv1alpha1.CompatibilityRequirement {
	r := &requirementsv1alpha1.CompatibilityRequirement{ObjectMeta: metav1.ObjectMeta{Name: "r"}}
	r.Spec.CompatibilitySchema.CustomResourceDefinition.Data = strings.NewReplacer(changes...).Replace(widgets)
	r.Spec.CompatibilitySchema.RequiredVersions.DefaultSelection = requirementsv1alpha1.APIVersionSetTypeStorageOnly
	return r
}

const data = "spec.compatibilitySchema.customResourceDefinition.data"

func TestProblems_of_the_definition(t *testing.T) {
	const a = "a: {type: string}"
	for name, c := range map[string]struct {
		changes []string
		want    []string // nothing: there are no problems
	}{
		"a good one":            {},
		"singular and listKind": {changes: []string{"plural: widgets", "plural: widgets, singular: widget, listKind: WidgetList"}},
		"conversion by a webhook without port and bundle": {changes: []string{"  versions:", "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: a, namespace: b}}}}\n  versions:"}},
		"nothing":                  {changes: []string{widgets, "{}"}, want: []string{data, "metadata.name"}},
		"two stored versions":      {changes: []string{"storage: false", "storage: true"}, want: []string{data, "2 have it"}},
		"a misspelt field":         {changes: []string{"scope: Namespaced", "scoop: Namespaced"}, want: []string{data, `unknown field "spec.scoop"`}},
		"two documents":            {changes: []string{"scope: Namespaced", "scope: Namespaced\n---\n"}, want: []string{data, "more than one document"}},
		"bad CEL":                  {changes: []string{a, "a: {type: string, x-kubernetes-validations: [{rule: self.b}]}"}, want: []string{data, "spec.versions[1].schema.openAPIV3Schema.properties[spec].properties[a].x-kubernetes-validations[0].rule", "does not support field selection"}},
		"CEL that costs too much":  {changes: []string{a, "a: {type: array, items: {type: string}, x-kubernetes-validations: [{rule: 'self.all(x, self.all(z, x + z != \"\"))'}]}"}, want: []string{data, "exceeds budget"}},
		"a bad default":            {changes: []string{a, "a: {type: string, default: 1}"}, want: []string{data, "properties[spec].properties[a].default"}},
		"a bad unselected version": {changes: []string{"openAPIV3Schema: {type: object}}", "openAPIV3Schema: {properties: {a: {}}}}"}, want: []string{data, "spec.versions[0].schema"}},
		"a bad pattern":            {changes: []string{a, "a: {type: string, pattern: '('}"}, want: []string{data, "properties[a].pattern"}},
		"bad names":                {changes: []string{"kind: Widget", "kind: 'Wid get'"}, want: []string{data, "spec.names.kind"}},
		"unapproved":               {changes: []string{"group: example.com", "group: example.k8s.io", "widgets.example.com", "widgets.example.k8s.io"}, want: []string{data, "api-approved"}},
		"preserving everything":    {changes: []string{"scope: Namespaced", "scope: Namespaced\n  preserveUnknownFields: true"}, want: []string{data, "spec.preserveUnknownFields"}},
		"what Capstan reports by":  {changes: []string{"group: example.com", "group: config.openshift.io", "plural: widgets", "plural: clusteroperators", "widgets.example.com", "clusteroperators.config.openshift.io"}, want: []string{data, "no requirement may have it"}},
		"requirements":             {changes: []string{"group: example.com", "group: apiextensions.openshift.io", "plural: widgets", "plural: compatibilityrequirements", "widgets.example.com", "compatibilityrequirements.apiextensions.openshift.io"}, want: []string{data, "no requirement may have it"}},
	} {
		t.Run(name, func(t *testing.T) {
			told(t, requirement(c.changes...), nil, c.want)
		})
	}
}

func TestProblems_of_versions_and_exclusions(t *testing.T) {
	r := requirement()
	r.Spec.CompatibilitySchema.RequiredVersions.AdditionalVersions = []requirementsv1alpha1.APIVersionString{"v2"}
	told(t, r, nil, []string{"spec.compatibilitySchema.requiredVersions.additionalVersions[0]"})
	r = requirement()
	r.Spec.CompatibilitySchema.ExcludedFields = []requirementsv1alpha1.APIExcludedField{{Path: "spec.m.b", Versions: []requirementsv1alpha1.APIVersionString{"v1"}}}
	told(t, r, nil, []string{"spec.compatibilitySchema.excludedFields[0].path", "is a map"})
}

func TestProblems_of_selectors_and_conditions(t *testing.T) {
	const block = "spec.objectSchemaValidation."
	conditions := func(c ...admissionregistrationv1.MatchCondition) requirementsv1alpha1.ObjectSchemaValidation {
		return requirementsv1alpha1.ObjectSchemaValidation{Action: "Deny", MatchConditions: c}
	}
	numbered := func(expressions ...string) requirementsv1alpha1.ObjectSchemaValidation {
		var all []admissionregistrationv1.MatchCondition
		for i, expression := range expressions {
			all = append(all, admissionregistrationv1.MatchCondition{Name: fmt.Sprintf("c%d", i), Expression: expression})
		}
		return conditions(all...)
	}
	const check = "authorizer.group('').resource('pods').check('get').allowed()"
	for name, c := range map[string]struct {
		block requirementsv1alpha1.ObjectSchemaValidation
		want  []string
	}{
		"good ones": {block: requirementsv1alpha1.ObjectSchemaValidation{
			Action: "Deny", NamespaceSelector: metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			MatchConditions: []admissionregistrationv1.MatchCondition{{Name: "a.b/c", Expression: "request.operation == 'CREATE' && has(object.spec) && authorizer.group('').resource('pods').check('get').allowed()"}},
		}},
		"a bad label":    {block: requirementsv1alpha1.ObjectSchemaValidation{NamespaceSelector: metav1.LabelSelector{MatchLabels: map[string]string{"-": "b"}}}, want: []string{block + "namespaceSelector.matchLabels"}},
		"a bad operator": {block: requirementsv1alpha1.ObjectSchemaValidation{ObjectSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}}}, want: []string{block + "objectSelector.matchExpressions[0].operator"}},
		"no values":      {block: requirementsv1alpha1.ObjectSchemaValidation{ObjectSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "In"}}}}, want: []string{block + "objectSelector.matchExpressions[0].values"}},
		"bad CEL":        {block: conditions(admissionregistrationv1.MatchCondition{Name: "a", Expression: "object."}), want: []string{block + "matchConditions[0].expression"}},
		"no bool":        {block: conditions(admissionregistrationv1.MatchCondition{Name: "a", Expression: "'x'"}), want: []string{block + "matchConditions[0].expression", "bool"}},
		"parameters":     {block: conditions(admissionregistrationv1.MatchCondition{Name: "a", Expression: "params.x"}), want: []string{block + "matchConditions[0].expression"}},
		"no expression":  {block: conditions(admissionregistrationv1.MatchCondition{Name: "a", Expression: " "}), want: []string{block + "matchConditions[0].expression", "Required"}},
		"no name":        {block: conditions(admissionregistrationv1.MatchCondition{Expression: "true"}), want: []string{block + "matchConditions[0].name", "Required"}},
		"a bad name":     {block: conditions(admissionregistrationv1.MatchCondition{Name: "a b", Expression: "true"}), want: []string{block + "matchConditions[0].name"}},
		"a name twice":   {block: conditions(admissionregistrationv1.MatchCondition{Name: "a", Expression: "true"}, admissionregistrationv1.MatchCondition{Name: "a", Expression: "true"}), want: []string{block + "matchConditions[1].name", "Duplicate"}},
		"repeats":        {block: conditions(admissionregistrationv1.MatchCondition{Name: "a", Expression: "request.name.matches('" + strings.Repeat("[ab]{1000}", 600) + "')"}), want: []string{block + "matchConditions", "instructions"}},
		"what is in brackets of its own only in the webhook": {block: numbered("true) || (true"), want: []string{block + "matchConditions[0].expression", "Syntax error"}},
		"what is too deep only in the webhook":               {block: numbered(inside(deepest(t))), want: []string{block + "matchConditions[0].expression", "recursion"}},
		"what ends in a comment":                             {block: numbered("true // all")},
		"seven questions to the authorizer":                  {block: numbered(slices.Repeat([]string{check}, 7)...)},
		"eight":                                              {block: numbered(slices.Repeat([]string{check}, 8)...), want: []string{block + "matchConditions", "ask the authorizer 8 times", "allows 7"}},
		"eight in four":                                      {block: numbered(slices.Repeat([]string{check + " || " + check}, 4)...), want: []string{block + "matchConditions", "8 times"}},
		"three in one":                                       {block: numbered(strings.Join(slices.Repeat([]string{check}, 3), " && ")), want: []string{block + "matchConditions[0].expression", "ask the authorizer 3 times", "allows 2"}},
		"three of which two are asked":                       {block: numbered("request.operation == 'CREATE' ? " + check + " : " + check + " || " + check)},
		"one for each of three":                              {block: numbered("['a', 'b', 'c'].all(v, authorizer.group('').resource('pods').check(v).allowed())"), want: []string{block + "matchConditions[0].expression", "3 times"}},
		"more than may be":                                   {block: conditions(make([]admissionregistrationv1.MatchCondition, 65)...), want: []string{block + "matchConditions", "at most 64"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := requirement()
			r.Spec.ObjectSchemaValidation = c.block
			told(t, r, nil, c.want)
		})
	}
}

func inside(brackets int) string {
	return strings.Repeat("(", brackets) + "true" + strings.Repeat(")", brackets)
}

// deepest is how many brackets an API server takes around an expression.
func deepest(t *testing.T) int {
	t.Helper()
	compiler := cel.NewCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	for n := range 1000 {
		compiled := compiler.CompileCELExpression(&matchconditions.MatchCondition{Name: "a", Expression: inside(n + 1)}, cel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.NewExpressions)
		if compiled.Error != nil {
			return n
		}
	}
	t.Fatal("it takes any")
	return 0
}

func TestProblems_of_updates(t *testing.T) {
	gadgets := []string{"plural: widgets", "plural: gadgets", "widgets.example.com", "gadgets.example.com"}
	t.Run("another definition than before", func(t *testing.T) {
		told(t, requirement(gadgets...), requirement(), []string{data, "metadata.name: is gadgets.example.com, and was widgets.example.com"})
	})
	t.Run("another one than status has", func(t *testing.T) {
		before := requirement(widgets, "{}")
		told(t, requirement(gadgets...), before, nil)
		before.Status.CRDName = "widgets.example.com"
		told(t, requirement(gadgets...), before, []string{data, "was widgets.example.com"})
		told(t, requirement(), before, nil)
	})
	t.Run("nothing changes in the specification", func(t *testing.T) {
		now, before := requirement(widgets, "{}"), requirement(widgets, "{}")
		now.Labels = map[string]string{"a": "b"}
		told(t, now, before, nil)
	})
	t.Run("bad data stay, and something else changes", func(t *testing.T) {
		now, before := requirement(widgets, "{}"), requirement(widgets, "{}")
		now.Spec.ObjectSchemaValidation.Action = "Warn"
		told(t, now, before, []string{data})
	})
}

func TestProblems_are_not_more_than_people_read(t *testing.T) {
	r := requirement("{type: string}", "{type: object, x-kubernetes-validations: ["+strings.Repeat("{rule: self.b}, ", 100)+"]}")
	problems := strict.Problems(t.Context(), r, nil)
	if len(problems) != 32 || !strings.Contains(problems[31].Detail, "more problems") {
		t.Errorf("%d, the last one %v", len(problems), problems[len(problems)-1])
	}
}

// told asks for problems that have each of the texts, or for none.
func told(t *testing.T, now, before *requirementsv1alpha1.CompatibilityRequirement, want []string) {
	t.Helper()
	problems := strict.Problems(t.Context(), now, before)
	if len(want) == 0 && len(problems) > 0 {
		t.Fatalf("refused: %v", problems)
	}
	for _, text := range want {
		if len(problems) == 0 || !strings.Contains(problems.ToAggregate().Error(), text) {
			t.Errorf("%v\nlacks %q", problems, text)
		}
	}
}

func TestProblems_makes_none_of_a_panic(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("nobody hears of it")
		}
	}()
	t.Errorf("it says %v", strict.Problems(t.Context(), nil, nil))
}
