package decide

import (
	"strings"
	"testing"
	"time"
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
			var r RepairHistory
			for repair := range strings.FieldsSeq(row.repairs) {
				if seen, right := strings.CutPrefix(repair, "="); right {
					r = r.At(at(t, seen), true)
				} else {
					r = r.Repaired(at(t, repair), []string{"autoscaler"}, ".spec.replicas")
				}
			}
			now := at(t, row.asked)
			r = r.At(now, row.right)
			if row.times == 0 {
				if r.Conflict != nil || r.Withholds(now) || !r.Due(now).IsZero() {
					t.Fatalf("a contest: %+v", r.Conflict)
				}
				return
			}
			c := r.Conflict
			if c == nil || c.Times != row.times || !c.Next.Equal(at(t, row.next)) || c.Field != ".spec.replicas" || strings.Join(c.Managers, " ") != "autoscaler" {
				t.Fatalf("got %+v", c)
			}
			if r.Withholds(now) != now.Before(c.Next) {
				t.Errorf("withheld at %s: %t", row.asked, r.Withholds(now))
			}
			if due := r.Due(now); row.due == "" && !due.IsZero() || row.due != "" && !due.Equal(at(t, row.due)) {
				t.Errorf("due at %s, want %s", due, row.due)
			}
		})
	}
}

func TestRivalry_names_every_manager_once_and_the_field_of_the_last_repair(t *testing.T) {
	var r RepairHistory
	now := at(t, "12:00:00")
	for range ConflictRepairs {
		r = r.Repaired(now, nil, ".data.a")
	}
	if !strings.Contains(r.Conflict.String(), "no trace") {
		t.Errorf("got %s", r.Conflict)
	}
	first := r
	for _, manager := range []string{"x", "y", "x"} {
		r = r.Repaired(now, []string{manager}, ".data.b")
	}
	if got := r.Conflict.String(); !strings.HasPrefix(got, ".data.b is contested by field manager x and y: put right 8 times since 12:00:00Z, not again before 12:08:00Z") {
		t.Errorf("got %s", got)
	}
	if first.Conflict.Times != ConflictRepairs || len(first.Conflict.Managers) != 0 {
		t.Errorf("the state before was changed: %+v", first.Conflict)
	}
}

func TestRivalry_one_write_that_does_not_help_is_a_conflict_with_admission(t *testing.T) {
	r := RepairHistory{}.Undone(at(t, "12:00:00"), nil, ".data.a")
	for _, next := range []string{"12:01:00", "12:03:00", "12:07:00", "12:15:00", "12:25:00", "12:35:00"} {
		if !r.Conflict.Next.Equal(at(t, next)) {
			t.Fatalf("after %d writes the next one is due at %s, want %s", r.Conflict.Times, r.Conflict.Next, next)
		}
		if got := r.Conflict.String(); !strings.Contains(got, "the API server, a webhook or an admission policy whenever it is written") || !strings.Contains(got, ".data.a") {
			t.Fatalf("got %s", got)
		}
		r = r.At(at(t, next), false)
		r = r.Undone(at(t, next), nil, ".data.a")
	}
	r = r.Repaired(at(t, "12:45:00"), []string{"x"}, ".data.a")
	if r.Conflict.Admission {
		t.Error("the last write helped")
	}
	if r = r.At(at(t, "12:50:00"), true); r.Conflict != nil {
		t.Errorf("it never ends: %s", r.Conflict)
	}
}
