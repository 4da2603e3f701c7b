// Package view is how commands see machines: a table without its facts, and what
// an operator has published of an instance. It knows no machine, and changes nothing.
package view

import (
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/machine"
)

// View is what a machine brings to the commands.
type View struct {
	Table Table
	// Instances are nil for a machine that has one instance only.
	Instances *Instances
	// Look reads what the operator has published of an instance. That an object does not exist is no error.
	Look func(context.Context, Getter, machine.Key) (Seen, error)
}

// Instances are the objects of which each has an instance of the machine; its key is the object's name, unless KeyOf says otherwise.
type Instances struct {
	Kind schema.GroupVersionResource
	// Word names the kind to people.
	Word string
	// KeyOf is the key of an object of the kind, Form says of what form keys are, and Valid whether something can be one; nil and
	// empty where keys are names.
	KeyOf func(namespace, name string) string
	Form  string
	Valid func(key string) bool
}

// Key is the key of an object; its namespace is empty where the kind has none.
func (i Instances) Key(namespace, name string) string {
	if i.KeyOf == nil {
		return name
	}
	return i.KeyOf(namespace, name)
}

// IsKey says whether something can be a key.
func (i Instances) IsKey(key string) bool {
	if i.Valid == nil {
		return len(content.IsPathSegmentName(key)) == 0
	}
	return i.Valid(key)
}

// Getter reads an object of a cluster into a typed one. word names the kind to people; namespace may be empty.
type Getter func(ctx context.Context, kind schema.GroupVersionResource, word, namespace, name string, into any) (found bool, err error)

// Seen is what one look at a cluster has seen of an instance.
type Seen struct {
	// Record is the zero one, and Problem says why, if there is none to be read.
	Record  machine.Record
	Problem string
	// Absent says that the object of the instance does not exist.
	Absent bool
	// Waits is the line that conditions, log and Events show, Moves are those that can leave the present state.
	Waits string
	Moves []machine.Candidate
	// Untold says why there is nothing of what guards answer; empty where Moves have it.
	Untold string
	Status Status
}

// Status is what `capstan status` prints; its JSON is a promise.
type Status interface {
	// Write prints it for people, as it stands at a moment.
	Write(io.Writer, time.Time) error
	// Line is one line that is the same until something changes.
	Line() string
	// Code is the state as an exit code.
	Code() int
}

// Table is a machine's table as people read it, whatever its facts are.
type Table struct {
	Name, Doc string
	Start     machine.State
	// Parts are those that have conditions of their own.
	Parts  []string
	States []State
	// Calls are its alerts.
	Calls []machine.Call
	// Diagram and Replay are those of [machine.Table].
	Diagram func(current machine.State, path ...machine.Transition) string
	Replay  func(machine.Decision) (machine.Decision, []machine.Candidate, error)
}

// State is a row of it, with the ways out.
type State struct {
	Name machine.State
	Doc  string
	// Work is what is done on every pass, empty for nothing.
	Work        string
	Rest, Alarm bool
	Ways        []Way
}

// Kind says which moves go before others: urgent ones, then ordinary ones, then those of a failure, and at last those of a deadline.
type Kind string

// The kinds of moves.
const (
	KindUrgent   Kind = "urgent"
	KindOrdinary Kind = "ordinary"
	KindFailure  Kind = "failure"
	KindDeadline Kind = "deadline"
)

// Way is a move that can leave a state.
type Way struct {
	Event   machine.Event `json:"event"`
	To      machine.State `json:"to"`
	When    string        `json:"when"`
	Meaning string        `json:"meaning"`
	Effect  string        `json:"effect,omitempty"`
	// Kind and After, which is how long it takes, are told in words by When.
	Kind  Kind          `json:"-"`
	After time.Duration `json:"-"`
	// Answer is what the guard says now; nil if the operator has not told.
	Answer *machine.Truth `json:"answer,omitempty"`
	Why    string         `json:"why,omitempty"`
	// At is the moment at which time alone makes the move.
	At        time.Time  `json:"at,omitzero"`
	Questions []Question `json:"questions"`
}

// Question is one that a move asks of what was seen.
type Question struct {
	Guard   string `json:"guard"`
	Meaning string `json:"meaning"`
}

// TableOf is a table without its facts.
func TableOf[F, E any](t machine.Table[F, E]) Table {
	table := Table{Name: t.Name, Doc: t.Doc, Start: t.Start, Parts: t.Parts, Calls: t.Calls(), Diagram: t.Diagram, Replay: t.Replay}
	for _, row := range t.States {
		state := State{Name: row.Name, Doc: row.Doc, Rest: row.Rest, Alarm: row.Alarm}
		if row.Work.Name != "" {
			state.Work = row.Work.Name + " " + row.Work.Says()
		}
		for _, move := range t.Leaving(row.Name) {
			way := Way{Event: move.On, To: move.To, When: move.When(), Meaning: move.Doc, Questions: []Question{}}
			way.Kind, way.After = kindOf(move)
			if move.Do.Name != "" {
				way.Effect = move.Do.Name + " " + move.Do.Says()
			}
			for _, atom := range move.If.Atoms() {
				way.Questions = append(way.Questions, Question{Guard: atom.Name, Meaning: atom.Doc})
			}
			state.Ways = append(state.Ways, way)
		}
		table.States = append(table.States, state)
	}
	return table
}

// kindOf is the kind of a move, and how long it takes.
func kindOf[F, E any](move *machine.Move[F, E]) (Kind, time.Duration) {
	after := cmp.Or(move.Stalled, move.Failing, move.For)
	switch {
	case move.Urgent:
		return KindUrgent, after
	case move.Failing > 0:
		return KindFailure, after
	case move.Stalled > 0:
		return KindDeadline, after
	}
	return KindOrdinary, after
}

// State returns the row of a state.
func (t Table) State(name machine.State) (State, bool) {
	i := slices.IndexFunc(t.States, func(s State) bool { return s.Name == name })
	if i < 0 {
		return State{}, false
	}
	return t.States[i], true
}
