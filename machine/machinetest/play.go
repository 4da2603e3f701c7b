package machinetest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/capstan-capi/capstan/machine"
)

// Play runs the stories that match pattern on facts. A story is a text of
// commands, each followed by "----" and what is expected of it; `go test
// -rewrite` writes what came out instead (commit that only when you understand it).
//
//	facts           YAML that changes the facts
//	pass            one pass of the machine
//	settle [briefly]   passes until nothing more happens by itself; told is every one, or the last
//	clock advance=  lets time go by
//	fail action= error= [terminal]   lets a work or effect fail from now on, before it does anything
//	heal action=    lets it succeed again
//	restart         starts a new operator on the kept record
//	lose-record     wipes the record, and starts a new operator
func Play[F, E any](t *testing.T, table machine.Table[F, E], pattern string) {
	play(t, pattern, func(*testing.T) *story[F, E] {
		w := &told[F, E]{now: noon, store: &memory[F, E]{}}
		doubled := table.WithDoubles(nil, func(string) (machine.Result, error) { return machine.Result{}, nil })
		return &story[F, E]{table: doubled, world: w}
	})
}

// PlayWorld runs the stories that match pattern on worlds: the real works and
// effects run. Commands that are not among those of Play, without facts, are the world's own.
func PlayWorld[F, E any](t *testing.T, pattern string, newWorld func(*testing.T) (machine.Table[F, E], World[F, E])) {
	play(t, pattern, func(t *testing.T) *story[F, E] {
		table, world := newWorld(t)
		return &story[F, E]{table: table, world: world}
	})
}

func play[F, E any](t *testing.T, pattern string, begin func(*testing.T) *story[F, E]) {
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no stories match %s (%v)", pattern, err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		t.Run(strings.ReplaceAll(name, "_", " "), func(t *testing.T) {
			s := begin(t)
			s.failing = map[string]error{}
			s.start()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
		})
	}
}

type story[F, E any] struct {
	table   machine.Table[F, E]
	world   World[F, E]
	machine *machine.Machine[F, E]
	saved   machine.Record
	failing map[string]error
	did     []string
}

func (s *story[F, E]) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "pass":
		line, _ := s.pass(t)
		return line
	case "settle":
		return s.settle(t, d.HasArg("briefly"))
	case "clock":
		advance, err := time.ParseDuration(argument(t, d, "advance"))
		if err != nil {
			d.Fatalf(t, "reading the time: %v", err)
		}
		s.world.Advance(advance)
	case "fail":
		err := errors.New(argument(t, d, "error"))
		if d.HasArg("terminal") {
			err = machine.Terminal(err)
		}
		s.failing[argument(t, d, "action")] = err
	case "heal":
		delete(s.failing, argument(t, d, "action"))
	case "restart":
		s.start()
	case "lose-record":
		s.world.LoseRecord()
		s.start()
	default:
		args := map[string]string{}
		for _, arg := range d.CmdArgs {
			args[arg.Key] = strings.Join(arg.Vals, " ")
		}
		output, err := s.world.Do(d.Cmd, args, d.Input)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		return output
	}
	return ""
}

// start starts a new operator on the kept record.
func (s *story[F, E]) start() {
	observe, store := s.world.Start()
	s.machine = &machine.Machine[F, E]{
		Table: s.watched(), Observe: observe, Store: &saving[F, E]{Store: store, saved: &s.saved}, Now: s.world.Now,
	}
}

// watched is the table with works and effects that are noted, and fail as they are told.
func (s *story[F, E]) watched() machine.Table[F, E] {
	watch := func(a machine.Action[E]) machine.Action[E] {
		if run := a.Run; run != nil {
			a.Run = func(ctx context.Context, env E) (machine.Result, error) {
				s.did = append(s.did, a.Name)
				if err := s.failing[a.Name]; err != nil {
					return machine.Result{}, err
				}
				return run(ctx, env)
			}
		}
		return a
	}
	return WithActions(s.table, watch)
}

// settle passes until one neither moves nor asks for the next at once.
func (s *story[F, E]) settle(t *testing.T, briefly bool) string {
	all := ""
	for range 30 {
		line, again := s.pass(t)
		if all += line; briefly {
			all = line
		}
		if !again {
			return all
		}
	}
	return all + "does not settle\n"
}

func (s *story[F, E]) pass(t *testing.T) (string, bool) {
	s.did = nil
	s.world.Announced() // this pass is the answer to all before it
	outcome, err := s.machine.Step(context.Background(), "cluster")
	if err != nil {
		t.Fatal(err)
	}
	again := s.world.Announced() || outcome.LookAgain > 0 && outcome.LookAgain < time.Millisecond
	return s.tell(outcome), again
}

func (s *story[F, E]) tell(o machine.Outcome) string {
	did := strings.Join(s.did, ", ")
	if o.Moved != nil {
		line := fmt.Sprintf("%s --%s--> %s", o.Moved.From, o.Moved.Event, o.Moved.To)
		if did != "" {
			line += " / " + did
		}
		if o.Moved.Cause != "" {
			line += ": " + o.Moved.Cause
		}
		return line + "\n"
	}
	line := string(o.State)
	if did != "" {
		line += " does " + did
	}
	if o.Failure != nil {
		line += ", which fails"
		if machine.IsTerminal(o.Failure) {
			line += " with a terminal error"
		}
	}
	if o.Reason != "" {
		line += ": " + o.Reason
	}
	if deadline := s.saved.Deadline; deadline != nil {
		line += fmt.Sprintf(" (%s in %s)", deadline.On, deadline.At.Sub(s.world.Now()))
	}
	return line + "\n"
}

func argument(t *testing.T, d *datadriven.TestData, key string) string {
	arg, ok := d.Arg(key)
	if !ok {
		d.Fatalf(t, "needs %s=", key)
	}
	return strings.Join(arg.Vals, " ")
}
