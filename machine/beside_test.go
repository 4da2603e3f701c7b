package machine

import (
	"errors"
	"testing"
	"time"
)

// besideDoor tells after two minutes that it is heavy, and of an error that lasts in a state that it does not leave for that.
func besideDoor() Table[world, *world] {
	table := door()
	table.Parts = []string{"Hinge"}
	degraded := Reading{Degraded: true, Reason: EphemeralError}
	table.States[1].Part, table.States[1].Work = "Hinge", act("Hold", func(w *world) error { return w.workErr })
	table.States[1].Trouble = Trouble{Ephemeral: Reading{Progressing: true, Reason: EphemeralError}, Patience: 3 * time.Minute, Overdue: degraded, Alert: alert("Slips")}
	table.Asides = []Aside[world]{{Part: "Hinge", If: is("heavy", func(w world) bool { return w.failing }), For: 2 * time.Minute, Reads: degraded, Alert: alert("Heavy"), Doc: doc}}
	return table
}

func newBesideBench(t *testing.T) *bench {
	b := newBench(t)
	if b.table = besideDoor(); b.table.Validate() != nil {
		t.Fatal(b.table.Validate())
	}
	return b
}

func TestBeside_what_lasts_is_told_in_every_state_and_after_a_restart(t *testing.T) {
	b := newBesideBench(t)
	b.world = world{open: true, failing: true}
	b.step()
	b.degraded(false)
	b.now = b.now.Add(time.Minute)
	b.step() // in another state
	if b.record.State != "Open" {
		t.Fatalf("the state is %s", b.record.State)
	}
	b.now = b.now.Add(59 * time.Second)
	if out := b.step(); out.LookAgain != time.Second {
		t.Errorf("the next pass is due in %s", out.LookAgain)
	}
	b.degraded(false)
	b.now = b.now.Add(time.Second)
	b.step()
	b.degraded(true)
	b.restart()
	b.step()
	b.degraded(true)
	b.world.failing = false
	b.step()
	b.degraded(false)
	b.world.failing = true
	b.step()
	b.degraded(false)
}

func TestBeside_an_error_that_lasts_is_told_where_no_move_leaves_for_it(t *testing.T) {
	b := newBesideBench(t)
	b.world.open = true
	b.step()
	b.now = b.now.Add(time.Minute) // the process has settled
	b.world.workErr = errors.New("it slips")
	b.step()
	b.degraded(false)
	b.now = b.now.Add(3 * time.Minute)
	b.step()
	b.degraded(true)
	b.world.workErr = errors.New("it slips otherwise")
	b.restart()
	b.step()
	b.degraded(true)
	b.world.workErr = nil
	b.step()
	b.degraded(false)
}

func TestBeside_what_a_record_says_of_other_asides_or_of_the_future_counts_for_nothing(t *testing.T) {
	b := newBesideBench(t)
	b.world.failing = true
	b.record = fresh("Closed", b.now)
	b.record.Beside = map[Event]Standing{"heavy": {Since: b.now.Add(time.Hour)}, "red": {Since: b.now, Lasted: true}}
	b.kept = true
	b.step()
	if got := b.record.Beside; len(got) != 1 || !got["heavy"].Since.Equal(b.now) {
		t.Errorf("the record says %v", got)
	}
}

// degraded checks what is told.
func (b *bench) degraded(want bool) {
	b.t.Helper()
	if got := b.table.Readings(b.record, b.world)["Hinge"].Degraded; got != want {
		b.t.Errorf("at %s in %s Degraded is %v, want %v", b.now.Format(time.TimeOnly), b.record.State, got, want)
	}
}
