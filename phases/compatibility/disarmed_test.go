package compatibility

import (
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/machine"
)

// disarm is what capstan disarm does to a configuration that exists.
func (b *bench) disarm(c *configuration, mark string) {
	b.t.Helper()
	if err := b.look(b.t.Context(), c); err != nil {
		b.t.Fatal(err)
	}
	setPolicies(c.live, func(string, armament) admissionregistrationv1.FailurePolicyType {
		return admissionregistrationv1.Ignore
	})
	c.live.SetAnnotations(with(c.live.GetAnnotations(), DisarmedAnnotation, mark))
	if err := b.Client.Update(b.t.Context(), c.live); err != nil {
		b.t.Fatal(err)
	}
}

func TestKeepHooks_arms_nothing_until_the_hold_of_capstan_disarm_ends(t *testing.T) {
	for name, row := range map[string]struct {
		mark string
		held bool
	}{
		"for a while":         {noon.Add(15 * time.Minute).Format(time.RFC3339), true},
		"that is over":        {noon.Add(-time.Minute).Format(time.RFC3339), false},
		"for more than a day": {noon.Add(100 * time.Hour).Format(time.RFC3339), false},
		"that is no time":     {"for ever", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := needed(t, "Deny")
			r.Spec.CustomResourceDefinitionSchemaValidation.Action = "Deny"
			r.Status.CRDName = "widgets.example.com"
			b := newBench(t, r, widgets(), endpoint())
			b.CA = []byte("ca")
			if _, err := b.Share(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.do(KeepHooks)
			all := []*configuration{requirementsConfigured(), crdsConfiguration()}
			for _, c := range all {
				b.disarm(c, row.mark)
			}
			both, err := b.configurationsOf(t.Context(), "one")
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range both { // the mark on that of requirements holds for those, too
				b.disarm(c, "")
			}
			again, err := b.Share(t.Context())
			if err != nil || (again == 15*time.Minute) != row.held {
				t.Errorf("it is called again in %s, %v", again, err)
			}
			_, pass := b.observe()
			result, err := KeepHooks.Run(t.Context(), pass)
			if err != nil || row.held && result.LookAgain != time.Minute { // the sooner of that and of the end of an outage
				t.Errorf("it looks again in %s, %v", result.LookAgain, err)
			}
			if armed := b.policies() == "V:Fail M:Fail"; armed == row.held {
				t.Errorf("the policies are %s", b.policies())
			}
			f, _ := b.observe()
			if told := strings.Contains(strings.Join(f.Hooks.Missing, ";"), "capstan disarm holds that off until 2026-01-01T12:15:00Z"); told != row.held {
				t.Errorf("missing is %v", f.Hooks.Missing)
			}
			b.now = b.now.Add(15 * time.Minute)
			if _, err := b.Share(t.Context()); err != nil {
				t.Fatal(err)
			}
			if f := b.do(KeepHooks); len(f.Hooks.Missing) > 0 || b.policies() != "V:Fail M:Fail" {
				t.Errorf("after the hold missing is %v", f.Hooks.Missing)
			}
		})
	}
}

func TestRearmHooks_waits_for_the_end_of_the_hold(t *testing.T) {
	b, both := keptBench(t)
	for _, c := range both {
		b.disarm(c, noon.Add(30*time.Second).Format(time.RFC3339))
	}
	_, pass := b.observe()
	pass.Requirement.Status.Conditions = append(pass.Requirement.Status.Conditions, metav1.Condition{Type: "Enforces", Reason: "ObjectsDeny", ObservedGeneration: 1})
	if result, err := RearmHooks.Run(t.Context(), pass); err != nil || result.LookAgain != 30*time.Second || b.policies() != "V:Ignore M:Ignore" {
		t.Errorf("it looks again in %s, and the policies are %s (%v)", result.LookAgain, b.policies(), err)
	}
}

func TestWrite_puts_right_at_once_what_is_edited_now_and_then_and_not_what_somebody_fights_for(t *testing.T) {
	r := needed(t, "Deny")
	r.Spec.CustomResourceDefinitionSchemaValidation.Action = "Deny"
	r.Status.CRDName = "widgets.example.com"
	b := newBench(t, r, widgets(), endpoint())
	b.CA = []byte("ca")
	if _, err := b.Share(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.do(KeepHooks)
	fight := func(times int) (fixed, shared int, lookAgain time.Duration) {
		t.Helper()
		for range times {
			both, err := b.configurationsOf(t.Context(), "one")
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range append(both, crdsConfiguration()) {
				b.disarm(c, "")
			}
			_, pass := b.observe()
			result, err := KeepHooks.Run(t.Context(), pass)
			if err != nil {
				t.Fatal(err)
			}
			if lookAgain = result.LookAgain; b.policies() == "V:Fail M:Fail" {
				fixed++
			}
			again, err := b.Share(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if again == 0 {
				shared++
			}
		}
		return fixed, shared, lookAgain
	}
	fixed, shared, lookAgain := fight(50)
	if most := fixedAtOnce; fixed == 0 || fixed > most || shared == 0 || shared > most || lookAgain != fixedEvery {
		t.Errorf("of 50 edits %d and %d are put right at once, and the next in %s", fixed, shared, lookAgain)
	}
	f, _ := b.observe()
	if told := strings.Join(f.Hooks.Missing, ";"); strings.Count(told, "somebody keeps changing it") != 3 {
		t.Errorf("missing is %v", told)
	}
	b.now = b.now.Add(fixedEvery)
	if fixed, _, _ := fight(5); fixed != 1 {
		t.Errorf("after the pause %d are put right", fixed)
	}
	b.now = b.now.Add(time.Hour)
	if fixed, shared, _ := fight(3); fixed != 3 || shared != 3 {
		t.Errorf("after an hour %d and %d of 3 are put right", fixed, shared)
	}
	if f, _ := b.observe(); len(f.Hooks.Missing) > 0 {
		t.Errorf("missing is %v", f.Hooks.Missing)
	}
	for range 3 {
		b.now = b.now.Add(-24 * time.Hour)
		if fixed, _, _ := fight(1); fixed != 1 {
			b.now = b.now.Add(fixedEvery)
			if fixed, _, _ = fight(1); fixed != 1 {
				t.Error("a clock that was set back holds up what is put right")
			}
		}
	}
	b.Forget(machine.Key("one"))
	if len(b.fights.by) != 2 {
		t.Errorf("remembered are %d", len(b.fights.by))
	}
}
