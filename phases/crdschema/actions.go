package crdschema

import (
	"cmp"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
)

// EnforcesCondition is the type of the condition that remembers what the last usable spec of a requirement has enforced.
const EnforcesCondition = "Enforces"

// Actions are what a requirement has done about writes of its definition and of its objects; empty for nothing.
type Actions struct {
	CRDs, Objects requirementsv1alpha1.CRDAdmitAction
}

// Asked are the actions that a requirement's spec asks for, whatever its data says.
func Asked(r *requirementsv1alpha1.CompatibilityRequirement) Actions {
	return Actions{r.Spec.CustomResourceDefinitionSchemaValidation.Action, r.Spec.ObjectSchemaValidation.Action}
}

// Held are the actions of a requirement as long as nobody knows that its spec can be used: nothing is loosened that the
// last usable one has enforced. Once its conditions say that the spec is usable, they are those that it asks for.
func Held(r *requirementsv1alpha1.CompatibilityRequirement) Actions {
	asked := Asked(r)
	told := meta.FindStatusCondition(r.Status.Conditions, EnforcesCondition)
	if told == nil || told.ObservedGeneration == r.Generation {
		return asked
	}
	before := remembered(told.Reason)
	return Actions{stricter(asked.CRDs, before.CRDs), stricter(asked.Objects, before.Objects)}
}

// Reason is how a condition remembers actions, such as CRDsDenyObjectsWarn.
func (a Actions) Reason() string {
	reason := ""
	if a.CRDs != "" {
		reason += "CRDs" + string(a.CRDs)
	}
	if a.Objects != "" {
		reason += "Objects" + string(a.Objects)
	}
	return cmp.Or(reason, "Nothing")
}

// remembered are the actions of a reason, none for one that [Actions.Reason] does not make.
func remembered(reason string) Actions {
	all := []requirementsv1alpha1.CRDAdmitAction{"", requirementsv1alpha1.CRDAdmitActionWarn, requirementsv1alpha1.CRDAdmitActionDeny}
	for _, crds := range all {
		for _, objects := range all {
			if a := (Actions{crds, objects}); a.Reason() == reason {
				return a
			}
		}
	}
	return Actions{}
}

func stricter(a, b requirementsv1alpha1.CRDAdmitAction) requirementsv1alpha1.CRDAdmitAction {
	if a == requirementsv1alpha1.CRDAdmitActionDeny || b == requirementsv1alpha1.CRDAdmitActionDeny {
		return requirementsv1alpha1.CRDAdmitActionDeny
	}
	return cmp.Or(a, b)
}
