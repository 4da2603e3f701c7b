package machine

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// State names where a machine is: the same word in the table, the stored
// record, the diagram, the log field "state" and the metric label.
type State string

// Event names a fact that has come true, such as "RevisionApplied".
type Event string

// Action is a named piece of doing. It is named so that diagrams and logs can
// print it, and it must be safe to repeat.
type Action[E any] struct {
	Name string
	Doc  string
	Run  func(context.Context, E) error
}

// StateRow declares one state.
type StateRow[E any] struct {
	Name State
	// Rest says that the machine may stay here for ever without anything being wrong with the machine.
	// A state that is not at rest needs a move with a deadline.
	Rest bool
	// Final says that no move leaves.
	Final bool
	// Work is done on every pass that makes no move. It is level-triggered.
	Work Action[E]
	// Doc is a sentence an administrator understands.
	Doc string
}

// Move declares one edge. Exactly one of If, Stalled and Failing says when it
// is made. The order of rows has no meaning: of the moves that could be made,
// an urgent one goes before an ordinary one, that before one for a failure,
// and that before one for a deadline, and [machinetest.Check] proves that no
// two of the same rank are ever possible together.
type Move[F, E any] struct {
	On   Event
	From []State
	To   State
	// If is asked of the facts. Only Yes moves; For makes it an answer that has to last.
	If  Guard[F]
	For time.Duration
	// Stalled makes the move a deadline: no progress (see [Table.Progress]) for this long.
	Stalled time.Duration
	// Failing makes the move a failure edge: the state's work or an effect has failed for this long,
	// or with an error that is for good.
	Failing time.Duration
	// Urgent moves go before ordinary ones.
	Urgent bool
	// Do runs on the edge, before the new state is stored. When it fails the state stays.
	Do Action[E]
	// Doc is a sentence an administrator understands.
	Doc string
}

// Table is a whole machine over facts F, doing its work with E.
type Table[F, E any] struct {
	Name   string
	Doc    string
	Start  State
	States []StateRow[E]
	Moves  []Move[F, E]
	// Progress counts the steps done so far; known is false while the facts have not been seen. Only a new
	// high since the state was entered counts, so that something that flaps cannot put off a deadline.
	Progress func(F) (done int, known bool)
	// Inputs is a fingerprint of everything people can change to heal a failure; empty while not known.
	Inputs func(F) string
	// Recall copies into the facts what the record remembers, so that guards can compare then with now.
	Recall func(*F, Record)
}

// State returns the row of a state.
func (t Table[F, E]) State(name State) (StateRow[E], bool) {
	for _, row := range t.States {
		if row.Name == name {
			return row, true
		}
	}
	return StateRow[E]{}, false
}

// Leaving returns the moves that leave a state, sorted by event.
func (t Table[F, E]) Leaving(state State) []Move[F, E] {
	var leaving []Move[F, E]
	for _, move := range t.Moves {
		if slices.Contains(move.From, state) {
			leaving = append(leaving, move)
		}
	}
	slices.SortFunc(leaving, func(a, b Move[F, E]) int { return cmp.Compare(a.On, b.On) })
	return leaving
}

// rank orders the moves that are possible at the same time; lower goes first.
type rank int

const (
	rankUrgent rank = iota
	rankOrdinary
	rankFailure
	rankDeadline
)

func (m Move[F, E]) rank() rank {
	switch {
	case m.Urgent:
		return rankUrgent
	case m.Failing > 0:
		return rankFailure
	case m.Stalled > 0:
		return rankDeadline
	default:
		return rankOrdinary
	}
}
