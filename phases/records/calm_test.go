package records

import (
	"errors"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

// calmStore is a store that writes calmly, at a time that a test sets.
func calmStore(c client.Client) (s *OwnStatus[int, int, *thing], now *time.Time) {
	at := noon
	s = ownStatus(c).Calmly()
	s.now = func() time.Time { return at }
	return s, &at
}

// movedTo is a snapshot of a machine that has moved.
func movedTo(state machine.State, reason string) machine.Snapshot[int, int] {
	shot := shotOf(state, reason)
	shot.Record.CameFrom = "Open"
	return shot
}

func saveTo(t *testing.T, s *OwnStatus[int, int, *thing], shot machine.Snapshot[int, int]) (later time.Duration) {
	t.Helper()
	if _, _, err := s.Load(t.Context(), "ns/one"); err != nil {
		t.Fatal(err)
	}
	later, err := s.Save(t.Context(), "ns/one", shot)
	if err != nil {
		t.Fatal(err)
	}
	return later
}

func TestOwnStatus_that_is_calm_puts_off_words_and_tells_moves_and_trouble_at_once(t *testing.T) {
	c := newCluster(t, &thing{ObjectMeta: named("one")})
	s, now := calmStore(c)
	failing := func(shot machine.Snapshot[int, int], message string, terminal bool) machine.Snapshot[int, int] {
		shot.Record.Failure = &machine.Failure{Message: message, Since: noon, Terminal: terminal}
		return shot
	}
	left := shotOf("Waiting", "1 of 3")
	left.Record.Since = noon.Add(time.Second)
	for _, step := range []struct {
		shot   machine.Snapshot[int, int]
		after  time.Duration
		writes int
		later  time.Duration
	}{
		{movedTo("Waiting", ""), 0, 1, 0},
		{movedTo("Waiting", "0 of 3"), 500 * time.Millisecond, 1, 1500 * time.Millisecond},
		{movedTo("Waiting", ""), 0, 1, 0}, // as it is stored
		{movedTo("Waiting", "1 of 3"), 1500 * time.Millisecond, 2, 0},
		{shotOf("Ready", "2 of 3"), 0, 3, 0},
		{failing(shotOf("Ready", "2 of 3"), "rust", false), 0, 4, 0},
		{failing(shotOf("Ready", "2 of 3"), "more rust", false), 0, 4, calmly},
		{failing(shotOf("Ready", "2 of 3"), "walled up", true), 0, 5, 0},
		{shotOf("Ready", "2 of 3"), 0, 6, 0},
		{shotOf("Ready", "3 of 3"), -time.Hour, 7, 0}, // the clock was set back
		{left, 0, 8, 0},
	} {
		*now = now.Add(step.after)
		if later := saveTo(t, s, step.shot); later != step.later || c.writes != step.writes {
			t.Errorf("%s, %q: %d writes, and again after %s; want %d and %s", step.shot.Record.State, step.shot.Record.Reason, c.writes, later, step.writes, step.later)
		}
	}
}

func TestOwnStatus_that_is_calm_tells_words_more_rarely_where_writes_take_long(t *testing.T) {
	for _, row := range []struct{ took, pause time.Duration }{
		{10 * time.Millisecond, calmly}, {100 * time.Millisecond, 10 * time.Second}, {time.Minute, calmest}, {-time.Hour, calmly},
	} {
		c := newCluster(t, &thing{ObjectMeta: named("one")})
		s, now := calmStore(c)
		c.takes = func() { *now = now.Add(row.took) }
		saveTo(t, s, movedTo("Waiting", ""))
		for range 2 { // the second waits as long
			if later := saveTo(t, s, shotOf("Waiting", "0 of 3")); later != row.pause || c.writes != 1 {
				t.Errorf("after a write of %s there are %d, and the next is after %s, want %s", row.took, c.writes, later, row.pause)
			}
		}
		*now = now.Add(row.pause)
		if later := saveTo(t, s, shotOf("Waiting", "0 of 3")); later != 0 || c.writes != 2 {
			t.Errorf("a write of %s and %s later there are %d, and the next is after %s", row.took, row.pause, c.writes, later)
		}
	}
}

func TestOwnStatus_that_is_calm_waits_a_moment_before_it_tells_that_nothing_has_happened(t *testing.T) {
	c := newCluster(t, &thing{ObjectMeta: named("one")})
	s, now := calmStore(c)
	for _, step := range []struct {
		after  time.Duration
		writes int
		later  time.Duration
	}{{0, 0, calmly}, {calmly / 2, 0, calmly / 2}, {calmly / 2, 1, 0}} {
		*now = now.Add(step.after)
		if later := saveTo(t, s, shotOf("Waiting", "nothing yet")); later != step.later || c.writes != step.writes {
			t.Errorf("%d writes, and again after %s; want %d and %s", c.writes, later, step.writes, step.later)
		}
	}
	for name, shot := range map[string]machine.Snapshot[int, int]{
		"a move":   {Record: machine.Record{State: "Ready", CameFrom: "Waiting"}},
		"an error": {Record: machine.Record{State: "Waiting", Failure: &machine.Failure{Message: "rust"}}},
	} {
		c := newCluster(t, &thing{ObjectMeta: named("one")})
		s, _ := calmStore(c)
		saveTo(t, s, shotOf("Waiting", "nothing yet"))
		if later := saveTo(t, s, shot); later != 0 || c.writes != 1 {
			t.Errorf("%s: %d writes, and again after %s", name, c.writes, later)
		}
	}
}

func TestOwnStatus_that_is_calm_writes_at_once_what_somebody_waits_for(t *testing.T) {
	c := newCluster(t, &thing{ObjectMeta: named("one")})
	s, _ := calmStore(c)
	s.With(func(from, to *thing) { to.Status.Others = from.Status.Others }, func(o *thing, shot machine.Snapshot[int, int]) Difference {
		before := o.Status.Others
		o.Status.Others = shot.Record.Reason
		switch {
		case before == o.Status.Others:
			return Same
		case o.Status.Others == "fire":
			return Urgent
		}
		return Different
	})
	for _, step := range []struct {
		says   string
		writes int
	}{{"", 1}, {"smoke", 1}, {"fire", 2}, {"fire", 2}, {"ashes", 2}} {
		if saveTo(t, s, movedTo("Waiting", step.says)); c.writes != step.writes {
			t.Errorf("%q: %d writes, want %d", step.says, c.writes, step.writes)
		}
	}
}

func TestCalm_goes_by_the_last_write_of_whichever_instance(t *testing.T) {
	c := newCalm()
	c.note("ns/one", noon, noon.Add(50*time.Millisecond))
	now, waiting := noon.Add(time.Second), machine.Record{State: "Waiting"}
	if wait := c.wait("ns/two", machine.Record{}, waiting, now); wait != 5*time.Second {
		t.Errorf("what nothing has happened to is told of after %s", wait)
	}
	if wait := c.wait("ns/two", waiting, waiting, now); wait != 5*time.Second {
		t.Errorf("words of a state that is stored are told after %s", wait)
	}
	c.note("ns/one", now, now.Add(time.Millisecond))
	if wait := c.wait("ns/two", machine.Record{}, waiting, now.Add(time.Second)); wait != calmly-time.Second {
		t.Errorf("once the server is quick it is after %s", wait)
	}
}

func TestOwnStatus_that_is_calm_writes_at_once_after_a_write_that_was_refused(t *testing.T) {
	c := newCluster(t, &thing{ObjectMeta: named("one")})
	s, _ := calmStore(c)
	if _, _, err := s.Load(t.Context(), "ns/one"); err != nil {
		t.Fatal(err)
	}
	c.fails = errors.New("refused")
	if _, err := s.Save(t.Context(), "ns/one", movedTo("Waiting", "")); err == nil {
		t.Fatal("it was saved")
	}
	c.fails = nil
	if later := saveTo(t, s, movedTo("Waiting", "0 of 3")); later != 0 || c.writes != 2 {
		t.Errorf("%d writes, and again after %s", c.writes, later)
	}
}

func TestOwnStatus_that_is_calm_goes_on_from_what_it_has_put_off(t *testing.T) {
	c := newCluster(t, &thing{ObjectMeta: named("one")})
	s, now := calmStore(c)
	well := movedTo("Settling", "")
	well.Record.Lasting = map[machine.Event]time.Time{"Settled": noon}
	more, less := movedTo("Settling", ""), movedTo("Settling", "")
	more.Record.Progress = machine.Progress{Done: 2, Since: noon.Add(time.Second)}
	anew := movedTo("Settling", "")
	anew.Record.Lasting = map[machine.Event]time.Time{"Settled": noon.Add(time.Second)}
	more.Record.Lasting = anew.Record.Lasting
	for _, step := range []struct {
		what   string
		shot   machine.Snapshot[int, int]
		writes int
	}{
		{"it lasts", well, 1},
		{"it lasts anew", anew, 2},
		{"more is done", more, 2},
		{"it does not last any more", less, 3},
		{"more is done once more", more, 3},
	} {
		*now = now.Add(100 * time.Millisecond)
		saveTo(t, s, step.shot)
		record, _, err := s.Load(t.Context(), "ns/one")
		if err != nil || c.writes != step.writes || !lastsAs(record, step.shot.Record) {
			t.Errorf("%s: %d writes, and the next pass goes on from %+v (%v)", step.what, c.writes, record, err)
		}
	}
	another, _ := calmStore(c) // a process that starts
	if record, _, err := another.Load(t.Context(), "ns/one"); err != nil || !lastsAs(record, less.Record) {
		t.Errorf("another process goes on from %+v (%v)", record, err)
	}
}

func TestOwnStatus_that_is_calm_stores_no_state_that_is_only_passed_through(t *testing.T) {
	c := newCluster(t, &thing{ObjectMeta: named("one")})
	s, _ := calmStore(c)
	passing := shotOf("Locating", "")
	passing.Passing = true
	if saveTo(t, s, passing); c.writes != 0 {
		t.Fatalf("it was written %d times", c.writes)
	}
	if record, found, err := s.Load(t.Context(), "ns/one"); err != nil || !found || record.State != "Locating" {
		t.Fatalf("the next pass goes on from %+v, %t, %v", record, found, err)
	}
	if _, err := s.Save(t.Context(), "ns/one", movedTo("Waiting", "")); err != nil || c.writes != 1 {
		t.Fatalf("%d writes, %v", c.writes, err)
	}
	if record, _, err := s.Load(t.Context(), "ns/one"); err != nil || record.State != "Waiting" {
		t.Errorf("stored is %+v, %v", record, err)
	}
}

func TestOwnStatus_that_is_calm_goes_on_from_what_is_stored_where_that_has_changed(t *testing.T) {
	c := newCluster(t, &thing{ObjectMeta: named("one")})
	s, _ := calmStore(c)
	saveTo(t, s, movedTo("Waiting", ""))
	passing := shotOf("Locating", "")
	passing.Passing = true
	saveTo(t, s, passing)
	stored := &thing{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "one"}, stored); err != nil {
		t.Fatal(err)
	}
	stored.Status.Record.Raw = []byte(`{"state":"Theirs","since":"2026-01-01T12:00:00Z","progress":{"done":0,"since":"2026-01-01T12:00:00Z"},"entry":{"done":0}}`)
	c.theirs(t, func() error { return c.Status().Update(t.Context(), stored) })
	if record, _, err := s.Load(t.Context(), "ns/one"); err != nil || record.State != "Theirs" {
		t.Errorf("the next pass goes on from %+v, %v", record, err)
	}
	if _, err := s.Forget(t.Context(), "ns/one"); err != nil || len(s.calm.since)+len(s.calm.passed) != 0 {
		t.Errorf("of an object that is gone it remembers %v and %v, %v", s.calm.since, s.calm.passed, err)
	}
}
