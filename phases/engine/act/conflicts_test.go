package act

import (
	"context"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// at is a time of the test's day.
func at(t *testing.T, clock string) time.Time {
	t.Helper()
	moment, err := time.Parse("15:04:05", clock)
	if err != nil {
		t.Fatal(err)
	}
	return moment
}

func TestRivalries_withhold_repairs_only(t *testing.T) {
	clk := clocktesting.NewFakeClock(at(t, "12:00:00"))
	r := newConflicts(clk)
	repair := decide.Verdict{Action: decide.Recovered, Claimed: true, Field: ".data.a", Managers: []string{"x"}}
	key := decide.Key{Kind: "ConfigMap", Name: "a", Version: "v1"}
	for range decide.ConflictRepairs {
		if v, contest := r.judge(key, repair, ""); v.Action != decide.Recovered || contest != nil {
			t.Fatalf("too early: %v %v", v, contest)
		}
		r.repaired(key, repair)
	}
	rows := []struct {
		name   string
		v      decide.Verdict
		action decide.Action
	}{
		{"a repair", repair, decide.Contested},
		{"a newer revision", decide.Verdict{Action: decide.Updated, Why: "is at revision 6"}, decide.Updated},
		{"a creation", decide.Verdict{Action: decide.Created}, decide.Created},
		{"nothing", decide.Verdict{Action: decide.Idle, Claimed: true}, decide.Idle},
		{"a deletion", decide.Verdict{Action: decide.Terminating}, decide.Terminating},
	}
	for _, row := range rows {
		v, contest := r.judge(decide.Key{Kind: "ConfigMap", Name: "a", Version: "v2"}, row.v, "")
		if v.Action != row.action || contest == nil {
			t.Errorf("%s: %s, %v", row.name, v.Action, contest)
		}
	}
	if _, contest := r.judge(decide.Key{Kind: "ConfigMap", Name: "b"}, repair, ""); contest != nil {
		t.Errorf("another object is contested: %s", contest)
	}
	clk.Step(decide.FirstPause)
	if v, _ := r.judge(key, repair, ""); v.Action != decide.Recovered {
		t.Errorf("not written when it is due: %s", v.Why)
	}
	clk.Step(decide.ConflictWindow)
	if _, contest := r.judge(key, decide.Verdict{Action: decide.Idle}, ""); contest != nil || len(r.of) > 0 {
		t.Errorf("it never ends: %s", contest)
	}
}

func TestRivalries_wake_the_engine_when_a_write_is_due(t *testing.T) {
	clk := clocktesting.NewFakeClock(at(t, "12:00:00"))
	r := newConflicts(clk)
	ctx, cancel := context.WithCancel(t.Context())
	woken, ended := make(chan struct{}, 10), make(chan struct{})
	go func() {
		defer close(ended)
		r.wake(ctx, func() { woken <- struct{}{} })
	}()
	for range decide.ConflictRepairs {
		r.repaired(decide.Key{Name: "a"}, decide.Verdict{Field: "f"})
	}
	began := clk.Now()
	for _, due := range []time.Duration{decide.FirstPause, decide.ConflictWindow} { // the write, and the end
		for waiting := true; waiting; {
			select {
			case <-woken:
				waiting = false
			case <-time.After(time.Millisecond): // the timer may not be set yet
				if clk.Step(5 * time.Second); clk.Since(began) > 2*decide.ConflictWindow {
					t.Fatalf("nobody was woken after %s", due)
				}
			}
		}
		if passed := clk.Since(began); passed < due {
			t.Errorf("woken after %s, due after %s", passed, due)
		}
	}
	cancel()
	<-ended
}

// A clock that is set forward passes the moment before anybody waits for it.
func TestConflicts_wake_for_what_was_due_before_they_looked(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Now())
	r := newConflicts(clk)
	r.undone(decide.Key{Kind: "ConfigMap", Name: "a"}, decide.Verdict{})
	clk.Step(decide.FirstPause)
	woken := make(chan struct{}, 1)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.wake(ctx, func() { woken <- struct{}{} })
	}()
	select {
	case <-woken:
	case <-time.After(10 * time.Second):
		t.Error("nobody was told")
	}
	end()
	<-ended
}
