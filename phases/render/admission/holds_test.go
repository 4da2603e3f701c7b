package admission_test

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/render/admission"
)

func TestHoldActs(t *testing.T) {
	type (
		policy  = admissionregistrationv1.ValidatingAdmissionPolicy
		binding = admissionregistrationv1.ValidatingAdmissionPolicyBinding
	)
	some := &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	ignore, matches, all := admissionregistrationv1.Ignore, admissionregistrationv1.Equivalent, admissionregistrationv1.AllScopes
	for name, row := range map[string]struct {
		change func(*policy, *binding)
		holds  bool
	}{
		"as it is brought": {func(*policy, *binding) {}, true},
		"with what the API server says of what is not said": {func(p *policy, _ *binding) {
			c := p.Spec.MatchConstraints
			c.MatchPolicy, c.NamespaceSelector, c.ObjectSelector, c.ResourceRules[0].Scope = &matches, &metav1.LabelSelector{}, &metav1.LabelSelector{}, &all
		}, true},
		"with an audit besides": {func(_ *policy, b *binding) {
			b.Spec.ValidationActions = append(b.Spec.ValidationActions, admissionregistrationv1.Audit)
		}, true},
		"that refuses more": {func(p *policy, _ *binding) {
			p.Spec.Validations = append(p.Spec.Validations, admissionregistrationv1.Validation{Expression: "false"})
		}, true},
		"with an audit alone": {func(_ *policy, b *binding) {
			b.Spec.ValidationActions = []admissionregistrationv1.ValidationAction{admissionregistrationv1.Audit}
		}, false},
		"bound to another": {func(_ *policy, b *binding) { b.Spec.PolicyName = "another" }, false},
		"bound for some objects": {func(_ *policy, b *binding) {
			b.Spec.MatchResources = &admissionregistrationv1.MatchResources{ObjectSelector: some}
		}, false},
		"bound for other resources": {func(_ *policy, b *binding) {
			rule := admissionregistrationv1.NamedRuleWithOperations{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
				Operations: []admissionregistrationv1.OperationType{"*"},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{"nothing"}, APIVersions: []string{"*"}, Resources: []string{"nothings"}},
			}}
			b.Spec.MatchResources = &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{rule}}
		}, false},
		"that is empty":                {func(p *policy, _ *binding) { p.Spec = admissionregistrationv1.ValidatingAdmissionPolicySpec{} }, false},
		"without its validations":      {func(p *policy, _ *binding) { p.Spec.Validations = nil }, false},
		"without one of them":          {func(p *policy, _ *binding) { p.Spec.Validations = p.Spec.Validations[1:] }, false},
		"with one that lets all pass":  {func(p *policy, _ *binding) { p.Spec.Validations[2].Expression = "true" }, false},
		"with another variable":        {func(p *policy, _ *binding) { p.Spec.Variables[0].Expression = "['by: ' + request.userInfo.username]" }, false},
		"with another condition":       {func(p *policy, _ *binding) { p.Spec.MatchConditions[0].Expression = "false" }, false},
		"about other resources":        {func(p *policy, _ *binding) { p.Spec.MatchConstraints.ResourceRules[0].Resources = []string{"others"} }, false},
		"about some objects":           {func(p *policy, _ *binding) { p.Spec.MatchConstraints.ObjectSelector = some }, false},
		"that lets pass what it fails": {func(p *policy, _ *binding) { p.Spec.FailurePolicy = &ignore }, false},
	} {
		p, b := admission.Acts()
		row.change(p, b)
		if holds := admission.HoldActs(p, b); holds != row.holds {
			t.Errorf("one %s holds them is %v", name, holds)
		}
	}
}
