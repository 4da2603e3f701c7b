package privatecapi_test

import (
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

func TestMigration_keeps_the_owner_of_what_is_made_late(t *testing.T) {
	for _, at := range []machine.State{guards.Equipping, guards.Comparing, guards.Observing, guards.RemovingSource} {
		t.Run(string(at), func(t *testing.T) {
			p, key := waits(t)
			p.begin(key)
			p.until(string(at), 5*time.Minute, p.reaches(key, at))
			p.AddSecret(key, "late", "a-0")
			p.until("moved", 10*time.Minute, p.rests(key, guards.Private))
			if !p.SecretIsOwned(key, "late", "a-0", phases.Private) {
				t.Errorf("the late one is not owned by the copy:\n%s", p.World)
			}
		})
	}
}

func TestMigration_never_locks_two_whatever_an_older_process_has_seen_of_the_Lease(t *testing.T) {
	p := newPlay(t)
	a := p.AddHosted("a", 1)
	p.Pass(time.Second)
	b := p.AddHosted("b", 1)
	for _, key := range []machine.Key{a, b} {
		p.Annotate(key, guards.PausedAnnotation, "true")
		p.until("eligible", time.Minute, p.rests(key, guards.Eligible))
	}
	p.HoldLease(a, p.Now().Add(-10*time.Minute))
	p.begin(b)
	for p.State(b) != guards.Locking {
		if _, err := p.machine.Step(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	_, older, err := p.Phases().Observe(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	p.restart()
	p.begin(a)
	p.Before(func(w phases.Write) bool { return w.Kind.Resource == phases.HostedClusters.Resource && w.Name == "a" }, func() {
		if _, err := phases.TakeLock.Run(t.Context(), older); err != nil {
			t.Error(err)
		}
	})
	for range 8 {
		if _, err := p.machine.Step(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	if locked := p.Locked(); len(locked) != 1 || locked[0] != a {
		t.Errorf("locked are %v", locked)
	}
}

func TestMigration_moves_what_is_managed_in_a_version_that_the_other_side_does_not_have(t *testing.T) {
	p, key := waits(t)
	p.ManageAs(key, "somebody")
	p.begin(key)
	p.until("moved", 5*time.Minute, p.rests(key, guards.Private))
}

func TestMigration_takes_a_Lease_that_was_renewed_far_ahead_of_now(t *testing.T) {
	for name, c := range map[string]struct {
		ahead time.Duration
		free  bool
	}{
		"a clock that is a minute ahead": {ahead: time.Minute},
		"a year":                         {ahead: 365 * 24 * time.Hour, free: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t)
			a := p.AddHosted("a", 1)
			p.Pass(time.Second)
			b := p.AddHosted("b", 1)
			p.Annotate(a, guards.PausedAnnotation, "true")
			p.HoldLease(a, p.Now().Add(c.ahead))
			for range 50 {
				p.round()
			}
			if locked := p.Locked(); (len(locked) == 1 && locked[0] == b) != c.free {
				t.Errorf("locked are %v, and %s is in %s", locked, b, p.State(b))
			}
		})
	}
}
