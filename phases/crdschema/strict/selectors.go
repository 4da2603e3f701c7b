package strict

import (
	"fmt"
	"strings"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

const (
	// maxConditions is how many match conditions a webhook may have.
	maxConditions = 64
	// maxExpressions bounds the bytes of their expressions together: what they cost to compile grows with them.
	maxExpressions = 64 << 10
	// checkCost is what CEL takes a question to the authorizer for.
	checkCost = 350_000
	// maxChecks is how many conditions may ask together, maxChecksInOne how many one may: an API server that has counted more
	// evaluates them no further, and refuses the request.
	maxChecks      = celconfig.RuntimeCELCostBudgetMatchConditions / checkCost
	maxChecksInOne = celconfig.PerCallLimit / checkCost
)

// selectorProblems is what the API server would refuse of the selectors and conditions of a webhook: validateMatchConditions and
// what is around it in k8s.io/kubernetes/pkg/apis/admissionregistration/validation, which is no library.
func selectorProblems(block *requirementsv1alpha1.ObjectSchemaValidation, path *field.Path) (problems field.ErrorList) {
	options := metav1validation.LabelSelectorValidationOptions{}
	problems = append(problems, metav1validation.ValidateLabelSelector(&block.NamespaceSelector, options, path.Child("namespaceSelector"))...)
	problems = append(problems, metav1validation.ValidateLabelSelector(&block.ObjectSelector, options, path.Child("objectSelector"))...)
	if len(block.MatchConditions) == 0 {
		return problems
	}
	path = path.Child("matchConditions")
	if len(block.MatchConditions) > maxConditions {
		problems = append(problems, field.TooMany(path, len(block.MatchConditions), maxConditions))
	}
	length, regexps, checks := 0, 0, 0
	for _, condition := range block.MatchConditions {
		if length += len(condition.Expression); length > maxExpressions {
			return append(problems, field.TooLong(path, "", maxExpressions))
		}
		if regexps += crdschema.RegexpsIn(condition.Expression); regexps > crdschema.MaxRegexps {
			return append(problems, field.Invalid(path, field.OmitValueType{}, fmt.Sprintf("their regular expressions have more than %d instructions", crdschema.MaxRegexps)))
		}
	}
	for i, condition := range block.MatchConditions {
		n := crdschema.ChecksIn(condition.Expression)
		if checks += n; n > maxChecksInOne {
			problems = append(problems, field.Invalid(path.Index(i).Child("expression"), field.OmitValueType{}, fmt.Sprintf("it may ask the authorizer %d times, and an API server allows %d in one", n, maxChecksInOne)))
		}
	}
	if checks > maxChecks {
		problems = append(problems, field.Invalid(path, field.OmitValueType{}, fmt.Sprintf("together they may ask the authorizer %d times, and an API server allows %d", checks, maxChecks)))
	}
	compiler := cel.NewCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	names := map[string]bool{}
	for i, condition := range block.MatchConditions {
		at := path.Index(i)
		if names[condition.Name] {
			problems = append(problems, field.Duplicate(at.Child("name"), condition.Name))
		}
		names[condition.Name] = true
		problems = append(problems, conditionProblems(compiler, condition, at)...)
	}
	return problems
}

func conditionProblems(compiler cel.Compiler, condition admissionregistrationv1.MatchCondition, path *field.Path) (problems field.ErrorList) {
	if condition.Name == "" {
		problems = append(problems, field.Required(path.Child("name"), ""))
	} else if wrong := utilvalidation.IsQualifiedName(condition.Name); len(wrong) > 0 {
		problems = append(problems, field.Invalid(path.Child("name"), condition.Name, strings.Join(wrong, ", ")))
	}
	expression := strings.TrimSpace(condition.Expression)
	if expression == "" {
		return append(problems, field.Required(path.Child("expression"), ""))
	}
	// An end of what is around it is no part of theirs, so that it has to compile by itself, too.
	for _, written := range []string{expression, crdschema.Skipping(condition.Expression)} {
		compiled := compiler.CompileCELExpression(&matchconditions.MatchCondition{Name: condition.Name, Expression: written},
			cel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.NewExpressions)
		if compiled.Error != nil {
			return append(problems, field.Invalid(path.Child("expression"), field.OmitValueType{}, compiled.Error.Error()))
		}
	}
	return problems
}
