package compatibility

import (
	"context"
	"slices"
	"testing"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	guards "github.com/capstan-capi/capstan/guards/compatibility"
	"github.com/capstan-capi/capstan/machine"
)

func TestSay_keeps_the_name_and_the_verdict(t *testing.T) {
	r := needed(t, "")
	r.Status.CRDName = "widgets.example.com"
	r.Status.ObservedCRD = requirementsv1alpha1.ObservedCRD{UID: "w", Generation: 7}
	r.Status.Conditions = []metav1.Condition{{Type: "Compatible", Status: metav1.ConditionTrue, Reason: "Compatible", ObservedGeneration: 3}}
	told, _ := say(r, Snapshot{Seen: &Pass{}}, nil)
	if kept := meta.FindStatusCondition(told, "Compatible"); kept == nil || kept.ObservedGeneration != 3 || r.Status.CRDName == "" || r.Status.ObservedCRD.Generation != 7 {
		t.Errorf("unread: %+v, %+v", told, r.Status)
	}
	say(r, Snapshot{Seen: &Pass{}, Facts: guards.Facts{CRD: guards.CRD{Seen: true, UID: "w", Generation: 6}}}, nil)
	if r.Status.ObservedCRD.Generation != 6 {
		t.Errorf("an older one is what was compared: %+v", r.Status.ObservedCRD)
	}
	say(r, Snapshot{Seen: &Pass{}, Facts: guards.Facts{CRD: guards.CRD{Seen: true, Absent: true}}}, nil)
	if r.Status.ObservedCRD.UID != "" {
		t.Errorf("absent: %+v", r.Status.ObservedCRD)
	}
}

func TestSay_promises_nothing_for_a_generation_of_which_nobody_knows_whether_it_is_in_force(t *testing.T) {
	r := needed(t, "Deny")
	r.Generation = 2
	r.Status.Conditions = []metav1.Condition{
		{Type: "Admitted", Status: metav1.ConditionTrue, Reason: "Admitted", ObservedGeneration: 1},
		{Type: "Enforces", Status: metav1.ConditionTrue, Reason: "CRDsDeny", ObservedGeneration: 1},
		{Type: StateCondition, Status: metav1.ConditionTrue, Reason: "Met", ObservedGeneration: 1},
	}
	shot := Snapshot{Seen: &Pass{Requirement: r}, Facts: guards.Facts{Generation: 2}}
	unread := []Condition{{Type: "Progressing", Is: true, Reason: "TransientError"}}
	told, of := say(r, shot, unread)
	admitted, progressing := meta.FindStatusCondition(told, "Admitted"), meta.FindStatusCondition(told, "Progressing")
	if of != 1 || admitted == nil || admitted.ObservedGeneration != 1 || progressing.ObservedGeneration != 2 {
		t.Errorf("the record speaks of generation %d, told is %+v", of, told)
	}
	if enforces := meta.FindStatusCondition(told, "Enforces"); enforces == nil || enforces.ObservedGeneration != 1 || enforces.Reason != "CRDsDeny" {
		t.Errorf("it enforces %+v", enforces)
	}
	if _, of = say(r, shot, append(unread, Condition{Type: "Admitted"})); of != 1 {
		t.Errorf("in a state that does not promise anything, the record speaks of generation %d", of)
	}
	shot.Facts.Spec.Known, shot.Facts.Hooks.Known = true, true
	told, of = say(r, shot, append(unread, Condition{Type: "Admitted"}))
	if enforces := meta.FindStatusCondition(told, "Enforces"); of != 2 || enforces == nil || enforces.ObservedGeneration != 2 || enforces.Reason != "ObjectsDeny" {
		t.Errorf("once it is read, the record speaks of generation %d, and it enforces %+v", of, enforces)
	}
	shot.Facts.Spec.Problem, shot.Facts.Hooks.Known = "not YAML", false
	if _, of = say(r, shot, append(unread, Condition{Type: "Admitted"})); of != 2 {
		t.Errorf("refused, the record speaks of generation %d", of)
	}
}

func TestSave_takes_away_only_what_the_API_server_names(t *testing.T) {
	conditions, crd := field.NewPath("status", "conditions"), field.NewPath("status", "observedCRD")
	for name, row := range map[string]struct {
		refused            *field.Error
		theirs, definition bool // what stays
	}{
		"more conditions than there is room for": {field.TooMany(conditions, 33, 32), false, true},
		"a generation that was never reached":    {field.Invalid(crd, "", "generation may only increase on the same CRD"), true, false},
		"a text of ours":                         {field.TooLong(conditions.Index(2).Child("message"), "", 32768), true, true},
		"the spec":                               {field.Invalid(field.NewPath("spec"), "", "an old one"), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := needed(t, "")
			r.Status.ObservedCRD = requirementsv1alpha1.ObservedCRD{UID: "w", Generation: 1000}
			r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{Type: "Theirs", Status: metav1.ConditionTrue, Reason: "Theirs"})
			b := newBench(t, r, widgets())
			b.Client = interceptor.NewClient(b.Client.(client.WithWatch), interceptor.Funcs{
				SubResourcePatch: func(ctx context.Context, next client.Client, sub string, o client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
					if patch.Type() == types.ApplyPatchType {
						return apierrors.NewInvalid(schema.GroupKind{Kind: requirementKind}, "one", field.ErrorList{row.refused})
					}
					return next.SubResource(sub).Patch(ctx, o, patch, opts...)
				},
			})
			store := b.Store(func(Snapshot) []Condition { return nil }, func(Snapshot) string { return "" })
			if _, _, err := store.Load(t.Context(), "one"); err != nil {
				t.Fatal(err)
			}
			f, pass := b.observe()
			if _, err := store.Save(t.Context(), "one", Snapshot{Record: machine.Record{State: "Arming"}, Facts: f, Seen: pass}); !apierrors.IsInvalid(err) {
				t.Fatal(err)
			}
			if err := b.Client.Get(t.Context(), client.ObjectKeyFromObject(r), r); err != nil {
				t.Fatal(err)
			}
			theirs := slices.ContainsFunc(r.Status.Conditions, func(c metav1.Condition) bool { return c.Type == "Theirs" })
			if theirs != row.theirs || (r.Status.ObservedCRD.Generation > 0) != row.definition || len(r.Status.Conditions) == 0 {
				t.Errorf("left is %+v", r.Status)
			}
		})
	}
}
