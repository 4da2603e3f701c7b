package engine

import (
	"context"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
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

func TestRivalry(t *testing.T) {
	rows := []struct {
		name    string
		repairs string // times of repairs, and with = of looks at which there is nothing to repair
		asked   string // when it is looked at
		right   bool   // nothing to repair then
		times   int    // of the contest, 0 for none
		next    string
		due     string // the next thing that happens by mere time
	}{
		{name: "four repairs are drift", repairs: "00:00:00 00:00:01 00:00:02 00:00:03", asked: "00:00:04"},
		{name: "five within five minutes are a contest", repairs: "00:00:00 00:00:01 00:00:02 00:00:03 00:04:59", asked: "00:05:00", times: 5, next: "00:05:59", due: "00:05:59"},
		{name: "five in more than that are not", repairs: "00:00:00 00:02:00 00:03:00 00:04:00 00:05:01", asked: "00:05:02"},
		{name: "the next write is due a minute later", repairs: "00:00:00 00:00:01 00:00:02 00:00:03 00:00:04", asked: "00:01:04", times: 5, next: "00:01:04", due: "00:05:04"},
		{name: "the pause doubles", repairs: "00:00:00 00:00:01 00:00:02 00:00:03 00:00:04 00:01:04", asked: "00:01:05", times: 6, next: "00:03:04", due: "00:03:04"},
		{name: "up to ten minutes", repairs: "00:00:00 00:00:01 00:00:02 00:00:03 00:00:04 00:01:04 00:03:04 00:07:04 00:15:04 00:25:04", asked: "00:25:05", times: 10, next: "00:35:04", due: "00:30:04"},
		{name: "it goes on while there is something to repair", repairs: "00:00:00 00:00:01 00:00:02 00:00:03 00:00:04", asked: "01:00:00", times: 5, next: "00:01:04"},
		{name: "it goes on when it was right for less than five minutes", repairs: "00:00:00 00:00:01 00:00:02 00:00:03 00:00:04", asked: "00:05:03", right: true, times: 5, next: "00:01:04", due: "00:05:04"},
		{name: "it is over when it was right for five minutes", repairs: "00:00:00 00:00:01 00:00:02 00:00:03 00:00:04", asked: "00:05:04", right: true},
		{name: "after it, one repair is drift again", repairs: "00:00:00 00:00:01 00:00:02 00:00:03 00:00:04 =00:05:04 00:10:00", asked: "00:10:01"},
		{name: "an old repair is forgotten", repairs: "00:00:00", asked: "00:05:00"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var r rivalry
			for repair := range strings.FieldsSeq(row.repairs) {
				if seen, right := strings.CutPrefix(repair, "="); right {
					r = r.at(at(t, seen), true)
				} else {
					r = r.repaired(at(t, repair), []string{"autoscaler"}, ".spec.replicas")
				}
			}
			now := at(t, row.asked)
			r = r.at(now, row.right)
			if row.times == 0 {
				if r.contest != nil || r.withholds(now) || !r.due(now).IsZero() {
					t.Fatalf("a contest: %+v", r.contest)
				}
				return
			}
			c := r.contest
			if c == nil || c.Times != row.times || !c.Next.Equal(at(t, row.next)) || c.Field != ".spec.replicas" || strings.Join(c.Managers, " ") != "autoscaler" {
				t.Fatalf("got %+v", c)
			}
			if r.withholds(now) != now.Before(c.Next) {
				t.Errorf("withheld at %s: %t", row.asked, r.withholds(now))
			}
			if due := r.due(now); row.due == "" && !due.IsZero() || row.due != "" && !due.Equal(at(t, row.due)) {
				t.Errorf("due at %s, want %s", due, row.due)
			}
		})
	}
}

func TestRivalry_names_every_manager_once_and_the_field_of_the_last_repair(t *testing.T) {
	var r rivalry
	now := at(t, "12:00:00")
	for range contestRepairs {
		r = r.repaired(now, nil, ".data.a")
	}
	if !strings.Contains(r.contest.String(), "no trace") {
		t.Errorf("got %s", r.contest)
	}
	first := r
	for _, manager := range []string{"x", "y", "x"} {
		r = r.repaired(now, []string{manager}, ".data.b")
	}
	if got := r.contest.String(); !strings.HasPrefix(got, ".data.b is contested by field manager x and y: put right 8 times since 12:00:00Z, not again before 12:08:00Z") {
		t.Errorf("got %s", got)
	}
	if first.contest.Times != contestRepairs || len(first.contest.Managers) != 0 {
		t.Errorf("the state before was changed: %+v", first.contest)
	}
}

func TestRivalries_withhold_repairs_only(t *testing.T) {
	clk := clocktesting.NewFakeClock(at(t, "12:00:00"))
	r := newRivalries(clk)
	repair := verdict{action: Recovered, carries: true, field: ".data.a", managers: []string{"x"}}
	key := Key{Kind: "ConfigMap", Name: "a", Version: "v1"}
	for range contestRepairs {
		if v, contest := r.judge(key, repair); v.action != Recovered || contest != nil {
			t.Fatalf("too early: %v %v", v, contest)
		}
		r.repaired(key, repair)
	}
	rows := []struct {
		name   string
		v      verdict
		action Action
	}{
		{"a repair", repair, Contested},
		{"a newer revision", verdict{action: Updated, why: "is at revision 6"}, Updated},
		{"a creation", verdict{action: Created}, Created},
		{"nothing", verdict{action: Idle, carries: true}, Idle},
		{"a deletion", verdict{action: Terminating}, Terminating},
	}
	for _, row := range rows {
		v, contest := r.judge(Key{Kind: "ConfigMap", Name: "a", Version: "v2"}, row.v)
		if v.action != row.action || contest == nil {
			t.Errorf("%s: %s, %v", row.name, v.action, contest)
		}
	}
	if _, contest := r.judge(Key{Kind: "ConfigMap", Name: "b"}, repair); contest != nil {
		t.Errorf("another object is contested: %s", contest)
	}
	clk.Step(firstPause)
	if v, _ := r.judge(key, repair); v.action != Recovered {
		t.Errorf("not written when it is due: %s", v.why)
	}
	clk.Step(contestWindow)
	if _, contest := r.judge(key, verdict{action: Idle}); contest != nil || len(r.of) > 0 {
		t.Errorf("it never ends: %s", contest)
	}
}

func TestRivalries_wake_the_engine_when_a_write_is_due(t *testing.T) {
	clk := clocktesting.NewFakeClock(at(t, "12:00:00"))
	r := newRivalries(clk)
	ctx, cancel := context.WithCancel(t.Context())
	woken, ended := make(chan struct{}, 10), make(chan struct{})
	go func() {
		defer close(ended)
		r.wake(ctx, func() { woken <- struct{}{} })
	}()
	for range contestRepairs {
		r.repaired(Key{Name: "a"}, verdict{field: "f"})
	}
	began := clk.Now()
	for _, due := range []time.Duration{firstPause, contestWindow} { // the write, and the end
		for waiting := true; waiting; {
			select {
			case <-woken:
				waiting = false
			case <-time.After(time.Millisecond): // the timer may not be set yet
				if clk.Step(5 * time.Second); clk.Since(began) > 2*contestWindow {
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
