// Package admissiontest asks admission policies in the process of a test, by the API server's own code, and says what each
// expression costs. It matches nothing: whoever asks names the policy.
package admissiontest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	celgo "github.com/google/cel-go/cel"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/capstan-capi/capstan/message"
)

// Policy is a ValidatingAdmissionPolicy that can be asked.
type Policy struct {
	asked []asked
}

// asked is one validation and its message.
type asked struct{ condition, message cel.ConditionEvaluator }

// expression is one of CEL, as a policy has it.
type expression struct {
	name, text string
	is         []*celgo.Type
}

func (e expression) GetName() string            { return e.name }
func (e expression) GetExpression() string      { return e.text }
func (e expression) ReturnTypes() []*celgo.Type { return e.is }

// New makes a policy that can be asked; an expression that an API server would not take is an error.
func New(object *unstructured.Unstructured) (*Policy, error) {
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, policy, true); err != nil {
		return nil, fmt.Errorf("reading %s: %w", object.GetName(), err)
	}
	compiler, err := cel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return nil, err
	}
	has := cel.OptionalVariableDeclarations{HasParams: policy.Spec.ParamKind != nil, HasAuthorizer: true}
	for i := range policy.Spec.Variables {
		v := &policy.Spec.Variables[i]
		if escaped, sound := apiservercel.Escape(v.Name); !sound || escaped != v.Name {
			return nil, fmt.Errorf("variable %s of %s: the name is reserved", v.Name, object.GetName())
		}
		result := compiler.CompileAndStoreVariable(expression{name: v.Name, text: v.Expression, is: []*celgo.Type{celgo.AnyType, celgo.DynType}}, has, environment.NewExpressions)
		if result.Error != nil {
			return nil, fmt.Errorf("variable %s of %s: %w", v.Name, object.GetName(), result.Error)
		}
	}
	made := &Policy{}
	for _, c := range policy.Spec.MatchConditions {
		made.compile(compiler, expression{text: c.Expression, is: []*celgo.Type{celgo.BoolType}}, nil, has)
	}
	conditions := len(made.asked)
	for _, v := range policy.Spec.Validations {
		made.compile(compiler, expression{text: v.Expression, is: []*celgo.Type{celgo.BoolType}}, expression{text: v.MessageExpression, is: []*celgo.Type{celgo.StringType}}, has)
	}
	for _, a := range made.asked {
		for _, evaluator := range []cel.ConditionEvaluator{a.condition, a.message} {
			for _, err := range evaluator.CompilationErrors() {
				return nil, fmt.Errorf("%s: %w", object.GetName(), err)
			}
		}
	}
	made.asked = made.asked[conditions:]
	return made, nil
}

func (p *Policy) compile(compiler *cel.CompositedCompiler, condition, text cel.ExpressionAccessor, has cel.OptionalVariableDeclarations) {
	a := asked{condition: compiler.CompileCondition([]cel.ExpressionAccessor{condition}, has, environment.NewExpressions)}
	has.HasAuthorizer = false // no message has one
	var texts []cel.ExpressionAccessor
	if text != nil {
		texts = append(texts, text)
	}
	a.message = compiler.CompileCondition(texts, has, environment.NewExpressions)
	p.asked = append(p.asked, a)
}

// Request is what a policy is asked about.
type Request struct {
	Operation   admission.Operation
	Object, Old *unstructured.Unstructured
	Subresource string
	Namespace   *corev1.Namespace // that of the object
	Params      runtime.Object
	User        string   // who asks; empty for somebody
	Verbs       []string // those that the user has, on whatever
}

// allowed gives some verbs to everybody.
func allowed(verbs []string) authorizer.AuthorizerFunc {
	return func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if slices.Contains(verbs, a.GetVerb()) {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	}
}

// Answer is what one validation says.
type Answer struct {
	// Refused says why it does not hold; empty if it does.
	Refused string
	// Cost is what the API server would charge, variables and message included.
	Cost int64
}

// Ask asks all validations of the policy, whatever its match conditions say.
func (p *Policy) Ask(ctx context.Context, r Request) ([]Answer, error) {
	about := r.Object
	if about == nil {
		about = r.Old
	}
	gvk := about.GroupVersionKind()
	gvr, _ := meta.UnsafeGuessKindToResource(gvk)
	versioned := &admission.VersionedAttributes{VersionedKind: gvk}
	if r.Object != nil {
		versioned.VersionedObject = r.Object
	}
	if r.Old != nil {
		versioned.VersionedOldObject = r.Old
	}
	versioned.Attributes = admission.NewAttributesRecord(versioned.VersionedObject, versioned.VersionedOldObject, gvk, about.GetNamespace(), about.GetName(),
		gvr, r.Subresource, r.Operation, nil, false, &user.DefaultInfo{Name: cmp.Or(r.User, "somebody")})
	request := cel.CreateAdmissionRequest(versioned.Attributes, metav1.GroupVersionResource(gvr), metav1.GroupVersionKind(gvk))
	bindings, namespace := cel.OptionalVariableBindings{VersionedParams: r.Params, Authorizer: allowed(r.Verbs)}, cel.CreateNamespaceObject(r.Namespace)
	var answers []Answer
	for _, a := range p.asked {
		results, left, err := a.condition.ForInput(ctx, versioned, request, bindings, namespace, celconfig.RuntimeCELCostBudget)
		if err != nil {
			return nil, err
		}
		texts, left, err := a.message.ForInput(ctx, versioned, request, bindings, namespace, left)
		if err != nil {
			return nil, err
		}
		answer := Answer{Cost: celconfig.RuntimeCELCostBudget - left}
		if result := results[0]; result.Error != nil {
			answer.Refused = "error: " + result.Error.Error()
		} else if result.EvalResult.Value() != true {
			answer.Refused = "no message"
			if len(texts) > 0 && texts[0].Error == nil {
				answer.Refused = message.Shorten(fmt.Sprint(texts[0].EvalResult.Value()), celconfig.MaxEvaluatedMessageExpressionSizeBytes)
			}
		}
		answers = append(answers, answer)
	}
	return answers, nil
}
