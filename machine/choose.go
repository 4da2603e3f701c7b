package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// choice is what the table says to do in one situation. It is pure: the same
// record, facts and moment always give the same choice, whatever the row order.
type choice[F, E any] struct {
	move  *Move[F, E]
	cause string
	// waits is why no ordinary move was made, for people.
	waits string
	// next is the earliest moment at which time alone makes a move possible, on which way.
	next *Deadline
	// lasting is since when the guards that have to last say Yes.
	lasting map[Event]time.Time
	// candidates tell of every move considered.
	candidates []Candidate
}

// Candidate is a move that leaves the present state and how it stands: what its
// guard answers and why. At is the moment at which time alone will make the
// move, zero if time alone will not.
type Candidate struct {
	Event  Event     `json:"event"`
	To     State     `json:"to"`
	Answer Truth     `json:"answer"`
	Why    string    `json:"why,omitempty"`
	At     time.Time `json:"at,omitzero"`
}

// moment is when a choice is made. Before settled no deadline fires: the
// process has just started, and has not stalled while it was away.
type moment struct{ now, settled time.Time }

// choose asks the guards of all moves that leave the record's state.
func (t Table[F, E]) choose(record Record, facts F, at moment) (choice[F, E], error) {
	var chosen choice[F, E]
	var other *Move[F, E] // one that is possible too, and as soon as the chosen one
	var waits []string
	for _, move := range t.Leaving(record.State) {
		candidate := t.consider(move, record, facts, at, &chosen)
		if candidate.Answer == Yes {
			switch {
			case chosen.move == nil || move.rank() < chosen.move.rank():
				chosen.move, chosen.cause, other = move, candidate.Why, nil
			case move.rank() == chosen.move.rank() && other == nil:
				other = move
			}
		} else if move.If.Asked() && candidate.Why != "" {
			waits = addReasons(waits, candidate.Why)
		}
		chosen.candidates = append(chosen.candidates, candidate)
	}
	if other != nil {
		return chosen, &AmbiguousError{Machine: t.Name, State: record.State, One: chosen.move.On, Other: other.On}
	}
	chosen.waits = strings.Join(waits, "; ")
	return chosen, nil
}

// addReasons adds those of the reasons, as guards join them, that are not among the others: several moves may wait for the same.
func addReasons(waits []string, reasons string) []string {
	for one := range strings.SplitSeq(reasons, "; ") {
		if !slices.Contains(waits, one) {
			waits = append(waits, one)
		}
	}
	return waits
}

// explained are candidates of a state, as choose has left them, each that is not possible with a reason where its guard gives none by
// itself. Only people read that, and most passes are shown to nobody.
func (t Table[F, E]) explained(candidates []Candidate, state State, facts F) []Candidate {
	told := slices.Clone(candidates)
	for i, move := range t.Leaving(state) {
		if i < len(told) && told[i].Answer != Yes && told[i].Why == "" {
			told[i].Why = move.If.reasons(facts)
		}
	}
	return told
}

// consider answers whether one move can be made now, and notes in c what time
// would change about that.
func (t Table[F, E]) consider(move *Move[F, E], record Record, facts F, at moment, c *choice[F, E]) Candidate {
	candidate := Candidate{Event: move.On, To: move.To, Answer: No}
	switch {
	case move.Stalled > 0:
		patience := t.patience(move, facts)
		candidate.Why = "the last progress was less than " + short(patience) + " ago"
		if c.timed(&candidate, record.Progress.Since.Add(patience), at) {
			candidate.Why = stalledCause(patience, record.Reason)
		}
	case move.Failing > 0 && record.Failure == nil:
		candidate.Why = "the last attempt met no error"
	case move.Failing > 0:
		candidate.Why = record.Failure.Message
		if record.Failure.Terminal {
			candidate.Answer = Yes
		} else {
			c.timed(&candidate, record.Failure.Since.Add(move.Failing), at)
		}
	default:
		answer := move.If.Answer(facts)
		candidate.Answer, candidate.Why = answer.Truth, answer.Reason
		if move.For > 0 {
			c.lasts(&candidate, record, move.For, at)
		}
	}
	return candidate
}

// failureEdge is the move that the record's failure has opened by now, nil for none.
func (t Table[F, E]) failureEdge(record Record, at moment) *Move[F, E] {
	for _, move := range t.Leaving(record.State) {
		if move.Failing == 0 {
			continue
		}
		if record.Failure.Terminal || !at.now.Before(at.deadline(record.Failure.Since.Add(move.Failing))) {
			return move
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

// lasts makes the answer one that has to last for some time. An Unknown
// neither starts the time nor ends it.
func (c *choice[F, E]) lasts(candidate *Candidate, record Record, long time.Duration, at moment) {
	since, begun := record.Lasting[candidate.Event]
	if candidate.Answer == No || (candidate.Answer == Unknown && !begun) {
		return
	}
	if !begun {
		since = at.now
	}
	if c.lasting == nil {
		c.lasting = map[Event]time.Time{}
	}
	c.lasting[candidate.Event] = since
	if candidate.Answer == Yes {
		c.timed(candidate, since.Add(long), at.within(long))
	}
}

// timed answers Yes from a deadline on.
func (c *choice[F, E]) timed(candidate *Candidate, deadline time.Time, at moment) bool {
	deadline = at.deadline(deadline)
	if !at.now.Before(deadline) {
		candidate.Answer = Yes
		return true
	}
	candidate.Answer, candidate.At = No, deadline
	if c.next == nil || deadline.Before(c.next.At) {
		c.next = &Deadline{At: deadline, On: candidate.Event, To: candidate.To}
	}
	return false
}

// within is a moment for what has to last for less than the process takes to settle: after a start it waits for as long
// as it has to last, and no longer.
func (m moment) within(long time.Duration) moment {
	if long < settleFor && !m.settled.IsZero() {
		m.settled = m.settled.Add(long - settleFor)
	}
	return m
}

// deadline puts off a deadline that would fire before the process has settled.
func (m moment) deadline(at time.Time) time.Time {
	if at.Before(m.settled) {
		return m.settled
	}
	return at
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
