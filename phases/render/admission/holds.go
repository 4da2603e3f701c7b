package admission

import (
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Acts are the policy about acts, which is the same for all installations, and its binding.
func Acts() (*admissionregistrationv1.ValidatingAdmissionPolicy, *admissionregistrationv1.ValidatingAdmissionPolicyBinding) {
	b := Installation{}.acts()
	return b.policy(), b.binding()
}

// HoldActs says that a policy and its binding, as a cluster has them, hold the names in acts against who writes them: all that is
// refused by the policy of this release is refused by them. They may refuse more.
func HoldActs(policy *admissionregistrationv1.ValidatingAdmissionPolicy, binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding) bool {
	brought, _ := Acts()
	want, is, bound := brought.Spec, policy.Spec, binding.Spec
	if is.FailurePolicy != nil && *is.FailurePolicy != admissionregistrationv1.Fail || is.ParamKind != nil || is.MatchConstraints == nil {
		return false
	}
	// Rules of a binding are not compared: an API server asks the policy about what both are about alone.
	if bound.PolicyName != policy.Name || !slices.Contains(bound.ValidationActions, admissionregistrationv1.Deny) || bound.ParamRef != nil || narrows(bound.MatchResources) || bound.MatchResources != nil && len(bound.MatchResources.ResourceRules) > 0 {
		return false
	}
	if narrows(is.MatchConstraints) || !slices.EqualFunc(want.MatchConstraints.ResourceRules, is.MatchConstraints.ResourceRules, sameRule) {
		return false
	}
	if !equality.Semantic.DeepEqual(want.MatchConditions, is.MatchConditions) || !equality.Semantic.DeepEqual(want.Variables, is.Variables) {
		return false
	}
	return !slices.ContainsFunc(want.Validations, func(w admissionregistrationv1.Validation) bool {
		return !slices.ContainsFunc(is.Validations, func(v admissionregistrationv1.Validation) bool { return v.Expression == w.Expression })
	})
}

// narrows says that something takes objects out of what a policy is about, rules apart.
func narrows(match *admissionregistrationv1.MatchResources) bool {
	if match == nil {
		return false
	}
	selects := func(s *metav1.LabelSelector) bool { return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) > 0 }
	return selects(match.NamespaceSelector) || selects(match.ObjectSelector) || len(match.ExcludeResourceRules) > 0
}

// sameRule compares rules as they are written; the API server says of one that says nothing of it that it is for all scopes.
func sameRule(a, b admissionregistrationv1.NamedRuleWithOperations) bool {
	a.Scope, b.Scope = scopeOf(a), scopeOf(b)
	return equality.Semantic.DeepEqual(a, b)
}

func scopeOf(r admissionregistrationv1.NamedRuleWithOperations) *admissionregistrationv1.ScopeType {
	all := admissionregistrationv1.AllScopes
	if r.Scope == nil {
		return &all
	}
	return r.Scope
}
