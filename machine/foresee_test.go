package machine

import (
	"context"
	"reflect"
	"testing"
	"time"
)

// passing notes of which states a store is told that the machine only passes through them.
type passing struct {
	*bench
	through []State
}

func (p *passing) Save(ctx context.Context, key Key, s Snapshot[world, *world]) (time.Duration, error) {
	if s.Passing {
		p.through = append(p.through, s.Record.State)
	}
	return p.bench.Save(ctx, key, s)
}

func foreseeing(t *testing.T) (*bench, *passing) {
	b := newBench(t)
	b.table.Foresees = true
	b.restart()
	b.machine.memory.begun = true
	p := &passing{bench: b}
	b.machine.Store = p
	return b, p
}

func TestStep_a_table_that_foresees_says_with_a_move_what_the_new_state_waits_for(t *testing.T) {
	b, p := foreseeing(t)
	b.world.urgent, b.world.broken = true, true
	b.step()
	entered := b.record.clone()
	if entered.State != "Stuck" || entered.Reason != "mended" || len(p.through) != 0 {
		t.Errorf("it is in %s and waits for %q; it passes through %v", entered.State, entered.Reason, p.through)
	}
	b.now = b.now.Add(time.Second)
	if b.step(); !reflect.DeepEqual(b.record, entered) {
		t.Errorf("nothing has changed, and the record is\n%+v, and was\n%+v", b.record, entered)
	}
}

func TestStep_a_table_that_foresees_knows_the_deadline_of_the_new_state(t *testing.T) {
	b, _ := foreseeing(t)
	b.world.urgent, b.world.done = true, 3
	b.step()
	b.world.urgent = false
	b.step()
	entered := b.record.clone()
	if d := entered.Deadline; entered.State != "Closed" || d == nil || !d.At.Equal(b.now.Add(time.Minute)) {
		t.Errorf("it is in %s with the deadline %+v", entered.State, entered.Deadline)
	}
	if b.step(); !reflect.DeepEqual(b.record, entered) {
		t.Errorf("nothing has changed, and the record is\n%+v, and was\n%+v", b.record, entered)
	}
}

func TestStep_a_table_that_foresees_says_nothing_after_an_effect_has_changed_what_was_seen(t *testing.T) {
	b, p := foreseeing(t)
	b.world.open, b.world.broken = true, true
	if b.step(); b.record.State != "Open" || b.record.Reason != "" || b.record.Deadline != nil || len(p.through) != 0 {
		t.Errorf("the record is %+v, and it passes through %v", b.record, p.through)
	}
}

func TestStep_a_state_is_passed_through_that_is_left_at_once_where_nothing_is_to_be_done(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*StateRow[*world])
		passes bool
	}{
		"nothing to do":     {func(*StateRow[*world]) {}, true},
		"a work":            {func(s *StateRow[*world]) { s.Work = act("Wait", func(*world) error { return nil }) }, false},
		"a work it resumes": {func(s *StateRow[*world]) { s.Work = Resume[*world]() }, false},
		"an alarm":          {func(s *StateRow[*world]) { s.Alarm = true }, false},
		"somebody called":   {func(s *StateRow[*world]) { s.Alert = Alert{Name: "Called"} }, false},
		"quiet":             {func(s *StateRow[*world]) { s.Quiet = true }, false},
	} {
		b, p := foreseeing(t)
		row.change(&b.table.States[2])
		b.world.urgent = true
		b.step()
		if passed := len(p.through) == 1 && p.through[0] == "Stuck"; b.record.State != "Stuck" || passed != row.passes {
			t.Errorf("%s: in %s it passes through %v", name, b.record.State, p.through)
		}
	}
}
