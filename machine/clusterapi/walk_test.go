package clusterapi

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

var (
	steps = flag.Int("walk.steps", 60_000, "how many passes the random walk makes")
	seed  = flag.Uint64("walk.seed", 0, "where the random walk begins; 0 for anywhere")
)

// TestARandomWalkNeverGetsStuck drives the real table through passes in which
// facts, errors and the clock are at random. After every pass an oracle that
// knows only what the table promises says what had to happen; now and then the
// world is healed, and then the walk has to reach Installed.
func TestARandomWalkNeverGetsStuck(t *testing.T) {
	began := *seed
	if began == 0 {
		began = rand.Uint64()
	}
	w := &walk{random: rand.New(rand.NewPCG(began, 0)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), failing: map[string]error{}}
	w.machine = machine.Machine[guards.Facts, *phases.Pass]{
		Table:   Table.WithDoubles(nil, func(name string) (machine.Result, error) { return machine.Result{}, w.do(name) }),
		Observe: func(context.Context, machine.Key) (guards.Facts, *phases.Pass, error) { return w.facts, nil, nil },
		Store:   w,
		Now:     func() time.Time { return w.now },
	}
	w.machine.Settle()
	w.now = w.now.Add(time.Hour) // the operator has been running for a while
	visited := map[machine.State]int{}
	for i := range *steps {
		w.disturb()
		if err := w.pass(); err != nil {
			t.Fatalf("pass %d of the walk from seed %d: %v", i, began, err)
		}
		visited[w.record.State]++
		if i%50 == 0 {
			if err := w.recover(); err != nil {
				t.Fatalf("healing after pass %d of the walk from seed %d: %v", i, began, err)
			}
		}
	}
	for _, row := range Table.States {
		if visited[row.Name] < *steps/1000 {
			t.Errorf("of %d passes %d were in %s", *steps, visited[row.Name], row.Name)
		}
	}
	t.Logf("passes by state: %v", visited)
}

// walk is a world of facts, a store, and what an observer remembers of both.
type walk struct {
	machine machine.Machine[guards.Facts, *phases.Pass]
	random  *rand.Rand
	now     time.Time
	facts   guards.Facts
	failing map[string]error
	healthy bool

	record machine.Record
	found  bool

	// high is the most progress in this state, and since when; trouble and gate
	// since when errors and lost gates last; the zero time for not at all.
	high           int
	highAt         time.Time
	trouble, gate  time.Time
	forGood        bool
	worked, failed bool
}

func (w *walk) Load(context.Context, machine.Key) (machine.Record, bool, error) {
	return w.record, w.found, nil
}

func (w *walk) Save(_ context.Context, _ machine.Key, s machine.Snapshot[guards.Facts, *phases.Pass]) (time.Duration, error) {
	w.record, w.found = s.Record, true
	return 0, nil
}

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// disturb changes a few things about the world, and lets time go by.
func (w *walk) disturb() {
	r, f := w.random, &w.facts
	w.healthy = false
	for range r.IntN(3) {
		switch r.IntN(12) {
		case 0:
			f.ClusterAPI = r.IntN(4) > 0
		case 1:
			f.Platform = one(r, "", "AWS", "AWS", "AWS")
		case 2:
			f.Wanted = one(r, "", "a", "b", "c", f.Latest, f.Latest)
		case 3:
			f.LatestNumber = int64(r.IntN(4))
			f.Latest = map[bool]string{true: "", false: one(r, "a", "b", "c")}[f.LatestNumber == 0]
		case 4:
			f.CurrentNumber = r.Int64N(f.LatestNumber + 1)
		case 5:
			f.Listed = one(r, int(f.LatestNumber), guards.MaxRevisions)
		case 6:
			f.Older, f.OlderSeen = r.IntN(3), r.IntN(3) > 0
		case 7:
			f.Applied = guards.Applied{Known: r.IntN(4) > 0, Complete: r.IntN(2) > 0, Done: r.IntN(4), Total: 3}
		case 8:
			f.Orphans = guards.Orphans{Known: r.IntN(4) > 0, Left: r.IntN(3)}
		case 9:
			f.Inputs = one(r, "", "one", "two")
		case 10:
			name := one(r, "PlanRevision", "ApplyRevision", "PruneOrphans", "KeepApplied", "KeepCurrent", "RetryWork", "RecordCurrent", "TrimRevisions")
			w.failing[name] = one(r, nil, errors.New("may heal"), machine.Terminal(errors.New("for good")))
		case 11:
			if r.IntN(20) == 0 {
				w.found = false // the record is lost
			}
		}
	}
	f.CurrentNumber = min(f.CurrentNumber, f.LatestNumber)
	w.now = w.now.Add(w.sleep())
}

// sleep is often so long as to end right before, at or after a deadline.
func (w *walk) sleep() time.Duration {
	r := w.random
	if deadline := w.record.Deadline; deadline != nil && r.IntN(4) == 0 {
		return deadline.At.Sub(w.now) + one(r, -time.Second, 0, time.Second)
	}
	return one(r, 0, time.Millisecond, time.Second, 30*time.Second, 2*time.Minute, patience, time.Hour, -time.Minute, -time.Hour)
}

// do plays the works and effects. Only in a healthy world they get anywhere.
func (w *walk) do(name string) error {
	w.worked = true
	if err := w.failing[name]; err != nil {
		w.failed = true
		return err
	}
	f := &w.facts
	if !w.healthy {
		return nil
	}
	switch name {
	case "PlanRevision", "KeepApplied", "RetryWork":
		if f.Latest != f.Wanted && f.Listed < guards.MaxRevisions {
			f.Latest, f.LatestNumber, f.Listed, f.Older = f.Wanted, f.LatestNumber+1, f.Listed+1, f.Older+1
			f.Applied = guards.Applied{Known: true, Total: 3}
			return nil
		}
	}
	if name == "RetryWork" && f.Applied.Complete {
		name = "PruneOrphans"
	}
	switch name {
	case "ApplyRevision", "KeepApplied", "RetryWork":
		f.Applied.Done = min(f.Applied.Done+1, 3)
		f.Applied.Complete = f.Applied.Done == 3
	case "PruneOrphans":
		f.Orphans = guards.Orphans{Known: true, Left: max(0, f.Orphans.Left-1)}
	case "RecordCurrent":
		f.Current, f.CurrentNumber = f.Latest, f.LatestNumber
	case "TrimRevisions":
		f.Older, f.Listed = 0, 1
	}
	return nil
}

// recover heals the world, and leads it to Installed in a bounded number of passes.
func (w *walk) recover() error {
	w.healthy = true
	clear(w.failing)
	f := &w.facts
	f.ClusterAPI, f.Platform, f.Wanted, f.Inputs, f.OlderSeen, f.Applied.Known = true, "AWS", one(w.random, "a", "b", "c"), "healthy", true, true
	f.Applied.Complete = f.Applied.Done == 3
	f.Listed = min(f.Listed, guards.MaxRevisions-1)
	for range 40 {
		if err := w.pass(); err != nil {
			return err
		}
		if w.record.State == Installed && f.Latest == f.Wanted && f.Applied.Complete && w.record.Failure == nil {
			return nil
		}
		w.now = w.now.Add(time.Second)
	}
	return fmt.Errorf("after 40 passes in a healthy world the machine is in %s: %s; facts %+v", w.record.State, w.record.Reason, *f)
}

// pass makes one pass, and compares what it did with what it had to do.
func (w *walk) pass() error {
	before, known := w.record, w.found
	if !known {
		before = machine.Record{State: Table.Start}
		w.entered(0)
		w.trouble = time.Time{}
	}
	w.remember(before)
	want, move := w.wanted(before)
	w.worked, w.failed = false, false
	outcome, err := w.machine.Step(context.Background(), "cluster")
	switch {
	case err != nil:
		return err
	case want != "" && move.Do.Name != "" && w.failing[move.Do.Name] != nil:
		if err := w.heldUp(before.State, outcome); err != nil {
			return err
		}
		move.Failing = patience // what was made instead, if anything
	case want == "" && outcome.Moved != nil:
		return fmt.Errorf("in %s nothing had to happen, and %s did", before.State, outcome.Moved.Event)
	case want != "" && (outcome.Moved == nil || outcome.Moved.Event != want):
		return fmt.Errorf("in %s %s had to happen, and %+v did", before.State, want, outcome.Moved)
	case outcome.Moved == nil && !w.worked && w.works(before.State):
		return fmt.Errorf("in %s no work was done", before.State)
	}
	if err := w.promises(outcome); err != nil {
		return err
	}
	w.learn(outcome, move)
	return nil
}

// heldUp is what a failed effect leads to: the state stays until the failure is
// for good or has lasted.
func (w *walk) heldUp(in machine.State, o machine.Outcome) error {
	gaveUp := o.Moved != nil && o.Moved.Event == guards.FailureEstablished
	over := !w.trouble.IsZero() && !w.now.Before(w.trouble.Add(patience))
	switch {
	case o.Failure == nil || o.Moved != nil && !gaveUp:
		return fmt.Errorf("in %s an effect failed, and the machine went on to %s", in, o.State)
	case gaveUp != (over || machine.IsTerminal(o.Failure)):
		return fmt.Errorf("in %s an effect fails since %s, and the machine is in %s", in, w.trouble, o.State)
	}
	return nil
}

func (w *walk) works(state machine.State) bool {
	row, _ := Table.State(state)
	return row.Work.Run != nil
}

// remember takes in what this pass will see. A clock that was set back begins
// to wait anew: nothing may have begun in the future.
func (w *walk) remember(before machine.Record) {
	for _, at := range []*time.Time{&w.highAt, &w.trouble, &w.gate} {
		if at.After(w.now) {
			*at = w.now
		}
	}
	if done, known := guards.Progress(w.facts); known && done > w.high {
		w.high, w.highAt = done, w.now
	}
	switch answer := guards.RevisionIsApplied.Answer(w.facts); {
	case before.State != Installed || answer.Truth == machine.Yes:
		w.gate = time.Time{}
	case answer.Truth == machine.No && before.Failure == nil && w.gate.IsZero():
		w.gate = w.now
	}
}

// wanted is the event that the table promises here, and its row. It asks in the
// order of what goes before what.
func (w *walk) wanted(before machine.Record) (machine.Event, machine.Move[guards.Facts, *phases.Pass]) {
	facts := w.facts
	guards.Recall(&facts, before)
	over := func(since time.Time) bool { return !since.IsZero() && !w.now.Before(since.Add(patience)) }
	_, gateSeen := before.Lasting[guards.GateLost]
	possible := []func(machine.Move[guards.Facts, *phases.Pass]) bool{
		func(m machine.Move[guards.Facts, *phases.Pass]) bool {
			return m.Urgent && m.If.Answer(facts).Truth == machine.Yes
		},
		func(m machine.Move[guards.Facts, *phases.Pass]) bool {
			return m.If.Asked() && m.For == 0 && m.If.Answer(facts).Truth == machine.Yes
		},
		func(m machine.Move[guards.Facts, *phases.Pass]) bool {
			return m.For > 0 && gateSeen && over(w.gate) && m.If.Answer(facts).Truth == machine.Yes
		},
		func(m machine.Move[guards.Facts, *phases.Pass]) bool {
			return m.Failing > 0 && !w.trouble.IsZero() && (w.forGood || over(w.trouble))
		},
		func(m machine.Move[guards.Facts, *phases.Pass]) bool { return m.Stalled > 0 && over(w.highAt) },
	}
	leaving := Table.Leaving(before.State)
	for _, is := range possible {
		if i := slices.IndexFunc(leaving, is); i >= 0 {
			return leaving[i].On, leaving[i]
		}
	}
	return "", machine.Move[guards.Facts, *phases.Pass]{}
}

// promises are kept by every outcome: the newest intent wins, the record's
// deadline is the true one, and Degraded hides no installation that works.
func (w *walk) promises(o machine.Outcome) error {
	f := w.facts
	changed := f.Wanted != "" && (f.LatestNumber == 0 || f.Latest != f.Wanted)
	if o.Moved != nil && !w.healthy && changed && slices.Contains([]machine.State{Applying, Pruning, Installed}, o.Moved.From) && o.Moved.To != Planning {
		return fmt.Errorf("other content was wanted in %s, and %s led to %s", o.Moved.From, o.Moved.Event, o.Moved.To)
	}
	if deadline := w.record.Deadline; deadline != nil && o.Moved == nil {
		if left := deadline.At.Sub(w.now); left > patience {
			return fmt.Errorf("in %s the deadline %s is %s away", w.record.State, deadline.On, left)
		} else if o.LookAgain <= 0 || o.LookAgain > max(left, time.Nanosecond) {
			return fmt.Errorf("in %s the deadline is %s away, and the next pass %s", w.record.State, left, o.LookAgain)
		}
	}
	if f.CurrentNumber == 0 || (w.record.State == Degraded && w.record.LastEvent == guards.GateLost) {
		return nil
	}
	for _, c := range Conditions(w.record, f) {
		if c.Type == "InstallerControllerAvailable" && c.Is {
			return nil
		}
	}
	return fmt.Errorf("in %s revision %d is installed and not said to be available", w.record.State, f.CurrentNumber)
}

// learn remembers what the outcome has begun or ended.
func (w *walk) learn(o machine.Outcome, move machine.Move[guards.Facts, *phases.Pass]) {
	switch {
	case o.Failure != nil:
		if w.trouble.IsZero() {
			w.trouble = w.now
		}
		w.forGood = machine.IsTerminal(o.Failure)
	case o.Moved == nil || move.Failing == 0:
		w.trouble, w.forGood = time.Time{}, false
	}
	if o.Moved != nil {
		done, _ := guards.Progress(w.facts)
		w.entered(done)
	}
}

func (w *walk) entered(done int) { w.high, w.highAt, w.gate = done, w.now, time.Time{} }
