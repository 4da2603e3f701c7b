package clusterapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	"github.com/capstan-capi/capstan/machine/machinetest"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/clusterapi/simulated"
)

// patience is how long trouble may last before people are told, as the table's rows say.
const patience = 5 * time.Minute

var (
	steps = flag.Int("walk.steps", 1_500, "how many times the random walk disturbs the cluster")
	seed  = flag.Uint64("walk.seed", 0, "where the random walk begins; 0 for anywhere")
)

// TestARandomWalkNeverGetsStuck drives the real phases through a simulated cluster
// in which everything that people, the platform, registries, the API server, the
// clock and the operator's own process can do happens at random. After every pass
// an oracle that knows only the table says what had to happen; now and then the
// world is healed, and then the walk has to reach Installed.
func TestARandomWalkNeverGetsStuck(t *testing.T) {
	began := *seed
	if began == 0 {
		began = rand.Uint64()
	}
	t.Run(fmt.Sprintf("from seed %d", began), func(t *testing.T) { walkFrom(t, began) })
}

func walkFrom(t *testing.T, began uint64) {
	w := newWalk(began)
	// Some states are seldom reached: the walk goes on until it was everywhere, or four times as long.
	for i := 0; i < *steps || i < 4**steps && !w.everywhere(); i++ {
		w.disturb()
		if err := w.pass(); err != nil {
			t.Fatalf("pass %d of the walk from seed %d: %v\n%s", i, began, err, w.story())
		}
		if i%40 == 39 {
			if err := w.recover(); err != nil {
				t.Fatalf("healing after pass %d of the walk from seed %d: %v\n%s", i, began, err, w.story())
			}
		}
	}
	w.wrote.Check(t, false, machinetest.Actions(table.Table)...)
	if *steps >= 1_000 && !w.everywhere() {
		t.Errorf("some state was hardly visited in %d passes, or no pin followed", 4**steps)
	}
	t.Logf("passes by state: %v; moves: %v; %d revisions for pins; at most %d passes to heal", w.visited, w.moved, w.pins.listed, w.healed)
}

// everywhere is whether the walk has been in every state, once in a thousand passes
// that it was asked for, and has followed a pin.
func (w *walk) everywhere() bool {
	if w.pins.listed == 0 {
		return false
	}
	for _, row := range table.Table.States {
		if w.visited[row.Name] < *steps/1000 {
			return false
		}
	}
	return true
}

// walk is a world, and what an observer remembers of it.
type walk struct {
	world
	random  *rand.Rand
	machine *machine.Machine[guards.Facts, *phases.Pass]
	wrote   machinetest.Ledger[*phases.Pass]
	failing map[string]error

	// The pass: what was observed, the record that it began with, what was done, and what that met.
	facts    guards.Facts
	observed bool
	before   *machine.Record
	did      []string
	met      error
	// The record as it was saved last, and as it can be restored.
	saved machine.Record
	shot  phases.Snapshot
	old   []json.RawMessage

	oracle  oracle
	visited map[machine.State]int
	moved   map[machine.Event]int
	pins    pins
	healed  int
	log     []string
}

func newWalk(seed uint64) *walk {
	w := &walk{
		world: world{Cluster: simulated.New()}, random: rand.New(rand.NewPCG(seed, 0)), failing: map[string]error{},
		visited: map[machine.State]int{}, moved: map[machine.Event]int{},
	}
	w.start()
	return w
}

// start starts an operator whose passes are watched.
func (w *walk) start() {
	observe, store := w.Start()
	watched := machinetest.WithActions(noted(&w.wrote, w.Cluster), func(a machine.Action[*phases.Pass]) machine.Action[*phases.Pass] {
		if run := a.Run; run != nil {
			a.Run = func(ctx context.Context, p *phases.Pass) (result machine.Result, err error) {
				w.did = append(w.did, a.Name)
				if err = w.failing[a.Name]; err == nil {
					result, err = run(ctx, p)
				}
				w.met = err
				return result, err
			}
		}
		return a
	})
	watched.Recall = func(f *guards.Facts, r machine.Record, resumed machine.Resumed) {
		if w.before == nil {
			r.Lasting = maps.Clone(r.Lasting)
			w.before = &r
		}
		guards.Recall(f, r, resumed)
	}
	w.machine = &machine.Machine[guards.Facts, *phases.Pass]{
		Table: watched, Now: w.Now, Store: &savedBy{Store: store, walk: w},
		Observe: func(ctx context.Context, key machine.Key) (guards.Facts, *phases.Pass, error) {
			facts, pass, err := observe(ctx, key)
			w.facts, w.observed = facts, err == nil
			return facts, pass, err
		},
	}
	w.oracle.restarted()
}

// savedBy notes what is saved.
type savedBy struct {
	machine.Store[guards.Facts, *phases.Pass]
	walk *walk
}

func (s *savedBy) Save(ctx context.Context, key machine.Key, shot phases.Snapshot) (time.Duration, error) {
	s.walk.saved, s.walk.shot = shot.Record, shot
	return s.Store.Save(ctx, key, shot)
}

// pass makes one pass, and compares what it did with what it had to do.
func (w *walk) pass() error {
	w.observed, w.before, w.did, w.met = false, nil, nil, nil
	w.Announced()
	writes, engine := w.Writes(), w.Engine.Writes()
	deletions, newest, images := engine.Deletions, w.Desired(), w.NewestImages()
	expected := w.saved
	outcome, err := w.machine.Step(context.Background(), "cluster")
	w.visited[outcome.State]++
	w.note("pass: %+v did %v (%v), error %v", outcome.Moved, w.did, w.met, err)
	if !w.observed || w.before == nil {
		if err == nil || len(w.did) > 0 {
			return fmt.Errorf("nothing was observed, and %v was done (%w)", w.did, err)
		}
		return nil
	}
	w.oracle.sees(w.Now(), *w.before, expected, w.facts)
	w.pins.seen(w)
	want := w.oracle.wanted()
	if err := w.judge(want, outcome, err); err != nil {
		return err
	}
	after := w.Writes()
	switch row, _ := table.Table.State(w.before.State); {
	case guards.PauseStands.Answer(w.facts).Truth == machine.Yes && (after.ClusterAPI != writes.ClusterAPI || w.Engine.Writes() != engine):
		return fmt.Errorf("in %s something was written while a pause stands: %+v and %+v, before %+v and %+v", row.Name, after, w.Engine.Writes(), writes, engine)
	case after.Stale > writes.Stale:
		return errors.New("ClusterAPI.status was written from a copy older than the last write")
	case after.ClusterAPI > writes.ClusterAPI+1 || after.ClusterOperator > writes.ClusterOperator+1:
		return fmt.Errorf("in %s one pass wrote ClusterAPI.status %d times and the ClusterOperator %d times",
			row.Name, after.ClusterAPI-writes.ClusterAPI, after.ClusterOperator-writes.ClusterOperator)
	case w.Engine.Writes().Deletions > deletions && (!slices.Contains(w.did, phases.PruneOrphans.Name) || w.facts.DesiredNumber != w.facts.CurrentNumber):
		return fmt.Errorf("in %s objects were deleted by %v, while revision %d is current and %d is desired", row.Name, w.did, w.facts.CurrentNumber, w.facts.DesiredNumber)
	}
	if w.Desired() > newest {
		if err := w.listed(newest, images); err != nil {
			return err
		}
	}
	return w.ends(outcome, err == nil)
}

// ends takes in what came of a pass, unless it was not stored.
func (w *walk) ends(o machine.Outcome, stored bool) error {
	if !stored {
		w.oracle.lost()
		return nil
	}
	if o.Moved != nil {
		w.moved[o.Moved.Event]++
	}
	w.oracle.learn(o, w.facts)
	w.remember()
	return w.promises(o)
}

// judge compares an outcome with the move that the table promises, nil for work.
func (w *walk) judge(want *move, o machine.Outcome, stored error) error {
	row, _ := table.Table.State(w.before.State)
	works := w.worksIn(row)
	effect := ""
	if want != nil {
		effect = want.Do.Name
	}
	failed := effect != "" && w.met != nil && slices.Equal(w.did, []string{effect})
	switch {
	case stored != nil && o.Moved != nil:
		return fmt.Errorf("a move that was not stored was made: %+v", o.Moved)
	case stored != nil: // it is made again; the work of the stored state is done as well, at most
		did := w.did
		if effect != "" && len(did) > 0 && did[0] == effect {
			did = did[1:]
		}
		if want != nil && stateOf(want.To).Quiet {
			works = w.worksIn(stateOf(want.To))
		}
		if !slices.Equal(did, works) && !slices.Equal(did, works[:1]) && !failed {
			return fmt.Errorf("in %s the record was not stored, and %v was done instead of %v", row.Name, w.did, works)
		}
	case want == nil && o.Moved != nil:
		return fmt.Errorf("in %s nothing had to happen, and %s did; facts %+v", row.Name, o.Moved.Event, w.facts)
	case want == nil && !slices.Equal(w.did, works) && !slices.Equal(w.did, works[:1]):
		return fmt.Errorf("in %s the work is %v, and %v was done", row.Name, works, w.did)
	case want == nil:
	case failed:
		return w.heldUp(row.Name, o)
	case o.Moved == nil || o.Moved.Event != want.On || o.Moved.To != want.To:
		return fmt.Errorf("in %s %s had to happen, and %+v did; facts %+v, record %+v", row.Name, want.On, o.Moved, w.facts, *w.before)
	case len(w.did) > 0 && !slices.Equal(w.did, []string{effect}):
		return fmt.Errorf("in %s %s was made, and %v was done", row.Name, want.On, w.did)
	}
	return nil
}

// worksIn is what is done on a pass that makes no move.
func (w *walk) worksIn(row machine.StateRow[*phases.Pass]) []string {
	if !table.Table.Resumes(row.Name) {
		return []string{row.Work.Name}
	}
	from, known := table.Table.State(w.before.CameFrom)
	if !known || table.Table.Resumes(from.Name) {
		from, _ = table.Table.State(table.Table.Start)
	}
	works := []string{from.Work.Name}
	facts := table.Table.Recalled(w.facts, *w.before)
	for _, m := range table.Table.Leaving(from.Name) {
		if w.before.Entry.Effect == m.On && m.Do.Name != "" && m.If.Answer(facts).Truth == machine.Yes {
			works = append(works, m.Do.Name)
		}
	}
	return works
}

// stateOf is the row of a state.
func stateOf(name machine.State) machine.StateRow[*phases.Pass] {
	row, _ := table.Table.State(name)
	return row
}

// heldUp is what a failed effect leads to: the state stays until the failure is
// terminal or has lasted.
func (w *walk) heldUp(in machine.State, o machine.Outcome) error {
	gaveUp := o.Moved != nil && o.Moved.Event == guards.FailureEstablished
	switch {
	case o.Failure == nil || o.Moved != nil && !gaveUp:
		return fmt.Errorf("in %s an effect failed, and the machine went on to %s", in, o.State)
	case gaveUp != (w.oracle.over(w.oracle.trouble, patience) || machine.IsTerminal(o.Failure)):
		return fmt.Errorf("in %s an effect fails since %s, and the machine is in %s", in, w.oracle.trouble, o.State)
	}
	return nil
}

// promises are kept by every outcome: the record's deadline is the true one, and
// Degraded hides no installation that works.
func (w *walk) promises(o machine.Outcome) error {
	if deadline := w.saved.Deadline; deadline != nil && o.Moved == nil {
		if left := deadline.At.Sub(w.Now()); left > patience {
			return fmt.Errorf("in %s the deadline %s is %s away", w.saved.State, deadline.On, left)
		} else if o.LookAgain <= 0 || o.LookAgain > max(left, time.Nanosecond) {
			return fmt.Errorf("in %s the deadline is %s away, and the next pass %s", w.saved.State, left, o.LookAgain)
		}
	}
	if w.facts.CurrentNumber == 0 || table.Table.Takes(w.saved, table.Available) {
		return nil
	}
	for _, c := range table.Conditions(w.shot) {
		if c.Type == table.Available && c.Is {
			return nil
		}
	}
	return fmt.Errorf("in %s revision %d is installed and not said to be available", w.saved.State, w.facts.CurrentNumber)
}

// recover heals the world, and leads it to Installed in a bounded number of passes.
func (w *walk) recover() error {
	const bound = 150
	clear(w.failing)
	w.Heal()
	w.Engine.Steps(one(w.random, 0, 0, 2))
	w.List(one(w.random, releases...))
	w.note("healed")
	for i := range bound {
		if err := w.pass(); err != nil {
			return err
		}
		f := w.facts
		if w.saved.State == table.Installed && w.saved.Failure == nil && f.Planned != "" && f.Desired == f.Planned && f.DesiredNumber == f.CurrentNumber && f.Applied.Complete {
			w.healed = max(w.healed, i)
			return nil
		}
		if w.saved.State == table.MaxRevisions {
			w.Unlist(4)
		}
		w.Advance(time.Second)
	}
	return fmt.Errorf("after %d passes in a healthy world the machine is in %s: %s; facts %+v", bound, w.saved.State, w.saved.Reason, w.facts)
}

// remember keeps a few records, to be restored later.
func (w *walk) remember() {
	if record := w.Record(); record != nil && w.random.IntN(10) == 0 {
		w.old = append(w.old, record)
		w.old = w.old[max(0, len(w.old)-20):]
	}
}

// note keeps the last things that happened.
func (w *walk) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%s in %s: ", w.Now().Format(time.TimeOnly), w.saved.State)+fmt.Sprintf(format, args...))
	w.log = w.log[max(0, len(w.log)-60):]
}

func (w *walk) story() string {
	text := ""
	for _, line := range w.log {
		text += line + "\n"
	}
	show, err := w.Cluster.Do("show", nil)
	return text + show + fmt.Sprint(err)
}
