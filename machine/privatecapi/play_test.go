package privatecapi_test

import (
	"context"
	"slices"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/machine/machinetest"
	table "github.com/capstan-capi/capstan/machine/privatecapi"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
	"github.com/capstan-capi/capstan/phases/privatecapi/simulated"
)

// play runs the machine in a world. Each process has a machine of its own.
type play struct {
	*simulated.World
	t       *testing.T
	machine *machine.Machine[guards.Facts, phases.Works]
	// visited are the states of each hosted cluster, in the order in which they were reached, and most is how many were locked at once.
	visited map[machine.Key][]machine.State
	most    int
	// each is called after each pass.
	each func(machine.Key, machine.Outcome)
	// wrote is what works have written, of one play or of several.
	wrote *ledger
}

func newPlay(t *testing.T) *play {
	p := playNoted(t, &ledger{})
	t.Cleanup(func() { p.wrote.Check(t, false, machinetest.Actions(table.Table)...) })
	return p
}

// playNoted is a play whose works are noted with those of others.
func playNoted(t *testing.T, wrote *ledger) *play {
	p := &play{World: simulated.New(), t: t, visited: map[machine.Key][]machine.State{}, wrote: wrote}
	p.restart()
	return p
}

// restart is another process.
func (p *play) restart() {
	p.Restart()
	p.machine = &machine.Machine[guards.Facts, phases.Works]{Table: p.noted(), Observe: p.Phases().Observe, Store: p.Store(), Now: p.Now}
}

// round makes a pass of each hosted cluster, and lets a second go by. A process that ends in a pass is followed by another one.
func (p *play) round() {
	for _, key := range p.Keys() {
		outcome, err := p.machine.Step(context.Background(), key)
		if simulated.IsKill(err) {
			p.restart()
			continue
		}
		if moved := outcome.Moved; moved != nil {
			p.visited[key] = append(p.visited[key], moved.To)
		}
		if p.each != nil {
			p.each(key, outcome)
		}
		p.most = max(p.most, len(p.Locked()))
	}
	p.Pass(time.Second)
}

// until makes rounds until something is so, and fails after a while of the simulated time.
func (p *play) until(what string, within time.Duration, is func() bool) {
	p.t.Helper()
	for end := p.Now().Add(within); !is(); {
		if p.Now().After(end) {
			p.t.Fatalf("not so within %s: %s\nstates %v\nlog %v\n%s", within, what, p.visited, tail(p.Log()), p.World)
		}
		p.round()
	}
}

// roundOf is a round of one hosted cluster, also while the API server does not tell which there are.
func (p *play) roundOf(key machine.Key) {
	_, _ = p.machine.Step(context.Background(), key)
	p.Pass(time.Second)
}

func tail(lines []string) []string { return lines[max(0, len(lines)-30):] }

func (p *play) rests(key machine.Key, state machine.State) func() bool {
	return func() bool { return p.State(key) == state && len(p.Locked()) == 0 }
}

// reaches says that a hosted cluster has been in a state.
func (p *play) reaches(key machine.Key, state machine.State) func() bool {
	return func() bool { return slices.Contains(p.visited[key], state) }
}

// before is how a hosted cluster was.
type before struct {
	objects, rest, dependents simulated.Picture
}

func (p *play) picture(key machine.Key) before {
	objects, _, _ := p.Objects(key)
	return before{objects: objects, rest: p.Rest(key), dependents: p.Dependents(key)}
}

func (p *play) same(what string, was, is simulated.Picture) {
	p.t.Helper()
	if differs := was.Differs(is); len(differs) > 0 {
		p.t.Errorf("%s differ: %v", what, differs)
	}
}

// waits is a world with one hosted cluster that waits for its turn; it is held by a pause of its own.
func waits(t *testing.T) (*play, machine.Key) {
	t.Helper()
	p := newPlay(t)
	key := p.AddHosted("a", 1)
	p.Annotate(key, guards.PausedAnnotation, "true")
	p.until("eligible", time.Minute, p.rests(key, guards.Eligible))
	p.Pass(time.Second)
	return p, key
}

func (p *play) begin(key machine.Key) { p.Annotate(key, guards.PausedAnnotation, "") }

// isMoved checks what holds after a move.
func (p *play) isMoved(key machine.Key, was before) {
	p.t.Helper()
	objects, standard, private := p.Objects(key)
	if standard != 0 || private == 0 {
		p.t.Errorf("%d standard and %d private objects", standard, private)
	}
	p.same("objects in standard text", was.objects, objects)
	p.same("dependents", was.dependents, p.Dependents(key))
	if !p.IsPrivate(key) {
		p.t.Errorf("marks %v", p.Annotations(key))
	}
	p.untouched(key)
}

// isBack checks what holds after a move that was undone.
func (p *play) isBack(key machine.Key, was before, reason guards.Reason) {
	p.t.Helper()
	objects, standard, private := p.Objects(key)
	if standard == 0 || private != 0 {
		p.t.Errorf("%d standard and %d private objects", standard, private)
	}
	p.same("objects in standard text", was.objects, objects)
	rest := p.Rest(key)
	if failed := guards.Reason(p.Annotations(key)[guards.FailedAnnotation]); failed != reason {
		p.t.Errorf("failed by %q, not %q", failed, reason)
	}
	delete(rest, "hostedclusters a")
	delete(was.rest, "hostedclusters a")
	p.same("everything else", was.rest, rest)
	if !p.Legacy(key) {
		p.t.Errorf("marks %v", p.Annotations(key))
	}
	p.untouched(key)
}

// untouched checks that no move was seen by a cloud, and that nothing is left of a lock.
func (p *play) untouched(key machine.Key) {
	p.t.Helper()
	if calls := p.Cloud(); len(calls) > 0 {
		p.t.Errorf("calls to the cloud: %v", calls)
	}
	for _, name := range []string{guards.MigrationAnnotation, guards.CompanionAnnotation} {
		if value, is := p.Annotations(key)[name]; is {
			p.t.Errorf("annotation %s is left: %s", name, value)
		}
	}
	for _, line := range p.Log() {
		if len(line) > len("collected") && line[:len("collected")] == "collected" {
			p.t.Errorf("the garbage collector has %s", line)
		}
	}
}
