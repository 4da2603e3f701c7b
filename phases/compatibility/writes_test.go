package compatibility

import (
	"testing"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestWorks_write_all_that_they_name_and_nothing_else(t *testing.T) {
	b, _ := keptBench(t)
	b.do(OpenHooks)
	b.do(RearmHooks)
	r := &requirementsv1alpha1.CompatibilityRequirement{}
	if err := b.Client.Get(t.Context(), client.ObjectKey{Name: "one"}, r); err != nil {
		t.Fatal(err)
	}
	r.Generation, r.Spec.ObjectSchemaValidation.Action = 2, ""
	if err := b.Client.Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	b.do(KeepHooks)
	r.Generation, r.Spec.ObjectSchemaValidation.Action = 3, "Deny"
	if err := b.Client.Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	b.do(KeepHooks)
	b.do(RemoveHooks)
	b.ledger.Whole(t, "../../docs/state-diagrams/compatibility.md", works...)
}
