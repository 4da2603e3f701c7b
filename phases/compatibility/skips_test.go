package compatibility

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/utils/ptr"
)

// conditionsOf are conditions of one requirement, numbered.
func conditionsOf(expressions ...string) []admissionregistrationv1.MatchCondition {
	var all []admissionregistrationv1.MatchCondition
	for i, expression := range expressions {
		all = append(all, admissionregistrationv1.MatchCondition{Name: fmt.Sprintf("c%d", i), Expression: expression})
	}
	return all
}

func times(many int, expression string) (all []string) {
	for range many {
		all = append(all, expression)
	}
	return all
}

// matched evaluates conditions under Fail as an API server does.
func matched(t *testing.T, conditions []admissionregistrationv1.MatchCondition, terminating bool) matchconditions.MatchResult {
	t.Helper()
	var expressions []cel.ExpressionAccessor
	for _, c := range conditions {
		expressions = append(expressions, ptr.To(matchconditions.MatchCondition(c)))
	}
	compiler := cel.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	evaluator := compiler.CompileCondition(expressions, cel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.StoredExpressions)
	if problems := evaluator.CompilationErrors(); len(problems) > 0 {
		t.Fatal(problems)
	}
	box := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Box", "metadata": map[string]any{"name": "a"}}}
	if terminating {
		box.SetDeletionTimestamp(ptr.To(metav1.Now()))
	}
	kind := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Box"}
	attributes := admission.NewAttributesRecord(box, box, kind, "", "a", kind.GroupVersion().WithResource("boxes"), "", admission.Update, &metav1.UpdateOptions{}, false, &user.DefaultInfo{Name: "u"})
	allows := authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
		return authorizer.DecisionAllow, "", nil
	})
	matcher := matchconditions.NewMatcher(evaluator, ptr.To(admissionregistrationv1.Fail), "webhook", "validating", "one")
	return matcher.Match(t.Context(), &admission.VersionedAttributes{Attributes: attributes, VersionedKind: kind, VersionedObject: box, VersionedOldObject: box}, nil, allows)
}

func TestWithTheirs_lets_what_is_terminating_pass_whatever_theirs_say(t *testing.T) {
	const check = "authorizer.group('').resource('pods').check('get').allowed()"
	for name, c := range map[string]struct {
		theirs []admissionregistrationv1.MatchCondition
		errs   bool // for what is not terminating
	}{
		"none":                          {},
		"one that is true":              {theirs: conditionsOf("true")},
		"one that ends in a comment":    {theirs: conditionsOf("true // all")},
		"an alternative":                {theirs: conditionsOf("false || true")},
		"a choice":                      {theirs: conditionsOf("true ? true : false")},
		"one that errs":                 {theirs: conditionsOf("object.nothing == 'x'"), errs: true},
		"checks within the budget":      {theirs: conditionsOf(times(7, check)...)},
		"checks beyond the budget":      {theirs: conditionsOf(times(8, check)...), errs: true},
		"one with two checks":           {theirs: conditionsOf(check + " && " + check)},
		"one with three":                {theirs: conditionsOf(strings.Join(times(3, check), " && ")), errs: true},
		"one with checks beyond it":     {theirs: conditionsOf(strings.Join(times(8, check), " && ")), errs: true},
		"as many as may be":             {theirs: conditionsOf(times(maxConditions, "true // all")...)},
		"as many as may be, which err":  {theirs: conditionsOf(times(maxConditions, "object.nothing == 'x'")...), errs: true},
		"as many as may be, which cost": {theirs: conditionsOf(times(maxConditions, check)...), errs: true},
	} {
		t.Run(name, func(t *testing.T) {
			all := withTheirs(c.theirs)
			if len(all) > maxConditions {
				t.Errorf("%d conditions", len(all))
			}
			if got := matched(t, all, true); got.Error != nil || got.Matches {
				t.Errorf("terminating: %+v", got)
			}
			if got := matched(t, all, false); (got.Error != nil) != c.errs || got.Matches == c.errs {
				t.Errorf("not terminating: %+v", got)
			}
		})
	}
}

func TestWithTheirs_gives_each_condition_a_name_of_its_own_that_may_be(t *testing.T) {
	var theirs []admissionregistrationv1.MatchCondition
	for len(theirs) < maxConditions-1 {
		theirs = append(theirs, admissionregistrationv1.MatchCondition{Name: withTheirs(theirs)[0].Name, Expression: "true"})
	}
	names := map[string]bool{}
	for _, c := range withTheirs(theirs) {
		if wrong := validation.IsQualifiedName(c.Name); names[c.Name] || len(wrong) > 0 {
			t.Errorf("%s: %v", c.Name, wrong)
		}
		names[c.Name] = true
	}
	if len(names) != maxConditions {
		t.Errorf("they are %d", len(names))
	}
}
