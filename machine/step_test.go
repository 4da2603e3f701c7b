package machine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// world is what the test machine sees and does.
type world struct {
	open, urgent, broken bool
	failing              bool
	done                 int
	workErr, effectErr   error
	did                  []string
}

const doc = "A sentence of documentation."

func is(name string, ask func(world) bool) Guard[world] {
	return Guard[world]{Name: name, Doc: doc, Ask: func(w world) Answer { return Say(ask(w), name) }}
}

func act(name string, err func(*world) error) Action[*world] {
	return Action[*world]{Name: name, Doc: doc, Run: func(_ context.Context, w *world) (Result, error) {
		w.did = append(w.did, name)
		return Result{}, err(w)
	}}
}

func door() Table[world, *world] {
	return Table[world, *world]{
		Name: "door", Doc: doc, Start: "Closed",
		Progress: func(w world) (int, bool) { return w.done, true },
		States: []StateRow[*world]{
			{Name: "Closed", Work: act("Push", func(w *world) error { return w.workErr }), Doc: doc},
			{Name: "Open", Rest: true, Doc: doc},
			{Name: "Stuck", Rest: true, Doc: doc},
		},
		Moves: []Move[world, *world]{
			{
				On: "Opened", From: []State{"Closed"}, To: "Open", If: is("open", func(w world) bool { return w.open }),
				Do: act("Greet", func(w *world) error { return w.effectErr }), Doc: doc,
			},
			{On: "Forced", From: []State{"Closed"}, To: "Stuck", Urgent: true, If: is("urgent", func(w world) bool { return w.urgent }), Doc: doc},
			{On: "Stalled", From: []State{"Closed"}, To: "Stuck", Stalled: time.Minute, Doc: doc},
			{On: "Failed", From: []State{"Closed"}, To: "Stuck", Failing: time.Minute, Doc: doc},
			{On: "Broke", From: []State{"Open"}, To: "Stuck", For: time.Minute, If: is("broken", func(w world) bool { return w.broken }), Doc: doc},
			{On: "Mended", From: []State{"Stuck"}, To: "Closed", If: is("mended", func(w world) bool { return !w.broken }), Doc: doc},
		},
	}
}

// bench runs a table on a world with a clock that stands still until told.
type bench struct {
	t      *testing.T
	world  world
	now    time.Time
	record Record
	kept   bool
	table  Table[world, *world]
	// saveErr is why records cannot be stored; later is what the store asks for.
	saveErr error
	later   time.Duration
	machine *Machine[world, *world]
}

func (b *bench) Load(context.Context, Key) (Record, bool, error) { return b.record, b.kept, nil }

func (b *bench) Save(_ context.Context, _ Key, s Snapshot[world, *world]) (time.Duration, error) {
	if b.saveErr != nil {
		return 0, b.saveErr
	}
	b.record, b.kept = s.Record, true
	return b.later, nil
}

func (b *bench) step() Outcome {
	b.t.Helper()
	outcome, err := b.try()
	if err != nil {
		b.t.Fatal(err)
	}
	return outcome
}

// try makes a pass of an operator that has been running for a while.
func (b *bench) try() (Outcome, error) {
	if b.machine == nil {
		b.restart()
		b.machine.memory.begun = true
	}
	b.machine.Table = b.table
	return b.machine.Step(context.Background(), "door")
}

// restart starts a new operator on the stored record.
func (b *bench) restart() {
	b.machine = &Machine[world, *world]{
		Store: b, Now: func() time.Time { return b.now },
		Observe: func(context.Context, Key) (world, *world, error) { return b.world, &b.world, nil },
	}
}

func newBench(t *testing.T) *bench {
	return &bench{t: t, table: door(), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func TestStep_makes_at_most_one_move_or_does_the_work(t *testing.T) {
	b := newBench(t)
	if out := b.step(); out.Work != "Push" || out.Moved != nil {
		t.Errorf("a closed door is pushed, got %+v", out)
	}
	b.world.open, b.world.did = true, nil
	if out := b.step(); out.State != "Open" || strings.Join(b.world.did, " ") != "Greet" || out.LookAgain != atOnce {
		t.Errorf("an open door is greeted and not pushed, got %+v after %v", out, b.world.did)
	}
}

func TestStep_a_failing_effect_leaves_the_state_and_is_tried_again(t *testing.T) {
	b := newBench(t)
	b.world.open, b.world.effectErr = true, errors.New("no voice")
	out := b.step()
	if out.State != "Closed" || b.record.Failure == nil || out.LookAgain != firstRetry {
		t.Errorf("got %+v with record %+v", out, b.record)
	}
	b.world.effectErr = nil
	if out := b.step(); out.State != "Open" || b.record.Failure != nil {
		t.Errorf("got %+v with record %+v", out, b.record)
	}
}

func TestStep_urgent_outranks_ordinary_and_success_outranks_failure_and_deadline(t *testing.T) {
	b := newBench(t)
	b.step()
	b.now = b.now.Add(time.Hour)
	b.world.open = true
	if out := b.step(); out.Moved == nil || out.Moved.Event != "Opened" {
		t.Errorf("a success seen in the same pass goes before the deadline, got %+v", out.Moved)
	}
	b = newBench(t)
	b.world.open, b.world.urgent = true, true
	if out := b.step(); out.Moved.Event != "Forced" {
		t.Errorf("got %+v", out.Moved)
	}
}

func TestStep_the_deadline_counts_from_the_last_new_high(t *testing.T) {
	b := newBench(t)
	start := b.now
	b.step()
	for _, at := range []struct {
		after time.Duration
		done  int
		moves bool
	}{
		{25 * time.Second, 1, false},
		{50 * time.Second, 0, false},
		{75 * time.Second, 1, false},
		{85*time.Second - time.Nanosecond, 1, false},
		{85 * time.Second, 1, true},
	} {
		b.now, b.world.done = start.Add(at.after), at.done
		if out := b.step(); (out.Moved != nil) != at.moves {
			t.Fatalf("after %s: moved is %+v, deadline %+v", at.after, out.Moved, b.record.Deadline)
		}
	}
	if got := b.record.LastEvent; got != "Stalled" {
		t.Errorf("it moved on %s", got)
	}
}

func TestStep_an_error_that_lasts_or_is_for_good_leads_out(t *testing.T) {
	b := newBench(t)
	b.world.workErr = errors.New("rust")
	b.step()
	b.now = b.now.Add(time.Minute - time.Nanosecond)
	b.world.workErr, b.world.done = errors.New("more rust"), 1
	if out := b.step(); out.Moved != nil {
		t.Fatalf("too early: %+v", out.Moved)
	}
	b.now = b.now.Add(time.Nanosecond)
	if out := b.step(); out.Moved == nil || out.Moved.Cause != "more rust" {
		t.Errorf("another error in between does not restart the time, got %+v", out)
	}

	b = newBench(t)
	b.world.workErr = fmt.Errorf("pushing: %w", Terminal(errors.New("walled up")))
	if out := b.step(); out.LookAgain != atOnce {
		t.Errorf("a terminal error is to have the next pass at once, got %v", out.LookAgain)
	}
	if out := b.step(); out.Moved == nil || out.Moved.Event != "Failed" || !b.record.Failure.Terminal {
		t.Errorf("got %+v", out)
	}
}

func TestStep_joined_errors_are_told_on_one_line(t *testing.T) {
	b := newBench(t)
	b.world.workErr = errors.Join(errors.New("rust"), errors.New("no oil"))
	b.step()
	if got := b.record.Failure.Message; got != "rust; no oil" {
		t.Errorf("got %q", got)
	}
	b.world.workErr, b.world.open, b.world.effectErr = nil, true, b.world.workErr
	if b.step(); b.record.Reason != "rust; no oil" {
		t.Errorf("got the reason %q", b.record.Reason)
	}
}

func TestStep_a_guard_that_has_to_last_starts_anew_after_a_No(t *testing.T) {
	b := newBench(t)
	b.record, b.kept = Record{State: "Open", CameFrom: "Closed", LastEvent: "Opened", Since: b.now, Progress: Progress{Since: b.now}}, true
	for _, broken := range []bool{true, false, true} {
		b.world.broken = broken
		b.step()
		b.now = b.now.Add(45 * time.Second)
	}
	if out := b.step(); out.Moved != nil {
		t.Fatalf("45 s and 45 s are not a minute: %+v", out.Moved)
	}
	b.now = b.now.Add(15 * time.Second)
	if out := b.step(); out.Moved == nil || out.Moved.Event != "Broke" {
		t.Errorf("got %+v", out)
	}
}

func TestStep_a_record_of_an_unknown_state_starts_afresh(t *testing.T) {
	b := newBench(t)
	b.record, b.kept = Record{State: "Ajar"}, true
	if out := b.step(); out.State != "Closed" || b.record.Since.IsZero() {
		t.Errorf("got %+v with record %+v", out, b.record)
	}
}

func TestStep_remembers_the_last_32_transitions(t *testing.T) {
	b := newBench(t)
	for range 60 {
		b.world.urgent = true
		b.step()
	}
	if got := len(b.record.Transitions); got != keptTransitions {
		t.Errorf("%d transitions are kept", got)
	}
}

func TestStep_two_moves_of_one_rank_are_refused(t *testing.T) {
	b := newBench(t)
	b.table.Moves[1].Urgent = false
	b.world.open, b.world.urgent = true, true
	_, err := b.try()
	var ambiguous *AmbiguousError
	if !errors.As(err, &ambiguous) || ambiguous.One == ambiguous.Other {
		t.Errorf("got %v", err)
	}
}

func TestStep_gives_the_state_after_a_failure_a_try_of_its_own(t *testing.T) {
	b := newBench(t)
	b.table.States = append(b.table.States,
		StateRow[*world]{Name: "Climbing", Work: act("Climb", func(*world) error { return nil }), Doc: doc})
	for i := range b.table.Moves {
		if b.table.Moves[i].On == "Failed" {
			b.table.Moves[i].To = "Climbing"
		}
	}
	b.table.Moves = append(b.table.Moves, Move[world, *world]{On: "Fell", From: []State{"Climbing"}, To: "Stuck", Failing: time.Minute, Doc: doc})
	b.world.workErr = Terminal(errors.New("the door is a wall"))
	for range 2 {
		b.step()
	}
	if b.record.State != "Climbing" || b.record.Failure != nil {
		t.Fatalf("state %s with failure %v", b.record.State, b.record.Failure)
	}
	if outcome := b.step(); outcome.Work != "Climb" || b.record.State != "Climbing" {
		t.Errorf("work %q in state %s", outcome.Work, b.record.State)
	}
}

func TestStep_a_state_without_work_tells_of_the_failure_that_has_led_to_it_until_it_is_left(t *testing.T) {
	b := newBench(t)
	b.world.broken, b.world.workErr = true, errors.New("it is locked")
	b.step()
	b.now = b.now.Add(2 * time.Minute)
	if out := b.step(); out.State != "Stuck" {
		t.Fatalf("got %+v", out)
	}
	b.world.workErr = nil
	for range 3 {
		if out := b.step(); out.LookAgain != 0 || b.record.Failure == nil || b.record.Failure.Message != "it is locked" {
			t.Errorf("got %+v, of failure %+v", out, b.record.Failure)
		}
	}
	b.world.broken = false
	if out := b.step(); out.State != "Closed" || b.record.Failure != nil {
		t.Errorf("once it is left, it is %+v, of failure %+v", out, b.record.Failure)
	}
}

func TestStep_what_no_event_tells_of_is_looked_for_as_often_as_the_row_says(t *testing.T) {
	b := newBench(t)
	b.world.urgent, b.world.broken = true, true
	for i := range b.table.States {
		if b.table.States[i].Name == "Stuck" {
			b.table.States[i].LookAgain = time.Minute
		}
	}
	b.step()
	if out := b.step(); out.State != "Stuck" || out.LookAgain != time.Minute {
		t.Errorf("got %+v", out)
	}
}
