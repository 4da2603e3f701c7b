package compatibility

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/crdschema/live"
)

func requirement(name, crd string, action requirementsv1alpha1.CRDAdmitAction, state string) requirementsv1alpha1.CompatibilityRequirement {
	r := requirementsv1alpha1.CompatibilityRequirement{ObjectMeta: metav1.ObjectMeta{Name: name}}
	r.Spec.CustomResourceDefinitionSchemaValidation.Action = action
	r.Status.CRDName = crd
	r.Status.Conditions = []metav1.Condition{{Type: StateCondition, Reason: state}}
	return r
}

func TestAsked_denies_what_any_requirement_denies_that_is_not_open(t *testing.T) {
	now := metav1.Now()
	gone := requirement("gone", "e.b.c", "Deny", "Releasing")
	gone.DeletionTimestamp = &now
	spoilt := requirement("8", "g.b.c", "", "Refused") // its last usable spec denied
	spoilt.Generation = 2
	spoilt.Status.Conditions = append(spoilt.Status.Conditions, metav1.Condition{Type: "Enforces", Reason: "CRDsDeny", ObservedGeneration: 1})
	got := asked([]requirementsv1alpha1.CompatibilityRequirement{
		spoilt,
		requirement("1", "a.b.c", "Deny", "Met"), requirement("2", "a.b.c", "Warn", "Met"), requirement("3", "b.b.c", "Warn", "Met"),
		requirement("4", "c.b.c", "Deny", "Open"), requirement("5", "d.b.c", "", "Met"), gone, requirement("6", "", "Deny", "Arming"),
		requirement("7", "f.b.c", "Deny", "Refused"),
		requirement("forged", live.RequirementsCRD, "Deny", "Refused"), requirement("forged, too", "leases.coordination.k8s.io", "Deny", "Refused"),
	})
	if text := fmt.Sprint(got); text != "map[a.b.c:true b.b.c:false c.b.c:false f.b.c:true g.b.c:true]" {
		t.Errorf("asked are %s", text)
	}
}

// configured is capstan-crds with entries.
func configured(hooks []hook) *admissionregistrationv1.ValidatingWebhookConfiguration {
	p := &Phases{Namespace: "ops"}
	live := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	for _, h := range hooks {
		live.Webhooks = append(live.Webhooks, p.validating(h))
	}
	return live
}

func TestEntries_without_definitions_are_left_out(t *testing.T) {
	if hooks := entries(nil, nil); len(hooks) > 0 {
		t.Errorf("there are %d", len(hooks))
	}
	hooks := entries(map[string]bool{"a": false}, nil)
	if len(hooks) != 1 || isDeny(hooks[0].name) || hooks[0].denies || !slices.Equal(namesIn(hooks[0].conditions), []string{"a"}) {
		t.Errorf("they are %+v", hooks)
	}
}

func TestEntries_are_as_many_as_the_names_take_and_a_name_stays_where_it_is(t *testing.T) {
	wanted := map[string]bool{}
	for i := range 600 {
		wanted[fmt.Sprintf("%s%03d.example.com", strings.Repeat("x", 230), i)] = true
	}
	hooks := entries(wanted, nil)
	place := map[string]string{}
	for _, h := range hooks {
		for _, c := range h.conditions {
			if len(c.Expression) > 100_000 {
				t.Errorf("a condition of %s has %d bytes", h.name, len(c.Expression))
			}
		}
		for _, name := range namesIn(h.conditions) {
			place[name] = h.name
		}
	}
	if len(hooks) < 3 || len(place) != len(wanted) {
		t.Fatalf("%d entries have %d names", len(hooks), len(place))
	}
	live := configured(hooks)
	for name, in := range place { // the first entry empties, and one name is new
		if in == hooks[0].name {
			delete(wanted, name)
		}
	}
	for _, h := range entries(wanted, live) {
		for _, name := range namesIn(h.conditions) {
			if place[name] != h.name {
				t.Fatalf("%s has moved from %s to %s", name, place[name], h.name)
			}
		}
	}
	wanted["new.example.com"] = true
	if h := entries(wanted, live)[0]; h.name != hooks[0].name || len(namesIn(h.conditions)) != 1 {
		t.Errorf("the new one is in %s with %v", h.name, namesIn(h.conditions))
	}
}
