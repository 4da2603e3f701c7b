package crdschema

import (
	"testing"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestHeld_loosens_nothing_as_long_as_nobody_knows_that_the_spec_is_usable(t *testing.T) {
	none := requirementsv1alpha1.CRDAdmitAction("")
	for name, row := range map[string]struct {
		asked, before Actions
		told          int64
		want          Actions
	}{
		"never told":                      {Actions{"Warn", none}, Actions{}, 0, Actions{"Warn", none}},
		"told of this spec":               {Actions{none, none}, Actions{none, none}, 2, Actions{none, none}},
		"told of an older one, now less":  {Actions{none, "Warn"}, Actions{"Deny", "Deny"}, 1, Actions{"Deny", "Deny"}},
		"told of an older one, now more":  {Actions{"Deny", "Deny"}, Actions{"Warn", none}, 1, Actions{"Deny", "Deny"}},
		"told of an older one that warns": {Actions{none, none}, Actions{"Warn", "Warn"}, 1, Actions{"Warn", "Warn"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &requirementsv1alpha1.CompatibilityRequirement{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
			r.Spec.CustomResourceDefinitionSchemaValidation.Action, r.Spec.ObjectSchemaValidation.Action = row.asked.CRDs, row.asked.Objects
			if row.told > 0 {
				r.Status.Conditions = []metav1.Condition{{Type: EnforcesCondition, Reason: row.before.Reason(), ObservedGeneration: row.told}}
			}
			if got := Held(r); got != row.want {
				t.Errorf("held are %+v, want %+v", got, row.want)
			}
		})
	}
}
