package privatecapi_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// end is how a move ends that met a fault, as the matrix shows it.
type end string

const (
	moved     end = "moved"
	undone    end = "undone"
	gone      end = "gone"
	ambiguous end = "Ambiguous"
)

// column is a state that faults meet, when the machine has just come to it.
type column struct {
	state machine.State
	// back says that the state is one of a move that is undone.
	back bool
}

func columns() (all []column) {
	for _, state := range slices.Concat(forward, []machine.State{guards.Committing, guards.RemovingSource, guards.Unlocking}) {
		all = append(all, column{state: state})
	}
	for _, state := range []machine.State{guards.Repausing, guards.DrainingBack, guards.CopyingBack, guards.DroppingCopies, guards.Restoring} {
		all = append(all, column{state: state, back: true})
	}
	return all
}

// undisturbed is how a move ends without a fault.
func (c column) undisturbed() end {
	if c.back {
		return undone
	}
	return moved
}

// hazard is one thing that goes wrong in a state: a row of the matrix.
type hazard struct {
	name, doc string
	strikes   func(p *play, key machine.Key)
	// ends are the states in which the move does not end as without it.
	ends map[machine.State]end
}

func (h hazard) expect(c column) end { return cmp.Or(h.ends[c.state], c.undisturbed()) }

// all gives the same end to some states.
func all(e end, states ...machine.State) map[machine.State]end {
	ends := map[machine.State]end{}
	for _, state := range states {
		ends[state] = e
	}
	return ends
}

// with is ends, and another one in one state.
func with(ends map[machine.State]end, state machine.State, e end) map[machine.State]end {
	ends[state] = e
	return ends
}

// states are those of all columns, and guarded those in which something is locked and nothing committed.
func states() (all []machine.State) {
	for _, c := range columns() {
		all = append(all, c.state)
	}
	return all
}

func guarded() []machine.State { return slices.Clone(forward[1:]) }

// long is for how long something is not as it has to be.
const long = 5 * time.Minute

var hazards = []hazard{
	{
		name: "operator killed", doc: "The process ends, and another one is started, which remembers nothing but what is stored.",
		strikes: func(p *play, _ machine.Key) { p.restart() },
	},
	{
		name: "record lost", doc: "The ConfigMap with the machine's record is deleted, and the operator is started anew.",
		strikes: func(p *play, key machine.Key) {
			p.LoseRecord(key)
			p.restart()
		},
		ends: all(undone, append(guarded(), guards.Committing)...),
	},
	{
		name: "API server away", doc: "The API server does not answer for two minutes.",
		strikes: func(p *play, key machine.Key) {
			p.Down(true)
			for range 120 {
				p.roundOf(key)
			}
			p.Down(false)
		},
	},
	{
		name: "a right taken away", doc: "For five minutes the operator may write nothing but its record.",
		strikes: func(p *play, _ machine.Key) {
			p.ForbidWrites()
			for end := p.Now().Add(long); p.Now().Before(end); {
				p.round()
			}
			p.Accept()
		},
		ends: all(undone, slices.DeleteFunc(guarded(), func(s machine.State) bool { return s == guards.Observing })...),
	},
	{
		name: "lock taken from sight", doc: "Somebody takes off annotation `migration-in-progress` alone, by which operators know the lock.",
		strikes: func(p *play, key machine.Key) { p.Annotate(key, guards.MigrationAnnotation, "") },
		ends:    all(undone, guards.Comparing), // the old operator has put the components back, and the sides are looked at once more
	},
	{
		name: "lock taken away", doc: "Somebody takes off annotation `migration-in-progress`, and what stands beside it.",
		strikes: func(p *play, key machine.Key) {
			p.Annotate(key, guards.MigrationAnnotation, "")
			p.Annotate(key, guards.CompanionAnnotation, "")
		},
		ends: with(all(ambiguous, guards.CopyingStatus, guards.Rewiring, guards.Equipping, guards.Starting, guards.Comparing, guards.Unpausing,
			guards.Observing, guards.Committing, guards.RemovingSource,
			guards.Repausing, guards.DrainingBack, guards.CopyingBack, guards.DroppingCopies), guards.Restoring, moved),
	},
	{
		name: "deleted", doc: "Somebody deletes the HostedCluster.",
		strikes: func(p *play, key machine.Key) { p.Delete(key) },
		ends:    all(gone, states()...),
	},
}

// meet is a move that has come to a state.
func meet(t *testing.T, c column) (*play, machine.Key, before) {
	t.Helper()
	p, key := waits(t)
	was := p.picture(key)
	p.begin(key)
	if c.back {
		p.until(string(guards.Observing), long, p.reaches(key, guards.Observing))
		p.LoseRecord(key)
		p.restart()
	}
	p.until(string(c.state), 2*long, p.reaches(key, c.state))
	return p, key, was
}

func TestMigration_ends_as_the_matrix_says_whatever_goes_wrong_in_whichever_state(t *testing.T) {
	for _, h := range hazards {
		for _, c := range columns() {
			t.Run(h.name+" in "+string(c.state), func(t *testing.T) {
				t.Parallel()
				p, key, was := meet(t, c)
				h.strikes(p, key)
				if want := h.expect(c); p.ends(key) != want {
					t.Errorf("it ended %s, not %s; states %v; marks %v", p.ends(key), want, p.visited, p.Annotations(key))
				}
				p.losesNothing(was)
			})
		}
	}
}

// ends waits until a move is at rest, and says how.
func (p *play) ends(key machine.Key) end {
	p.t.Helper()
	rests := p.staysAtRest(key)
	p.until("at rest", 40*time.Minute, func() bool { return p.Annotations(key) == nil || rests() })
	switch {
	case p.Annotations(key) == nil:
		return gone
	case p.State(key) == guards.Private:
		return moved
	case p.State(key) == guards.Failed:
		return undone
	}
	return end(p.State(key))
}

// losesNothing checks that nothing was lost, whatever the end is, and that the cloud was not called.
func (p *play) losesNothing(was before) {
	p.t.Helper()
	is, _, _ := p.ObjectsIn(phases.ControlPlaneNamespace("clusters", "a"))
	for name := range was.objects {
		if _, there := is[name]; !there {
			p.t.Errorf("%s is lost", name)
		}
	}
	if calls := p.Cloud(); len(calls) > 0 {
		p.t.Errorf("calls to the cloud: %v", calls)
	}
}
