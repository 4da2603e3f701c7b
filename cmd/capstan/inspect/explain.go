package inspect

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/capstan-capi/capstan/controllers/view"
	"github.com/capstan-capi/capstan/machine"
)

// Explanation is what `capstan explain -o json` prints; its shape is a promise.
type Explanation struct {
	// Instance names the object that it is about, as in "CompatibilityRequirement x"; empty for a machine that has one instance only.
	Instance string        `json:"instance,omitempty"`
	State    machine.State `json:"state"`
	Meaning  string        `json:"meaning"`
	// Work is what is done on every pass, empty for nothing.
	Work        string               `json:"work,omitempty"`
	Since       time.Time            `json:"since,omitzero"`
	Waits       string               `json:"waits,omitempty"`
	Failure     *machine.Failure     `json:"failure,omitempty"`
	Transitions []machine.Transition `json:"transitions"`
	Moves       []view.Way           `json:"moves"`
	// Untold says why no move has an answer.
	Untold string `json:"untold,omitempty"`
}

// Explain tells where in the machine a cluster is. Without a record that can be
// read there is nothing to explain, which is an error.
func (v View) Explain() (Explanation, error) {
	if v.Record.State == "" {
		return Explanation{}, &Error{What: v.Problem}
	}
	row, _ := v.Table.State(v.Record.State)
	e := Explanation{
		Instance: v.Instance, Untold: v.Untold, State: row.Name, Meaning: row.Doc, Work: row.Work, Since: v.Record.Since, Waits: cmp.Or(v.Waits, v.Record.Reason),
		Failure: v.Record.Failure, Transitions: view.List(v.Record.Transitions), Moves: []view.Way{},
	}
	for _, way := range row.Ways {
		e.Moves = append(e.Moves, v.answered(way))
	}
	return e, nil
}

// answered is a way with what its guard says now.
func (v View) answered(way view.Way) view.Way {
	if i := slices.IndexFunc(v.Moves, func(c machine.Candidate) bool { return c.Event == way.Event && c.To == way.To }); i >= 0 {
		told := v.Moves[i]
		way.Answer, way.Why, way.At = &told.Answer, told.Why, told.At
		if way.Why == "" && told.Answer == machine.Unknown && v.Record.Failure != nil {
			way.Why = "the work still fails"
		}
	}
	if d := v.Record.Deadline; d != nil && d.On == way.Event {
		way.At = d.At
	}
	return way
}

// shownTransitions is how many of the last transitions are told to people; the JSON has all.
const shownTransitions = 10

// Write prints an explanation for people.
func (e Explanation) Write(out io.Writer, now time.Time) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s has been in %s%s.\n", cmp.Or(e.Instance, "This cluster"), e.State, view.Since(e.Since, now))
	fmt.Fprintf(&b, "  %s\n", e.Meaning)
	if e.Work != "" {
		fmt.Fprintf(&b, "  On every pass %s\n", e.Work)
	}
	if e.Waits != "" {
		fmt.Fprintf(&b, "  It says: %s\n", e.Waits)
	}
	if e.Failure != nil {
		fmt.Fprintf(&b, "  Its work fails since %s (%s)", machine.Moment(e.Failure.Since), view.Lasted(now.Sub(e.Failure.Since)))
		if !strings.Contains(e.Waits, e.Failure.Message) {
			fmt.Fprintf(&b, ": %s", e.Failure.Message)
		}
		b.WriteString("\n")
	}
	e.past(&b)
	b.WriteString("\nWhat can happen next\n")
	if e.Untold != "" {
		fmt.Fprintf(&b, "  %s\n", e.Untold)
	}
	for _, way := range e.Moves {
		e.writeWay(&b, way, now)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (e Explanation) past(b *strings.Builder) {
	b.WriteString("\nHow it came here\n")
	if len(e.Transitions) == 0 {
		b.WriteString("  no move is remembered: it began here\n")
		return
	}
	shown := e.Transitions[max(0, len(e.Transitions)-shownTransitions):]
	if left := len(e.Transitions) - len(shown); left > 0 {
		fmt.Fprintf(b, "  … %d more before, see -o json\n", left)
	}
	for _, t := range shown {
		fmt.Fprintf(b, "  %s  %s --%s--> %s after %s\n", machine.Moment(t.At), t.From, t.Event, t.To, view.Lasted(time.Duration(t.Seconds*float64(time.Second))))
		if t.Cause != "" {
			fmt.Fprintf(b, "      because %s\n", t.Cause)
		}
	}
}

func (e Explanation) writeWay(b *strings.Builder, w view.Way, now time.Time) {
	fmt.Fprintf(b, "  %s leads to %s: %s\n", w.Event, w.To, w.Meaning)
	fmt.Fprintf(b, "      when  %s\n", w.When)
	for _, q := range w.Questions {
		fmt.Fprintf(b, "            %s: %s\n", q.Guard, q.Meaning)
	}
	if w.Effect != "" {
		fmt.Fprintf(b, "      then  %s\n", w.Effect)
	}
	if said := e.saidOf(w, now); said != "" {
		fmt.Fprintf(b, "      now   %s\n", said)
	}
}

// saidOf is what the guard of a way says at present, or the moment at which the move is made.
func (e Explanation) saidOf(w view.Way, now time.Time) string {
	said, unless := "", "unless that changes, "
	switch {
	case w.Answer != nil:
		said = w.Answer.String()
	case e.Untold == "":
		said = "not told by this operator"
	default:
		unless = "unless something changes, "
	}
	if w.Why != "" {
		said += ": " + w.Why
	}
	if !w.At.IsZero() {
		if said != "" {
			said += "; "
		}
		said += fmt.Sprintf("%sthe move is made %s (%s)", unless, view.Until(w.At.Sub(now)), machine.Moment(w.At))
	}
	return said
}
