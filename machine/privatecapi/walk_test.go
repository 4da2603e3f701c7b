package privatecapi_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/machine/machinetest"
	table "github.com/capstan-capi/capstan/machine/privatecapi"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

var (
	steps = flag.Int("walk.steps", 5_000, "how many passes the random walk makes")
	seed  = flag.Uint64("walk.seed", 0, "where the random walk begins; 0 for anywhere")
)

// TestARandomWalkLosesNothing drives the table through a HostedCluster in memory in which processes end at every write, records
// and journals are lost, old or forged, locks are taken away, answers are lost, and guards never say Yes. Whatever happens,
// no object and nothing that belongs to one is lost, controllers act on no side that is not up to date, a committed move goes
// forward only, a failed one leaves no trace, and a world that is healed comes to rest with private types.
func TestARandomWalkLosesNothing(t *testing.T) {
	began := *seed
	if began == 0 {
		began = rand.Uint64()
	}
	t.Run(fmt.Sprintf("from seed %d", began), func(t *testing.T) {
		w := &walk{visited: map[machine.State]int{}}
		w.begin(newWorld(began))
		for i := range *steps {
			w.disturb()
			if err := w.step(); err != nil {
				t.Fatalf("pass %d: %v\n%s", i, err, w.story())
			}
			if i%60 == 59 {
				if err := w.recover(); err != nil {
					t.Fatalf("healing after pass %d: %v\n%s", i, err, w.story())
				}
			}
		}
		for _, row := range table.Table.States {
			if *steps >= 100_000 && w.visited[row.Name] == 0 {
				t.Errorf("the walk never came to %s", row.Name)
			}
		}
		t.Logf("passes by state: %v; %d locks were taken away", w.visited, w.taken)
	})
}

// walk is a world, the process that runs in it, and what an observer remembers.
type walk struct {
	*world
	machine *machine.Machine[guards.Facts, phases.Works]
	pass    *works
	// record is what is stored, found whether any is; old are some that were.
	record  machine.Record
	found   bool
	unsaved bool
	old     []machine.Record
	failing string
	failure error

	visited map[machine.State]int
	taken   int
	log     []string
}

func (w *walk) begin(world *world) {
	w.world, w.record, w.found, w.old, w.failing = world, machine.Record{}, false, nil, ""
	w.start()
}

// start starts a process, which remembers nothing.
func (w *walk) start() {
	w.checked, w.outages, w.unsaved = false, 0, false
	watched := machinetest.WithActions(table.Table, func(a machine.Action[phases.Works]) machine.Action[phases.Works] {
		if run := a.Run; run != nil {
			a.Run = func(ctx context.Context, p phases.Works) (machine.Result, error) {
				if w.failing == a.Name {
					return machine.Result{}, w.failure
				}
				if err := w.relock(); err != nil {
					return machine.Result{}, err
				}
				return run(ctx, p)
			}
		}
		return a
	})
	watched.Recall = func(f *guards.Facts, r machine.Record, resumed machine.Resumed) {
		guards.Recall(f, r, resumed)
		if w.pass != nil && w.pass.facts.Then.State == "" {
			w.pass.facts.Then = f.Then
		}
	}
	w.machine = &machine.Machine[guards.Facts, phases.Works]{
		Table: watched, Now: func() time.Time { return w.now }, Store: w,
		Observe: func(context.Context, machine.Key) (guards.Facts, phases.Works, error) {
			facts, err := w.observe()
			w.pass = &works{world: w.world, facts: facts}
			return facts, w.pass, err
		},
	}
}

// relock puts the lock of the operators back where it was taken away beside ours.
func (w *walk) relock() error {
	if m := w.marks(); m.Migrating || !m.Companion.IsOf("here") {
		return nil
	}
	return w.annotate(map[string]string{guards.MigrationAnnotation: guards.MarkTrue})
}

// Load and Save keep the record.
func (w *walk) Load(context.Context, machine.Key) (machine.Record, bool, error) {
	return w.record, w.found, nil
}

func (w *walk) Save(_ context.Context, _ machine.Key, s phases.Snapshot) (time.Duration, error) {
	if w.unsaved {
		return 0, errors.New("the record cannot be stored")
	}
	if s.Record.State != w.record.State {
		w.outages = 0
		w.checked = w.checked && s.Record.State == guards.Checking
	}
	w.record, w.found = s.Record, true
	if w.random.IntN(30) == 0 {
		w.old = append(w.old, s.Record)
	}
	return 0, nil
}

// step lets some time go by, lets everybody else act, makes a pass, and looks at what came of it.
func (w *walk) step() error {
	w.now = w.now.Add(time.Duration(1+w.random.IntN(8)) * time.Second)
	if len(w.faults.arriving) > 0 && w.random.IntN(3) == 0 {
		w.faults.arriving[0]()
		w.faults.arriving = w.faults.arriving[1:]
	}
	if err := w.live(); err != nil {
		return err
	}
	committed := w.stage() == guards.Committed && w.marks().Companion.IsOf("here")
	outcome, err := w.machine.Step(context.Background(), "clusters/a")
	var ended *machine.PanicError
	if errors.As(err, &ended) {
		if _, is := ended.Value.(killed); !is {
			return ended
		}
		w.note("killed in %s", w.record.State)
		w.start()
		err = errors.New("killed")
	}
	w.visited[w.record.State]++
	if moved := outcome.Moved; moved != nil && err == nil {
		w.note("%s --%s--> %s: %s", moved.From, moved.Event, moved.To, moved.Cause)
		if committed && slices.Contains([]machine.State{guards.Repausing, guards.DrainingBack, guards.CopyingBack, guards.DroppingCopies, guards.Restoring}, moved.To) {
			return fmt.Errorf("a committed move is undone: %s leads to %s", moved.Event, moved.To)
		}
		if trace := w.traces(); moved.To == guards.Failed && trace != "" && !w.meddled {
			return fmt.Errorf("a failed move has left %s", trace)
		}
	} else if outcome.Failure != nil || err != nil {
		w.note("%s: %v %v", w.record.State, outcome.Failure, err)
	}
	return w.kept()
}

// recover heals the world and has people do what the pages say, until it rests with private types, without a trace.
func (w *walk) recover() error {
	const bound = 600
	w.arrive()
	w.faults, w.failing, w.unsaved = faults{}, "", false
	w.turn, w.programme.Paused, w.programme.OldOperatorNeeded, w.hosted.deleting = true, false, true, false
	w.note("healed")
	for range bound {
		w.help()
		if err := w.step(); err != nil {
			return err
		}
		if w.record.State == guards.Private && !w.marks().Revert && w.traces() == "" {
			w.again()
			return nil
		}
	}
	return fmt.Errorf("after %d passes in a healthy world the machine is in %s: %s; it has left %q", bound, w.record.State, w.record.Reason, w.traces())
}

// arrive has arrive what is on its way: nobody restores a record in less time than a request may take.
func (w *walk) arrive() {
	for _, arrive := range w.faults.arriving {
		arrive()
	}
	w.faults.arriving = nil
}

// help is what people do.
func (w *walk) help() {
	m := w.marks()
	switch w.record.State {
	case guards.Failed:
		w.people(guards.FailedAnnotation, "")
	case guards.Held:
		if m.Migrating {
			w.people(guards.MigrationAnnotation, "")
		} else {
			w.people(guards.CompanionAnnotation, "")
		}
	case guards.Ambiguous:
		if m.Failed == guards.AmbiguousState && !m.Locked() {
			w.resolve()
		}
	}
}

// resolve has people leave the side alone that is up to date.
func (w *walk) resolve() {
	keep := guards.ToStandard
	if w.missing(keep) != "" {
		keep = guards.ToPrivate
	}
	w.note("people keep the %s side", keep)
	for name := range w.sides[keep.Other()] {
		w.gone(keep.Other(), name)
	}
	for name := range w.sides[keep] {
		w.owners[name] = &versioned[map[guards.Direction]bool]{is: map[guards.Direction]bool{keep: true}}
	}
	w.pauses[keep].is = pause{}
	w.component.is = component{replicas: replicas, autoscaler: autoscaling, equipped: keep == guards.ToPrivate}
	w.people(guards.FailedAnnotation, "")
	w.people(guards.ScopeAnnotation, map[bool]string{true: guards.ScopeLegacy}[keep == guards.ToStandard])
	w.people(guards.PrivateTypesAnnotation, map[bool]string{true: guards.MarkTrue}[keep == guards.ToPrivate])
}

// again begins with another HostedCluster, or has this one moved back.
func (w *walk) again() {
	w.meddled = false
	if w.random.IntN(2) == 0 {
		w.begin(newWorld(w.random.Uint64()))
		return
	}
	w.people(guards.RevertAnnotation, guards.MarkTrue)
}

// people write an annotation, without a precondition; an empty text takes it off.
func (w *walk) people(annotation, text string) {
	w.hosted.version++
	if w.hosted.annotations[annotation] = text; text == "" {
		delete(w.hosted.annotations, annotation)
	}
}

// note keeps the last things that happened.
func (w *walk) note(format string, args ...any) {
	w.log = append(w.log, w.now.Format(time.TimeOnly)+" "+fmt.Sprintf(format, args...))
	w.log = w.log[max(0, len(w.log)-60):]
}

func (w *walk) story() string {
	text := ""
	for _, line := range w.log {
		text += line + "\n"
	}
	facts, _ := w.observe()
	return text + fmt.Sprintf("annotations %v\nfacts %+v\n", w.hosted.annotations, facts)
}
