package compatibility

import (
	"strings"
	"testing"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/crdschema/live"
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

// requirementsDefinition is the definition of requirements, established or not.
func requirementsDefinition(served bool) *apiextensionsv1.CustomResourceDefinition {
	d := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: live.RequirementsCRD}}
	d.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1alpha1", Served: served}}
	d.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}
	return d
}

func TestShare_loosens_and_sweeps_nothing_while_an_API_server_does_not_serve_a_kind_that_it_has(t *testing.T) {
	for name, row := range map[string]struct {
		definition []client.Object
		gone       bool
	}{
		"its definition is there":          {[]client.Object{requirementsDefinition(true)}, false},
		"its definition does not serve it": {[]client.Object{requirementsDefinition(false)}, true},
		"its definition is gone":           {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := needed(t, "Deny")
			r.Spec.CustomResourceDefinitionSchemaValidation.Action = "Deny"
			r.Status.CRDName = "widgets.example.com"
			b := newBench(t, append(row.definition, r, widgets(), endpoint())...)
			b.CA = []byte("ca")
			if _, err := b.Share(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.do(KeepHooks)
			b.blind, b.unserved = true, true
			_, err := b.Share(t.Context())
			if told := err != nil && strings.Contains(err.Error(), "does not serve it"); told == row.gone {
				t.Errorf("it says %v", err)
			}
			crds := crdsConfiguration()
			if err := b.look(t.Context(), crds); err != nil {
				t.Fatal(err)
			}
			if got := b.policies() != "" && len(armaments(crds.live)) > 0; got == row.gone {
				t.Errorf("left is %q, and of all %v", b.policies(), armaments(crds.live))
			}
		})
	}
}

func TestShare_adds_what_is_new_also_where_nothing_may_be_loosened(t *testing.T) {
	old := needed(t, "")
	old.Spec.CustomResourceDefinitionSchemaValidation.Action = "Deny"
	old.Status.CRDName = "widgets.example.com"
	b := newBench(t, old, widgets(), endpoint(), requirementsDefinition(true))
	b.CA = []byte("ca")
	if _, err := b.Share(t.Context()); err != nil {
		t.Fatal(err)
	}
	stale := old.DeepCopy()
	fresh := requirement("two", "gadgets.example.com", "Deny", "Arming")
	fresh.UID = "v"
	if err := b.Client.Create(t.Context(), &fresh); err != nil {
		t.Fatal(err)
	}
	b.shows = []requirementsv1alpha1.CompatibilityRequirement{fresh}
	if _, err := b.Share(t.Context()); err == nil || !strings.Contains(err.Error(), "CompatibilityRequirement one is there") {
		t.Errorf("it says %v", err)
	}
	if got := b.denied(); got != "gadgets.example.com widgets.example.com" {
		t.Errorf("denied are %s", got)
	}
	if err := b.Client.Get(t.Context(), client.ObjectKeyFromObject(old), old); err != nil {
		t.Fatal(err)
	}
	old.Labels = map[string]string{"a": "b"}
	if err := b.Client.Update(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	stale.Spec.CustomResourceDefinitionSchemaValidation.Action = "" // as it was, and is no more
	b.shows = []requirementsv1alpha1.CompatibilityRequirement{*stale, fresh}
	if _, err := b.Share(t.Context()); err == nil || !strings.Contains(err.Error(), "CompatibilityRequirement one has just changed") {
		t.Errorf("it says %v", err)
	}
	if got := b.denied(); got != "gadgets.example.com widgets.example.com" {
		t.Errorf("denied by a cache that is behind are %s", got)
	}
}

func TestHooksReady_is_lost_when_somebody_edits_more_of_the_shared_configuration_than_names(t *testing.T) {
	for name, edit := range map[string]func(*admissionregistrationv1.ValidatingWebhook){
		"an objectSelector": func(h *admissionregistrationv1.ValidatingWebhook) {
			h.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"never": "there"}}
		},
		"no rules":          func(h *admissionregistrationv1.ValidatingWebhook) { h.Rules = nil },
		"another condition": func(h *admissionregistrationv1.ValidatingWebhook) { h.MatchConditions[0].Expression = "false" },
		"another path":      func(h *admissionregistrationv1.ValidatingWebhook) { h.ClientConfig.Service.Path = nil },
	} {
		t.Run(name, func(t *testing.T) {
			r := needed(t, "")
			r.Spec.CustomResourceDefinitionSchemaValidation.Action = "Deny"
			r.Status.CRDName = "widgets.example.com"
			b := newBench(t, r, widgets(), endpoint())
			b.CA = []byte("ca")
			if _, err := b.Share(t.Context()); err != nil {
				t.Fatal(err)
			}
			if f, _ := b.observe(); len(f.Hooks.Missing) > 0 {
				t.Fatalf("missing is %v", f.Hooks.Missing)
			}
			crds := crdsConfiguration()
			if err := b.look(t.Context(), crds); err != nil {
				t.Fatal(err)
			}
			edit(&crds.live.(*admissionregistrationv1.ValidatingWebhookConfiguration).Webhooks[0])
			if err := b.Client.Update(t.Context(), crds.live); err != nil {
				t.Fatal(err)
			}
			if f, _ := b.observe(); !strings.Contains(strings.Join(f.Hooks.Missing, ";"), "is not as wanted") {
				t.Errorf("missing is %v", f.Hooks.Missing)
			}
			if _, err := b.Share(t.Context()); err != nil {
				t.Fatal(err)
			}
			if f, _ := b.observe(); len(f.Hooks.Missing) > 0 {
				t.Errorf("put right, missing is %v", f.Hooks.Missing)
			}
		})
	}
}
