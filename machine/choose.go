package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// choice is what the table says to do in one situation. It is pure: the same
// record, facts and time always give the same choice, whatever the row order.
type choice[F, E any] struct {
	move  *Move[F, E]
	cause string
	// waits is why no ordinary move was made, for people.
	waits string
	// next is the earliest moment at which time alone makes a move possible, on which way.
	next *Deadline
	// held is since when the guards that have to last say Yes.
	held map[Event]time.Time
	// leaves tell of every move considered.
	leaves []Leave
}

// Leave is a move that leaves the present state and how it stands: what its
// guard answers and why. At is the moment at which time alone will make the
// move, zero if time alone will not.
type Leave struct {
	Event  Event     `json:"event"`
	To     State     `json:"to"`
	Answer Truth     `json:"answer"`
	Why    string    `json:"why,omitempty"`
	At     time.Time `json:"at,omitzero"`
}

// choose asks the guards of all moves that leave the record's state.
func (t Table[F, E]) choose(record Record, facts F, now time.Time) (choice[F, E], error) {
	var chosen choice[F, E]
	var waits []string
	for _, move := range t.Leaving(record.State) {
		leave := t.consider(move, record, facts, now, &chosen)
		chosen.leaves = append(chosen.leaves, leave)
		if leave.Answer != Yes {
			if move.If.Asked() && leave.Why != "" && !slices.Contains(waits, leave.Why) {
				waits = append(waits, leave.Why)
			}
			if leave.Why == "" {
				chosen.leaves[len(chosen.leaves)-1].Why = move.If.seen(facts)
			}
			continue
		}
		switch {
		case chosen.move == nil || move.rank() < chosen.move.rank():
			chosen.move, chosen.cause = &move, leave.Why
		case move.rank() == chosen.move.rank():
			return chosen, &AmbiguousError{Machine: t.Name, State: record.State, One: chosen.move.On, Other: move.On}
		}
	}
	chosen.waits = strings.Join(waits, "; ")
	return chosen, nil
}

// consider answers whether one move can be made now, and notes in c what time
// would change about that.
func (t Table[F, E]) consider(move Move[F, E], record Record, facts F, now time.Time, c *choice[F, E]) Leave {
	leave := Leave{Event: move.On, To: move.To, Answer: No}
	switch {
	case move.Stalled > 0:
		leave.Why = "the last progress was less than " + short(move.Stalled) + " ago"
		if c.timed(&leave, record.Progress.Since.Add(move.Stalled), now) {
			leave.Why = stalledCause(move.Stalled, record.Reason)
		}
	case move.Failing > 0 && record.Failure == nil:
		leave.Why = "the last try met no error"
	case move.Failing > 0:
		leave.Why = record.Failure.Message
		if record.Failure.ForGood {
			leave.Answer = Yes
		} else {
			c.timed(&leave, record.Failure.Since.Add(move.Failing), now)
		}
	default:
		answer := move.If.Answer(facts)
		leave.Answer, leave.Why = answer.Truth, answer.Reason
		if move.For > 0 {
			c.lasting(&leave, record, move.For, now)
		}
	}
	return leave
}

// failureEdge is the move that the record's failure has opened by now, nil for none.
func (t Table[F, E]) failureEdge(record Record, now time.Time) *Move[F, E] {
	for _, move := range t.Leaving(record.State) {
		if move.Failing > 0 && (record.Failure.ForGood || !now.Before(record.Failure.Since.Add(move.Failing))) {
			return &move
		}
	}
	return nil
}

func stalledCause(after time.Duration, reason string) string {
	if reason == "" {
		return "no progress for " + short(after)
	}
	return fmt.Sprintf("no progress for %s: %s", short(after), reason)
}

// lasting makes the answer one that has to last for some time. An Unknown
// neither starts the time nor ends it.
func (c *choice[F, E]) lasting(leave *Leave, record Record, long time.Duration, now time.Time) {
	since, held := record.Held[leave.Event]
	if leave.Answer == No || (leave.Answer == Unknown && !held) {
		return
	}
	if !held {
		since = now
	}
	if c.held == nil {
		c.held = map[Event]time.Time{}
	}
	c.held[leave.Event] = since
	if leave.Answer == Yes {
		c.timed(leave, since.Add(long), now)
	}
}

// timed answers Yes from a moment on.
func (c *choice[F, E]) timed(leave *Leave, at, now time.Time) bool {
	if !now.Before(at) {
		leave.Answer = Yes
		return true
	}
	leave.Answer, leave.At = No, at
	if c.next == nil || at.Before(c.next.At) {
		c.next = &Deadline{At: at, On: leave.Event, To: leave.To}
	}
	return false
}

// AmbiguousError says that a table allows two moves of the same rank at once.
// [machinetest.Check] proves that it cannot happen.
type AmbiguousError struct {
	Machine    string
	State      State
	One, Other Event
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("machine %s: in %s both %s and %s are possible, and neither goes first", e.Machine, e.State, e.One, e.Other)
}
