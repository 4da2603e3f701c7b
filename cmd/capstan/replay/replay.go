// Package replay takes the decisions of a flight recorder's file again, on the
// table of this release, and tells where it decides otherwise. It needs no
// cluster.
package replay

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/capstan-capi/capstan/controllers/view"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/recorder"
)

// Step is one entry of a file, taken again; its JSON is what `capstan replay -o json` prints.
type Step struct {
	recorder.Entry
	// Again is the decision that the table takes now, nil for an entry without one.
	Again *machine.Decision `json:"again,omitempty"`
	// Moves tell of every move that leaves the state how it stood.
	Moves []machine.Candidate `json:"moves,omitempty"`
	// Differs says how the two decisions differ, empty if they do not.
	Differs string `json:"differs,omitempty"`
}

// Result is a whole file, taken again.
type Result struct {
	Steps []Step `json:"steps"`
	// Decisions counts the steps with a decision, Differ those of them that are decided otherwise now.
	Decisions int `json:"decisions"`
	Differ    int `json:"differ"`
}

// Run takes every decision of a log again, on the table of its machine. An entry
// that names none is of the first one.
func Run(log []recorder.Entry, machines []view.View) Result {
	result := Result{Steps: []Step{}}
	for _, entry := range log {
		step := Step{Entry: entry}
		if entry.Decision != nil {
			step.take(*entry.Decision, machines)
			result.Decisions++
		}
		if step.Differs != "" {
			result.Differ++
		}
		result.Steps = append(result.Steps, step)
	}
	return result
}

func (s *Step) take(recorded machine.Decision, machines []view.View) {
	i := slices.IndexFunc(machines, func(v view.View) bool { return s.Machine == "" || v.Table.Name == s.Machine })
	if i < 0 {
		s.Differs = "this release has no machine " + s.Machine
		return
	}
	again, moves, err := machines[i].Table.Replay(recorded)
	s.Moves = moves
	switch {
	case err != nil:
		s.Differs = err.Error()
		return
	case again.Event != recorded.Event || again.To != recorded.To:
		s.Differs = fmt.Sprintf("recorded %s, and the table now decides %s", arrow(recorded), arrow(again))
	}
	s.Again = &again
}

// arrow writes a decision as the move that it is.
func arrow(d machine.Decision) string {
	if d.Event == "" {
		return "to stay in " + string(d.State)
	}
	return fmt.Sprintf("%s --%s--> %s", d.State, d.Event, d.To)
}

// Write prints a result for people, oldest step first.
func (r Result) Write(out io.Writer) error {
	var b strings.Builder
	for _, step := range r.Steps {
		step.write(&b)
	}
	switch {
	case r.Decisions == 0:
		b.WriteString("no decision is recorded\n")
	case r.Differ == 0:
		fmt.Fprintf(&b, "%d of %d decisions are taken again as they were recorded\n", r.Decisions, r.Decisions)
	default:
		fmt.Fprintf(&b, "%d of %d decisions are taken OTHERWISE by the table of this release\n", r.Differ, r.Decisions)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (s Step) write(b *strings.Builder) {
	put(b, "%s  %s", s.At.UTC().Format("2006-01-02 15:04:05.000Z"), s.Kind)
	if s.Machine != "" {
		put(b, "  %s/%s", s.Machine, s.Key)
	}
	if s.Revision != "" {
		put(b, "  %s", s.Revision)
	}
	switch {
	case s.Kind == recorder.Object, s.Kind == recorder.Act:
		put(b, "  %s %s", s.Action, s.Object)
	case s.Kind == recorder.Work:
		put(b, "  %s: %s", s.Action, s.Did)
	case s.Decision != nil:
		put(b, "  %s", arrow(*s.Decision))
	}
	if s.Kind == recorder.Transition {
		put(b, " after %s", time.Duration(s.Seconds*float64(time.Second)).Round(time.Millisecond))
	}
	if s.Times > 1 {
		put(b, " (%d times until %s)", s.Times, machine.Moment(s.Last))
	}
	if s.Text != "" {
		put(b, ": %s", s.Text)
	}
	b.WriteString("\n")
	if s.Decision == nil {
		return
	}
	if s.Decision.Cause != "" {
		put(b, "    because %s\n", s.Decision.Cause)
	}
	if s.Did != "" {
		put(b, "    did     %s\n", s.Did)
	}
	for _, asked := range s.Decision.Answers {
		put(b, "    asked   %s: %s\n", asked.Guard, because(asked.Answer, asked.Why))
	}
	for _, move := range s.Moves {
		at := ""
		if !move.At.IsZero() {
			at = ", by itself at " + machine.Moment(move.At)
		}
		put(b, "    move    %s to %s: %s%s\n", move.Event, move.To, move.Answer, at)
	}
	if s.Differs != "" {
		put(b, "    DIFFERS %s\n", s.Differs)
	} else {
		b.WriteString("    again   the same\n")
	}
}

// put writes a part of one line: a file may come from anybody, and what is in it must not begin another line or control
// the terminal.
func put(b *strings.Builder, format string, args ...any) {
	text, end := strings.CutSuffix(fmt.Sprintf(format, args...), "\n")
	b.WriteString(message.Line(text))
	if end {
		b.WriteString("\n")
	}
}

func because(answer machine.Truth, why string) string {
	if why == "" {
		return answer.String()
	}
	return answer.String() + ", " + why
}
