package machine

import (
	"testing"
	"time"
)

func TestStep_a_time_counts_on_where_the_new_state_asks_its_event_of_another_guard(t *testing.T) {
	b := newBench(t)
	one := func(state State, when func(world) bool) Move[world, *world] {
		return Move[world, *world]{On: "Broke", From: []State{state}, To: "Stuck", For: time.Minute, If: is("broken in "+string(state), when), Doc: doc}
	}
	b.table.Moves[4] = one("Open", func(w world) bool { return w.broken && w.open })
	b.table.Moves = append(b.table.Moves, one("Closed", func(w world) bool { return w.broken && !w.open }))
	b.world.broken = true
	b.step()
	b.now, b.world.open = b.now.Add(40*time.Second), true // from here on the guard in Closed says No
	if out := b.step(); out.State != "Open" {
		t.Fatalf("got %+v", out)
	}
	b.now = b.now.Add(20*time.Second - time.Nanosecond)
	if out := b.step(); out.Moved != nil {
		t.Fatalf("too early: %+v", out.Moved)
	}
	b.now = b.now.Add(time.Nanosecond)
	if out := b.step(); out.Moved == nil || out.Moved.Event != "Broke" {
		t.Errorf("got %+v", out)
	}
}

func TestStep_a_time_does_not_count_on_where_the_new_state_answers_No(t *testing.T) {
	b := newBench(t)
	b.table.Moves[4].If = is("broken and done", func(w world) bool { return w.broken && w.done > 0 })
	b.table.Moves = append(b.table.Moves, Move[world, *world]{On: "Broke", From: []State{"Closed"}, To: "Stuck", For: time.Minute, If: is("broken", func(w world) bool { return w.broken }), Doc: doc})
	b.world.broken = true
	b.step()
	b.now, b.world.open = b.now.Add(40*time.Second), true
	b.step()
	if len(b.record.Lasting) > 0 {
		t.Errorf("a time goes on of what is not so: %v", b.record.Lasting)
	}
}

func TestStep_after_a_start_a_time_shorter_than_a_minute_waits_for_itself_only(t *testing.T) {
	b := newBench(t)
	b.table.Moves[4].For = 2 * time.Second
	b.record, b.kept = Record{
		State: "Open", CameFrom: "Closed", LastEvent: "Opened", Since: b.now, Progress: Progress{Since: b.now},
		Lasting: map[Event]time.Time{"Broke": b.now.Add(-time.Hour)},
	}, true
	b.world.broken = true
	b.restart()
	start := b.now
	for _, at := range []struct {
		after time.Duration
		moves bool
	}{{0, false}, {2*time.Second - time.Nanosecond, false}, {2 * time.Second, true}} {
		b.now = start.Add(at.after)
		if out := b.step(); (out.Moved != nil) != at.moves {
			t.Fatalf("after %s: %+v, deadline %+v", at.after, out.Moved, b.record.Deadline)
		}
	}
}
