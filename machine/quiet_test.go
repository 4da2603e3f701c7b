package machine

import (
	"errors"
	"strings"
	"testing"
)

// hushed is the door with a quiet state that a word leads to.
func hushed(quiet bool) Table[world, *world] {
	t := door()
	for i := range t.States {
		if t.States[i].Name == "Stuck" {
			t.States[i].Work, t.States[i].Quiet = act("Watch", func(w *world) error { return w.workErr }), quiet
		}
	}
	return t
}

func TestStep_while_a_quiet_state_cannot_be_stored_its_work_is_done_in_place_of_the_stored_ones(t *testing.T) {
	for name, row := range map[string]struct {
		quiet bool
		work  string
	}{"quiet": {true, "Watch"}, "not quiet": {false, "Push"}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.table = hushed(row.quiet)
			b.step()
			b.world.did, b.world.urgent, b.saveErr = nil, true, errors.New("nobody stores it")
			for range 2 {
				out, err := b.try()
				if err == nil || out.State != "Closed" || out.Moved != nil || out.Work != row.work || out.LookAgain == 0 {
					t.Errorf("got %+v (%v)", out, err)
				}
			}
			if did := strings.Join(b.world.did, " "); did != row.work+" "+row.work {
				t.Errorf("it did %s", did)
			}
			b.saveErr, b.world.broken = nil, true
			if out := b.step(); out.Moved == nil || out.State != "Stuck" || b.record.State != "Stuck" {
				t.Errorf("once it can be stored, it is %+v", out)
			}
			if out := b.step(); out.Work != "Watch" {
				t.Errorf("got %+v", out)
			}
		})
	}
}

func TestStep_what_quiet_work_meets_while_it_cannot_be_stored_is_told_and_no_failure_of_the_stored_state(t *testing.T) {
	b := newBench(t)
	b.table = hushed(true)
	b.step()
	b.world.urgent, b.world.workErr, b.saveErr = true, errors.New("it is dark"), errors.New("nobody stores it")
	if out, _ := b.try(); out.Failure == nil {
		t.Errorf("got %+v", out)
	}
	b.world.urgent, b.world.workErr, b.saveErr = false, nil, nil
	if b.step(); b.record.Failure != nil {
		t.Errorf("the record says %+v", b.record.Failure)
	}
}

func TestChoose_moves_that_are_possible_together_matter_only_if_none_goes_before_them(t *testing.T) {
	b := newBench(t)
	b.table.Moves = append(b.table.Moves, Move[world, *world]{On: "Again", From: []State{"Closed"}, To: "Stuck", If: is("open", func(w world) bool { return w.open }), Doc: "A sentence for people."})
	b.world.open, b.world.urgent = true, true
	if out := b.step(); out.Moved == nil || out.Moved.Event != "Forced" {
		t.Errorf("got %+v", out)
	}
}
