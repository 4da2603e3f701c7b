package machinetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"go.yaml.in/yaml/v3"

	"github.com/capstan-capi/capstan/machine"
)

// Play runs the stories that match pattern. A story is a text of commands,
// each followed by "----" and what is expected of it; `go test -rewrite`
// writes what came out instead (commit that only when you understand it).
//
//	facts           YAML that changes the facts
//	pass            one pass of the machine
//	settle          passes until nothing more happens by itself
//	clock advance=  lets time go by
//	fail action= error= [terminal]   lets a work or effect fail from now on
//	heal action=    lets it succeed again
//	restart         starts a new operator on the kept record
//	lose-record     wipes the record
func Play[F, E any](t *testing.T, table machine.Table[F, E], pattern string) {
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no stories match %s (%v)", pattern, err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		t.Run(strings.ReplaceAll(name, "_", " "), func(t *testing.T) {
			s := &story[F, E]{table: table, now: noon, store: &memory[F, E]{}, failing: map[string]error{}}
			s.start()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
		})
	}
}

type story[F, E any] struct {
	table   machine.Table[F, E]
	facts   F
	now     time.Time
	store   *memory[F, E]
	machine *machine.Machine[F, E]
	failing map[string]error
	did     []string
}

func (s *story[F, E]) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "facts":
		decoder := yaml.NewDecoder(bytes.NewReader([]byte(d.Input)))
		decoder.KnownFields(true)
		if err := decoder.Decode(&s.facts); err != nil && !errors.Is(err, io.EOF) {
			d.Fatalf(t, "reading facts: %v", err)
		}
		return ""
	case "pass":
		line, _ := s.pass(t)
		return line
	case "settle":
		return s.settle(t)
	case "clock":
		advance, err := time.ParseDuration(argument(t, d, "advance"))
		if err != nil {
			d.Fatalf(t, "reading the time: %v", err)
		}
		s.now = s.now.Add(advance)
		return ""
	case "fail":
		err := errors.New(argument(t, d, "error"))
		if d.HasArg("terminal") {
			err = machine.Terminal(err)
		}
		s.failing[argument(t, d, "action")] = err
		return ""
	case "heal":
		delete(s.failing, argument(t, d, "action"))
		return ""
	case "restart":
		s.start()
		return ""
	case "lose-record":
		s.store = &memory[F, E]{}
		s.start()
		return ""
	}
	d.Fatalf(t, "no such command")
	return ""
}

// start starts a new operator on the kept record.
func (s *story[F, E]) start() {
	s.machine = &machine.Machine[F, E]{
		Table: s.table.WithDoubles(nil, func(name string) (machine.Result, error) {
			s.did = append(s.did, name)
			return machine.Result{}, s.failing[name]
		}),
		Observe: func(context.Context, machine.Key) (facts F, env E, err error) { return s.facts, env, nil },
		Store:   s.store,
		Now:     func() time.Time { return s.now },
	}
}

// settle passes until one neither moves nor asks for the next at once.
func (s *story[F, E]) settle(t *testing.T) string {
	var b strings.Builder
	for range 20 {
		line, again := s.pass(t)
		b.WriteString(line)
		if !again {
			return b.String()
		}
	}
	return b.String() + "does not settle\n"
}

func (s *story[F, E]) pass(t *testing.T) (string, bool) {
	s.did = nil
	outcome, err := s.machine.Step(context.Background(), "told")
	if err != nil {
		t.Fatal(err)
	}
	return s.tell(outcome), outcome.LookAgain > 0 && outcome.LookAgain < time.Millisecond
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
			line += " for good"
		}
	}
	if o.Reason != "" {
		line += ": " + o.Reason
	}
	if deadline := s.store.record.Deadline; deadline != nil {
		line += fmt.Sprintf(" (%s in %s)", deadline.On, deadline.At.Sub(s.now))
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
