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
}

// choose asks the guards of all moves that leave the record's state.
func (t Table[F, E]) choose(record Record, facts F, now time.Time) (choice[F, E], error) {
	var chosen choice[F, E]
	var waits []string
	for _, move := range t.Leaving(record.State) {
		open := t.consider(move, record, facts, now, &chosen)
		if open.Truth != Yes {
			if open.Reason != "" && !slices.Contains(waits, open.Reason) {
				waits = append(waits, open.Reason)
			}
			continue
		}
		switch {
		case chosen.move == nil || move.rank() < chosen.move.rank():
			chosen.move, chosen.cause = &move, open.Reason
		case move.rank() == chosen.move.rank():
			return chosen, &AmbiguousError{Machine: t.Name, State: record.State, One: chosen.move.On, Other: move.On}
		}
	}
	chosen.waits = strings.Join(waits, "; ")
	return chosen, nil
}

// consider answers whether one move can be made now, and notes in c what time
// would change about that.
func (t Table[F, E]) consider(move Move[F, E], record Record, facts F, now time.Time, c *choice[F, E]) Answer {
	switch {
	case move.Stalled > 0:
		return c.timed(move, record.Progress.Since.Add(move.Stalled), now,
			stalledCause(move.Stalled, record.Reason))
	case move.Failing > 0:
		if record.Failure == nil {
			return SayNo("")
		}
		if record.Failure.ForGood {
			return SayYes(record.Failure.Message)
		}
		return c.timed(move, record.Failure.Since.Add(move.Failing), now, record.Failure.Message)
	case move.For > 0:
		return t.lasting(move, record, facts, now, c)
	default:
		return move.If.Answer(facts)
	}
}

func stalledCause(after time.Duration, reason string) string {
	if reason == "" {
		return "no progress for " + short(after)
	}
	return fmt.Sprintf("no progress for %s: %s", short(after), reason)
}

// lasting is the answer of a guard that has to say Yes for some time. An
// Unknown neither starts the time nor ends it.
func (t Table[F, E]) lasting(move Move[F, E], record Record, facts F, now time.Time, c *choice[F, E]) Answer {
	answer := move.If.Answer(facts)
	since, held := record.Held[move.On]
	if answer.Truth == No || (answer.Truth == Unknown && !held) {
		return answer
	}
	if !held {
		since = now
	}
	if c.held == nil {
		c.held = map[Event]time.Time{}
	}
	c.held[move.On] = since
	if answer.Truth == Unknown {
		return answer
	}
	open := c.timed(move, since.Add(move.For), now, answer.Reason)
	if open.Truth == No {
		open.Reason = answer.Reason
	}
	return open
}

func (c *choice[F, E]) timed(move Move[F, E], at, now time.Time, cause string) Answer {
	if !now.Before(at) {
		return SayYes(cause)
	}
	if c.next == nil || at.Before(c.next.At) {
		c.next = &Deadline{At: at, On: move.On, To: move.To}
	}
	return SayNo("")
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
