// Package recorder is the flight recorder of a machine: it keeps the last
// things that happened, each transition with what it was decided from, in one
// bounded ConfigMap. It knows no machine in particular, decides nothing, reads
// nothing but its own ConfigMap, and never holds up or fails what it records.
package recorder

import (
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// Kind tells what an entry is about.
type Kind string

// What is recorded.
const (
	Transition Kind = "transition"
	Object     Kind = "object"
	Work       Kind = "work"
	Failure    Kind = "error"
	Act        Kind = "act"
)

// Entry is one thing that happened; its JSON is what is stored.
type Entry struct {
	At   time.Time `json:"at"`
	Kind Kind      `json:"kind"`
	// Machine and Key name the machine and its instance. Operators that ran one machine only have not written them.
	Machine string      `json:"machine,omitempty"`
	Key     machine.Key `json:"key,omitempty"`
	// Revision is the name of the one that was worked on.
	Revision string `json:"revision,omitempty"`
	// Decision is what a move was chosen from, and Seconds how long the state before it had lasted. An
	// error has one if it kept a move from being made.
	Decision *machine.Decision `json:"decision,omitempty"`
	Seconds  float64           `json:"seconds,omitempty"`
	// Object and Action tell what was done to what; of work Action is its name.
	Object string `json:"object,omitempty"`
	Action string `json:"action,omitempty"`
	// Did says what came of work, or of the effect of a transition.
	Did string `json:"did,omitempty"`
	// Text is why, or what went wrong.
	Text string `json:"text,omitempty"`
	// Times counts how often the same happened in a row, and Last is when for the last time; both are zero for once.
	Times int       `json:"times,omitempty"`
	Last  time.Time `json:"last,omitzero"`
}

// Moved is the entry of a transition; did is what came of its effect, empty for nothing.
func Moved(made machine.Transition, from *machine.Decision, revision, did string) Entry {
	return Entry{At: made.At, Kind: Transition, Revision: revision, Decision: from, Seconds: made.Seconds, Did: did}
}

// Worked is the entry of a state's work that did something besides what it did to objects.
func Worked(at time.Time, revision, work, did string) Entry {
	return Entry{At: at, Kind: Work, Revision: revision, Action: work, Did: did}
}

// Acted is the entry of an action on an object.
func Acted(at time.Time, revision, object, action, why string) Entry {
	return Entry{At: at, Kind: Object, Revision: revision, Object: object, Action: action, Text: why}
}

// Asked is the entry of an act of people, of which something was seen: that it is there, or that it has ended.
func Asked(at time.Time, act, seen, text string) Entry {
	return Entry{At: at, Kind: Act, Object: act, Action: seen, Text: text}
}

// Failed is the entry of an error; kept is the decision whose effect it was, nil for an error of a state's work.
func Failed(at time.Time, revision string, err error, kept *machine.Decision) Entry {
	return Entry{At: at, Kind: Failure, Revision: revision, Decision: kept, Text: err.Error()}
}

// clipped bounds what a single entry may say.
func (e Entry) clipped() Entry {
	e.Text, e.Did = machine.Shorten(e.Text, machine.MaxMessage), machine.Shorten(e.Did, machine.MaxMessage)
	if e.Decision == nil {
		return e
	}
	d := *e.Decision
	d.Cause, d.Reason = machine.Shorten(d.Cause, machine.MaxMessage), machine.Shorten(d.Reason, machine.MaxMessage)
	d.Answers = append([]machine.Asked(nil), d.Answers...)
	for i := range d.Answers {
		d.Answers[i].Why = machine.Shorten(d.Answers[i].Why, machine.MaxMessage)
	}
	e.Decision = &d
	return e
}

// repeats says that an entry tells nothing that the one before did not, but when.
func (e Entry) repeats(before Entry) bool {
	return e.Kind != Transition && e.Decision == nil && before.Decision == nil && e.Kind == before.Kind &&
		e.Machine == before.Machine && e.Key == before.Key &&
		e.Revision == before.Revision && e.Object == before.Object && e.Action == before.Action && e.Did == before.Did && e.Text == before.Text
}
