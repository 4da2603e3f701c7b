package compatibility

import (
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestShare_writes_what_all_share_and_sweeps_what_belongs_to_nobody(t *testing.T) {
	left := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{
		Name: "gone", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: Manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "admissionregistration.k8s.io/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1("{}")}},
	}}
	r := needed(t, "")
	r.Spec.CustomResourceDefinitionSchemaValidation.Action = "Deny"
	r.Status.CRDName = "widgets.example.com"
	b := newBench(t, r, widgets(), left, endpoint())
	b.CA = []byte("ca")
	if again, err := b.Share(t.Context()); err != nil || again != 0 {
		t.Fatal(again, err)
	}
	if f, _ := b.observe(); len(f.Hooks.Missing) > 0 {
		t.Errorf("missing is %v", f.Hooks.Missing)
	}
	if err := b.Client.Get(t.Context(), client.ObjectKeyFromObject(left), left); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("what is left of a requirement stays: %v", err)
	}
}

func TestShare_loosens_nothing_for_a_cache_that_sees_no_requirement(t *testing.T) {
	r := needed(t, "")
	r.Spec.CustomResourceDefinitionSchemaValidation.Action = "Deny"
	r.Status.CRDName = "widgets.example.com"
	b := newBench(t, r, widgets(), endpoint())
	b.CA = []byte("ca")
	if _, err := b.Share(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.blind = true
	if _, err := b.Share(t.Context()); err == nil || !strings.Contains(err.Error(), "CompatibilityRequirement one is there, and not seen yet") {
		t.Errorf("it says %v", err)
	}
	if f, _ := b.observe(); len(f.Hooks.Missing) > 0 {
		t.Errorf("missing is %v", f.Hooks.Missing)
	}
	_, pass := b.observe()
	if _, err := KeepHooks.Run(t.Context(), pass); err == nil {
		t.Error("a requirement's own work does not tell that what all share is not written")
	}
	if err := b.Client.Delete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Share(t.Context()); err != nil {
		t.Errorf("the requirement is gone: %v", err)
	}
	crds := crdsConfiguration()
	if err := b.look(t.Context(), crds); err != nil {
		t.Fatal(err)
	}
	if left := armaments(crds.live); len(left) > 0 {
		t.Errorf("left is %v", left)
	}
}
