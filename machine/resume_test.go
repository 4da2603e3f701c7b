package machine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// resuming is the door whose state Stuck resumes, and is left when there is no error any more.
func resuming() Table[world, *world] {
	table := door()
	table.States[2].Work = Resume[*world]()
	table.Recall = func(w *world, r Record, _ Resumed) { w.failing = r.Failure != nil }
	table.Moves[5].If = is("well", func(w world) bool { return !w.failing })
	return table
}

func TestStep_resume_does_the_work_of_the_state_it_came_from(t *testing.T) {
	b := newBench(t)
	b.table = resuming()
	b.world.workErr = Terminal(errors.New("walled up"))
	b.step()
	if out := b.step(); out.State != "Stuck" {
		t.Fatalf("got %+v", out)
	}
	b.world.did = nil
	if out := b.step(); out.Work != "Push" || !slices.Equal(b.world.did, []string{"Push"}) || out.LookAgain != terminalRetry {
		t.Errorf("got %+v after %v", out, b.world.did)
	}
	b.world.workErr = nil
	b.step()
	if out := b.step(); out.State != "Closed" {
		t.Errorf("when the work succeeds again the row leads out, got %+v", out)
	}
}

func TestStep_resume_runs_the_effect_that_failed_while_its_guard_says_Yes(t *testing.T) {
	b := newBench(t)
	b.table = resuming()
	b.world.open, b.world.effectErr = true, Terminal(errors.New("no voice"))
	if out := b.step(); out.State != "Stuck" || b.record.Entry.Effect != "Opened" {
		t.Fatalf("got %+v with %+v", out, b.record)
	}
	b.world.did = nil
	if out := b.step(); out.Failure == nil || !slices.Equal(b.world.did, []string{"Push", "Greet"}) {
		t.Errorf("got %+v after %v", out, b.world.did)
	}
	b.world.did, b.world.open = nil, false
	if b.step(); !slices.Equal(b.world.did, []string{"Push"}) {
		t.Errorf("the guard says No now, and %v was done", b.world.did)
	}
}

func TestStep_a_record_that_no_move_has_led_to_begins_anew(t *testing.T) {
	for name, record := range map[string]Record{
		"no state before":      {State: "Stuck", LastEvent: "Failed"},
		"an unknown one":       {State: "Stuck", CameFrom: "Ajar", LastEvent: "Failed"},
		"no event":             {State: "Stuck", CameFrom: "Closed"},
		"an event of another":  {State: "Stuck", CameFrom: "Open", LastEvent: "Failed"},
		"an event elsewhere":   {State: "Open", CameFrom: "Closed", LastEvent: "Failed"},
		"the state itself":     {State: "Stuck", CameFrom: "Stuck", LastEvent: "Mended"},
		"an unknown state":     {State: "Ajar"},
		"a start that is none": {State: "Closed", CameFrom: "Open", LastEvent: "Opened"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.table = resuming()
			record.Since, record.Transitions = b.now.Add(-time.Hour), []Transition{{From: "Closed", Event: "Opened", To: "Open"}}
			record.Failure = &Failure{Message: "rust", Terminal: true, Since: b.now}
			b.record, b.kept = record, true
			if out := b.step(); out.State != "Closed" || out.Work != "Push" || out.Failure != nil || !b.record.Since.Equal(b.now) || len(b.record.Transitions) != 1 {
				t.Errorf("got %+v with record %+v", out, b.record)
			}
		})
	}
}

func TestStep_an_error_lasts_also_while_a_forged_record_cannot_be_replaced(t *testing.T) {
	b := newBench(t)
	b.step()
	b.record = Record{State: "Open", LastEvent: "Failed", CameFrom: "Closed", Since: b.now}
	b.saveErr, b.world.workErr = errors.New("the API server is away"), errors.New("rust")
	for b.world.done = range 4 {
		if _, err := b.try(); err == nil {
			t.Fatal("the record was stored")
		}
		b.now = b.now.Add(20 * time.Second)
	}
	b.saveErr = nil
	if out := b.step(); out.Moved == nil || out.Moved.Event != "Failed" {
		t.Errorf("the error has lasted for a minute, got %+v", out)
	}
}

func TestStep_a_record_of_any_size_costs_no_more_than_one_of_ours(t *testing.T) {
	best, encoding := time.Hour, time.Hour // of some tries: other work on the machine makes them slower, and never faster
	for range 5 {
		b := newBench(t)
		b.record, b.kept = enormous(b.now), true
		began := time.Now()
		encoded(t, b.record)
		encoding = min(encoding, time.Since(began))
		began = time.Now()
		b.step()
		best = min(best, time.Since(began))
		if raw := encoded(t, b.record); len(raw) > 16<<10 || len(b.record.Transitions) != keptTransitions || len(b.record.Lasting) != 0 {
			t.Errorf("%d bytes, %d transitions, %d times", len(raw), len(b.record.Transitions), len(b.record.Lasting))
		}
	}
	if best > 10*encoding {
		t.Errorf("the pass took %s, and encoding the record once %s", best, encoding)
	}
}

// enormous is a record as somebody may write it by hand.
func enormous(now time.Time) Record {
	long := strings.Repeat("x", 1<<20)
	r := Record{
		State: "Open", CameFrom: "Closed", LastEvent: "Opened", Cause: long, Reason: long, Since: now,
		Entry: Entry{Inputs: long, Effect: Event(long)}, Failure: &Failure{Message: long, Part: long, Effect: Event(long)},
		Deadline: &Deadline{On: Event(long), To: State(long)}, Transitions: make([]Transition, 10_900), Lasting: map[Event]time.Time{},
	}
	for i := range 1000 {
		r.Lasting[Event(fmt.Sprint(i))] = now
	}
	r.Transitions[10_899] = Transition{From: State(long), Event: Event(long), To: State(long), Cause: long}
	return r
}

func TestRecalled_tells_what_the_moves_of_the_resumed_state_answer(t *testing.T) {
	for name, row := range map[string]struct {
		record          Record
		world           world
		done, overtaken Truth
	}{
		"it would not be left":                {Record{State: "Stuck", CameFrom: "Closed"}, world{}, No, No},
		"it has nothing left to do":           {Record{State: "Stuck", CameFrom: "Closed"}, world{open: true}, Yes, No},
		"something goes before":               {Record{State: "Stuck", CameFrom: "Closed"}, world{urgent: true}, No, Yes},
		"a guard that has to last counts not": {Record{State: "Stuck", CameFrom: "Open"}, world{broken: true}, No, No},
		"the record names no state":           {Record{State: "Stuck"}, world{}, Unknown, Yes},
		"the record names the state itself":   {Record{State: "Stuck", CameFrom: "Stuck"}, world{}, Unknown, Yes},
		"the record names an unknown state":   {Record{State: "Stuck", CameFrom: "Ajar"}, world{}, Unknown, Yes},
		"a state that resumes nothing":        {Record{State: "Closed", CameFrom: "Stuck"}, world{open: true, urgent: true}, Unknown, Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			table, got := resuming(), Resumed{}
			table.Recall = func(_ *world, _ Record, r Resumed) { got = r }
			table.Recalled(row.world, row.record)
			if got.Done.Truth != row.done || got.Overtaken.Truth != row.overtaken {
				t.Errorf("got %+v, want %s and %s", got, row.done, row.overtaken)
			}
		})
	}
}

func TestStep_no_deadline_fires_in_the_first_minute_after_a_start(t *testing.T) {
	for name, row := range map[string]struct {
		record Record
		world  world
	}{
		"no progress":         {record: Record{State: "Closed"}},
		"an error":            {record: Record{State: "Closed", Failure: &Failure{Message: "rust"}}, world: world{workErr: errors.New("rust"), done: 1}},
		"a guard that lasted": {record: Record{State: "Open", CameFrom: "Closed", LastEvent: "Opened", Lasting: map[Event]time.Time{"Broke": {}}}, world: world{broken: true}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.record, b.kept, b.world = row.record, true, row.world
			b.restart()
			start := b.now
			for _, at := range []struct {
				after time.Duration
				moves bool
			}{{0, false}, {time.Minute - time.Nanosecond, false}, {time.Minute, true}} {
				b.now = start.Add(at.after)
				if out := b.step(); (out.Moved != nil) != at.moves {
					t.Fatalf("after %s: %+v, deadline %+v", at.after, out.Moved, b.record.Deadline)
				}
			}
		})
	}
}

func TestStep_a_time_counts_on_through_a_move_whose_new_state_asks_the_same_event(t *testing.T) {
	b := newBench(t)
	lasts := Move[world, *world]{On: "Broke", From: []State{"Closed"}, To: "Stuck", For: time.Minute, If: b.table.Moves[4].If, Doc: doc}
	b.table.Moves = append(b.table.Moves, lasts)
	b.world.broken = true
	b.step()
	b.now, b.world.open = b.now.Add(40*time.Second), true
	b.step()
	b.now = b.now.Add(20 * time.Second)
	if out := b.step(); out.Moved == nil || out.Moved.Event != "Broke" || out.Moved.From != "Open" {
		t.Errorf("got %+v", out)
	}
}

func TestStep_a_move_that_cannot_be_stored_starves_nothing(t *testing.T) {
	b := newBench(t)
	b.step()
	start := b.now
	b.world.open, b.saveErr = true, errors.New("the API server is away")
	for range 20 {
		b.world.did = nil
		out, err := b.try()
		if err == nil || !slices.Equal(b.world.did, []string{"Greet", "Push"}) || out.Moved != nil || out.State != "Closed" {
			t.Fatalf("got %+v after %v (%v)", out, b.world.did, err)
		}
		if out.LookAgain <= 0 || out.LookAgain > 30*time.Second {
			t.Fatalf("the next try comes after %s", out.LookAgain)
		}
		b.now = b.now.Add(out.LookAgain)
	}
	b.saveErr = nil
	if out := b.step(); out.State != "Open" || b.now.Sub(start) < time.Minute {
		t.Errorf("got %+v", out)
	}
}

func TestStep_what_could_not_be_stored_is_not_forgotten(t *testing.T) {
	b := newBench(t)
	b.step()
	b.saveErr, b.world.workErr, b.world.done = errors.New("the API server is away"), errors.New("rust"), 1
	if _, err := b.try(); err == nil {
		t.Fatal("the record was stored")
	}
	b.now, b.saveErr, b.world.done = b.now.Add(time.Minute), nil, 2
	if out := b.step(); out.Moved == nil || out.Moved.Event != "Failed" {
		t.Errorf("the error has lasted for a minute, got %+v", out)
	}
}

func TestStep_a_pass_that_cannot_be_made_is_tried_again_within_30_seconds(t *testing.T) {
	b := newBench(t)
	b.restart()
	b.machine.Observe = nil // panics
	out, err := b.try()
	var panicked *PanicError
	if !errors.As(err, &panicked) || panicked.Key != "door" || out.LookAgain <= 0 || out.LookAgain > lastRetry {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestStep_the_store_and_the_work_say_when_to_look_again(t *testing.T) {
	b := newBench(t)
	b.table.States[1].Work = act("Watch", func(*world) error { return nil })
	b.record, b.kept, b.later = Record{State: "Open", CameFrom: "Closed", LastEvent: "Opened", Since: b.now}, true, 7*time.Second
	if out := b.step(); out.LookAgain != 7*time.Second {
		t.Errorf("got %s", out.LookAgain)
	}
}

func TestStep_a_record_is_bounded_whatever_the_errors_are(t *testing.T) {
	b := newBench(t)
	for _, text := range []string{"x", "é", "\x00", "\xff", "<"} {
		b.world.workErr = Terminal(errors.New(strings.Repeat(text, 2*maxRecord)))
		for range 100 {
			b.step()
		}
		if size := len(encoded(t, b.record)); size > maxRecord {
			t.Errorf("with %q the record has %d bytes", text, size)
		}
	}
}
