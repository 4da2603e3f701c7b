package machine

import (
	"errors"
	"slices"
	"time"
)

// The reasons that conditions give, in order of severity. They are OpenShift's
// words for its cluster operators.
const (
	AsExpected        = "AsExpected"
	Uninitialized     = "Uninitialized"
	Progressing       = "Progressing"
	WaitingOnExternal = "WaitingOnExternal"
	EphemeralError    = "EphemeralError"
	NonRetryableError = "NonRetryableError"
)

// Reading is how a part of a machine reads on conditions.
type Reading struct {
	Progressing, Degraded bool
	// Reason is one of the words above; empty stands for AsExpected.
	Reason string
}

// idle is how a part reads that has nothing to do.
var idle = Reading{Reason: AsExpected}

// Trouble is how a part reads in which an error is met: one that may heal by
// itself, or a terminal one. It stands in the failure edge of a state, or in
// the state's row if it has none.
type Trouble struct {
	Ephemeral, Terminal Reading
	// Patience is after how long an error reads as Overdue, where no failure edge leaves the state then; zero for never.
	Patience time.Duration
	Overdue  Reading
	// Alert calls somebody while an error reads as Degraded, in a state that does not by itself.
	Alert Alert
}

// Aside is how a part reads as long as a guard says Yes and neither the state
// nor an error gives it another reason than AsExpected: something that people
// have to know and that the machine does not stop for. The first one counts.
type Aside[F any] struct {
	Part string
	If   Guard[F]
	// For makes it an answer that has to last. What has lasted is told also of a part that is at work or meets an error,
	// unless that reads Degraded by itself.
	For   time.Duration
	Reads Reading
	// Alert calls somebody while this is told. One that reads as Degraded has one.
	Alert Alert
	// Doc is a sentence an administrator understands.
	Doc string
}

// Readings returns how each part of the machine reads in a record, by part.
// There is no other place that derives it from the state or from an event.
func (t Table[F, E]) Readings(r Record, facts F) map[string]Reading {
	readings := t.readings(r)
	for part, reads := range readings {
		if aside, is := t.aside(part, reads, r, facts); is {
			readings[part] = aside.Reads.orIdle()
		}
	}
	return readings
}

// Aside is what a part reads by instead of by the state or an error, if anything.
func (t Table[F, E]) Aside(part string, r Record, facts F) (Aside[F], bool) {
	return t.aside(part, t.readings(r)[part], r, facts)
}

func (t Table[F, E]) aside(part string, reads Reading, r Record, facts F) (Aside[F], bool) {
	for _, aside := range t.Asides {
		told := reads.Reason == AsExpected
		if aside.For > 0 {
			told = r.Beside[aside.name()].Lasted && !reads.Degraded
		}
		if told && aside.Part == part && aside.If.Answer(facts).Truth == Yes {
			return aside, true
		}
	}
	return Aside[F]{}, false
}

// name is how a record knows an aside that has to last.
func (a Aside[F]) name() Event { return Event(a.If.Name) }

// readings is how the parts read by the state and the record's error.
func (t Table[F, E]) readings(r Record) map[string]Reading {
	readings := map[string]Reading{}
	for _, part := range t.Parts {
		readings[part] = idle
	}
	row, known := t.State(r.State)
	if !known {
		return readings
	}
	working := row
	if row.Work.resumes {
		working = t.resumed(r)
	}
	failing := ""
	if r.Failure != nil {
		failing = r.Failure.Part
		if _, declared := readings[failing]; !declared {
			failing = working.Part
		}
	}
	switch {
	case failing == working.Part && failing != "":
	case failing != "": // the trouble is the other part's
		readings[working.Part] = working.Reads.orIdle()
	default:
		readings[working.Part] = row.Reads.orIdle()
	}
	if failing != "" {
		readings[failing] = t.troubleIn(row).of(r.Failure)
	}
	delete(readings, "")
	return readings
}

// troubleIn is what an error adds in a state.
func (t Table[F, E]) troubleIn(row StateRow[E]) Trouble {
	for _, move := range t.Leaving(row.Name) {
		if move.Failing > 0 {
			return move.Trouble
		}
	}
	return row.Trouble
}

func (t Trouble) of(failure *Failure) Reading {
	switch {
	case failure.Lasted:
		return t.Overdue.orIdle()
	case failure.Terminal:
		return t.Terminal.orIdle()
	}
	return t.Ephemeral.orIdle()
}

func (r Reading) orIdle() Reading {
	if r.Reason == "" {
		r.Reason = AsExpected
	}
	return r
}

// Takes says whether the move into the present state has taken a condition back,
// which then stays so while the machine is in it.
func (t Table[F, E]) Takes(r Record, condition string) bool {
	move := t.arrival(r)
	return move != nil && slices.Contains(move.Takes, condition)
}

// At is the part that is at work in a record's state, or in the one it resumes.
func (t Table[F, E]) At(r Record) string {
	row, known := t.State(r.State)
	if known && row.Work.resumes {
		row = t.resumed(r)
	}
	return row.Part
}

// InPart says which part of a machine an error belongs to.
func InPart(part string, err error) error {
	if err == nil {
		return nil
	}
	return &partError{part: part, err: err}
}

// PartOf is the part that an error belongs to, and joined errors that of the
// first that says; empty when none does.
func PartOf(err error) string {
	if in, is := errors.AsType[*partError](err); is {
		return in.part
	}
	return ""
}

type partError struct {
	part string
	err  error
}

func (e *partError) Error() string { return e.err.Error() }
func (e *partError) Unwrap() error { return e.err }
