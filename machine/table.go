package machine

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// State names where a machine is: the same word in the table, the stored
// record, the diagram, the log field "state" and the metric label.
type State string

// Event names a fact that has come true, such as "RevisionApplied".
type Event string

// Key names one instance of a machine: the object that it is about. A singleton
// has one key.
type Key string

// Result is what work or an effect says of itself, besides its error.
type Result struct {
	// LookAgain is after how long the next pass is wanted; zero: only when something changes.
	LookAgain time.Duration
	// Did says what was done, for people; empty when there was nothing to do.
	Did string
}

// Action is a named piece of doing. It is named so that diagrams and logs can
// print it, and it must be safe to repeat.
type Action[E any] struct {
	Name string
	// Doc says all that the action does; Writes names every kind of write among that, such as "ClusterAPI.status".
	Doc    string
	Writes []string
	Run    func(context.Context, E) (Result, error)

	resumes bool
}

// Says is all that the action does, and what it writes.
func (a Action[E]) Says() string {
	if len(a.Writes) == 0 {
		return a.Doc
	}
	return a.Doc + " Writes: " + strings.Join(a.Writes, "; ") + "."
}

// Resume is the work of a state that a failure or a deadline has led to: the
// work of the state it came from, and after that the effect that failed there,
// if the guard of its move still says Yes.
func Resume[E any]() Action[E] {
	return Action[E]{
		Name: "Resume", resumes: true,
		Doc: "does the work of the state it came from, and then the effect that failed there, if its guard still says Yes. Writes: what that state and that effect write.",
	}
}

// StateRow declares one state.
type StateRow[E any] struct {
	Name State
	// Rest says that the machine may stay here for ever without anything being wrong with the machine.
	// A state that is not at rest needs a move with a deadline.
	Rest bool
	// Alarm says that somebody should look when the machine comes here.
	Alarm bool
	// Alert calls somebody while the machine is here. A state that alarms or reads as Degraded has one.
	Alert Alert
	// Work is done on every pass that makes no move. It is level-triggered.
	Work Action[E]
	// LookAgain is after how long a pass is made here where nothing has changed that an event tells of; zero for events alone.
	LookAgain time.Duration
	// Quiet says that the work writes nothing but the report. While a move into the state cannot be stored, its work is
	// done in place of the stored state's, which may write.
	Quiet bool
	// Part is the part of the machine that is at work here, one of [Table.Parts]; a state that resumes has that of
	// the state it came from. Reads is how the part reads on conditions while there is no error, Trouble how with
	// one, where no failure edge leaves the state that says so.
	Part    string
	Reads   Reading
	Trouble Trouble
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
	// or with a terminal error. Trouble is how the state reads meanwhile.
	Failing time.Duration
	Trouble Trouble
	// Urgent moves go before ordinary ones.
	Urgent bool
	// Do runs on the edge, before the new state is stored. When it fails the state stays.
	Do Action[E]
	// Takes names conditions that are False while the machine is in the state that this move led to.
	Takes []string
	// Alert calls somebody while the machine is in the state that this move led to. A move that takes a condition has one.
	Alert Alert
	// Doc is a sentence an administrator understands.
	Doc string
}

// Table is a whole machine over facts F, doing its work with E.
type Table[F, E any] struct {
	Name  string
	Doc   string
	Start State
	// Parts are the parts of the machine that have conditions of their own.
	Parts  []string
	States []StateRow[E]
	Moves  []Move[F, E]
	Asides []Aside[F]
	// Notices are counted for people.
	Notices []Notice[E]
	// Progress counts the steps done so far; known is false while the facts have not been seen. Only a new
	// high since the state was entered counts, so that something that flaps cannot put off a deadline.
	Progress func(F) (done int, known bool)
	// Patience is how long an instance may go without progress before the deadline that is told as an event, where it is another
	// time than the row's; zero for the row's, and nil where that holds for all.
	Patience func(F, Event) time.Duration
	// Inputs is a fingerprint of everything people can change to heal a failure; empty while not known.
	Inputs func(F) string
	// Recall copies into the facts what the record remembers, so that guards can compare then with now. In a state that
	// resumes it is also told what the moves of the state it came from answer.
	Recall func(*F, Record, Resumed)
	// Foresees has a move that has no effect note in the record what the new state waits for, as the facts of the same pass answer
	// it: the next pass then has nothing to store that was known before. It is for instances whose record is a write each.
	Foresees bool
}

// Rests says that a machine may stay in a state without anything being wrong with it.
func (t Table[F, E]) Rests(state State) bool {
	row, known := t.State(state)
	return known && row.Rest
}

// Alarms says that somebody should look when the machine comes into a state.
func (t Table[F, E]) Alarms(state State) bool {
	row, known := t.State(state)
	return known && row.Alarm
}

// Resumes says that a state goes on with the work of the state it came from.
func (t Table[F, E]) Resumes(state State) bool {
	row, known := t.State(state)
	return known && row.Work.resumes
}

// keepsFailure says that a record's failure is told for as long as its state lasts: it has led there, and without work nothing meets it
// again or gets over it.
func (t Table[F, E]) keepsFailure(r Record) bool {
	row, known := t.State(r.State)
	move := t.arrival(r)
	return known && row.Work.Run == nil && !row.Work.resumes && move != nil && move.Failing > 0
}

// patience is after how long without progress a deadline fires for an instance.
func (t Table[F, E]) patience(move *Move[F, E], facts F) time.Duration {
	if t.Patience != nil {
		if own := t.Patience(facts, move.On); own > 0 {
			return own
		}
	}
	return move.Stalled
}

// resumed is the row of the state that a record came from. A record that names
// none, or one that resumes itself, is that of the start.
func (t Table[F, E]) resumed(r Record) StateRow[E] {
	row, known := t.State(r.CameFrom)
	if !known || row.Work.resumes {
		row, _ = t.State(t.Start)
	}
	return row
}

// arrived says that a record is one that this table can have led to: it is in
// the state of the start, or a move has led from the state before to this one.
// Anything else was written by another hand, or by another table, and proves
// nothing of what has been done.
func (t Table[F, E]) arrived(r Record) bool {
	return r.State == t.Start && r.LastEvent == "" || t.arrival(r) != nil
}

// arrival is the move that has led to a record's state, nil for none of this table.
func (t Table[F, E]) arrival(r Record) *Move[F, E] {
	for _, move := range t.Leaving(r.CameFrom) {
		if move.On == r.LastEvent && move.To == r.State {
			return move
		}
	}
	return nil
}

// Resumed tells of the state that a record came from whether it could be left
// now, by moves whose guards need not last. It is zero in a state that does not
// resume.
type Resumed struct {
	// Done asks the ordinary moves: the state has nothing left to do.
	Done Answer
	// Overtaken asks the urgent ones: something else has to be done first. It
	// is Yes for a record that names no state to resume.
	Overtaken Answer
}

// Recalled are facts with what a record remembers.
func (t Table[F, E]) Recalled(facts F, r Record) F {
	if t.Recall == nil {
		return facts
	}
	t.Recall(&facts, r, Resumed{})
	if t.Resumes(r.State) {
		t.Recall(&facts, r, t.askResumed(facts, r))
	}
	return facts
}

func (t Table[F, E]) askResumed(facts F, r Record) Resumed {
	from := t.resumed(r).Name
	if from != r.CameFrom {
		return Resumed{Overtaken: SayYes("the record does not name the state that was left for this one")}
	}
	var ordinary, urgent []Guard[F]
	for i := range t.Moves { // in their order in the table, which is that of the way
		move := &t.Moves[i]
		switch {
		case !slices.Contains(move.From, from) || !move.If.Asked() || move.For > 0:
		case move.Urgent:
			urgent = append(urgent, move.If)
		default:
			ordinary = append(ordinary, move.If)
		}
	}
	return Resumed{Done: Any(ordinary...).Answer(facts), Overtaken: Any(urgent...).Answer(facts)}
}

// lasting are the events out of a state whose guards have to last.
func (t Table[F, E]) lasting(state State) []Event {
	var events []Event
	for _, move := range t.Leaving(state) {
		if move.For > 0 {
			events = append(events, move.On)
		}
	}
	return events
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
func (t Table[F, E]) Leaving(state State) []*Move[F, E] {
	var leaving []*Move[F, E]
	for i := range t.Moves {
		if slices.Contains(t.Moves[i].From, state) {
			leaving = append(leaving, &t.Moves[i])
		}
	}
	slices.SortFunc(leaving, func(a, b *Move[F, E]) int { return cmp.Compare(a.On, b.On) })
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

func (m *Move[F, E]) rank() rank {
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
