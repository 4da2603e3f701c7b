package machine

import (
	"maps"
	"slices"
	"time"
)

// keptTransitions is how many transitions a record remembers.
const keptTransitions = 32

// Record is all that a machine remembers between passes. Times are stored
// times: a deadline goes on counting through a restart.
type Record struct {
	State State     `json:"state"`
	Since time.Time `json:"since"`
	// LastEvent and Cause tell which move led here and why it was made.
	LastEvent Event  `json:"lastEvent,omitempty"`
	Cause     string `json:"cause,omitempty"`
	// CameFrom is the state before this one, such as the one it degraded from.
	CameFrom State `json:"cameFrom,omitempty"`
	// Reason says what the machine waits for, for people.
	Reason string `json:"reason,omitempty"`
	// Deadline is the next moment at which waiting ends by itself.
	Deadline *Deadline `json:"deadline,omitempty"`
	Progress Progress  `json:"progress"`
	// Entry is how things stood when this state was entered.
	Entry   Entry    `json:"entry"`
	Failure *Failure `json:"failure,omitempty"`
	// Held tells since when the guards of moves that have to last say Yes.
	Held        map[Event]time.Time `json:"held,omitempty"`
	Transitions []Transition        `json:"transitions,omitempty"`
}

// Deadline is a moment and the move that will be made then.
type Deadline struct {
	At time.Time `json:"at"`
	On Event     `json:"on"`
	To State     `json:"to"`
}

// Progress is the most that was done in this state and when that was reached.
type Progress struct {
	Done  int       `json:"done"`
	Since time.Time `json:"since"`
}

// Entry remembers the inputs and the progress at the time of entering a state.
type Entry struct {
	Inputs string `json:"inputs,omitempty"`
	Done   int    `json:"done"`
}

// Failure is the error that the present work meets, and since when without a success between.
type Failure struct {
	Message string    `json:"message"`
	ForGood bool      `json:"forGood,omitempty"`
	Since   time.Time `json:"since"`
}

// Transition is one move made. Seconds is how long the state before had lasted.
type Transition struct {
	From    State     `json:"from"`
	Event   Event     `json:"event"`
	To      State     `json:"to"`
	At      time.Time `json:"at"`
	Seconds float64   `json:"seconds"`
	Cause   string    `json:"cause,omitempty"`
}

// fresh is the record of a machine that remembers nothing.
func fresh(start State, now time.Time) Record {
	return Record{State: start, Since: now, Progress: Progress{Since: now}}
}

func (r Record) clone() Record {
	r.Held = maps.Clone(r.Held)
	r.Transitions = slices.Clone(r.Transitions)
	if r.Failure != nil {
		failure := *r.Failure
		r.Failure = &failure
	}
	if r.Deadline != nil {
		deadline := *r.Deadline
		r.Deadline = &deadline
	}
	return r
}

// begunBy moves what seems to have begun in the future to now: the clock was
// set back, and no deadline may get further away than it was when it began.
func (r *Record) begunBy(now time.Time) {
	begun := []*time.Time{&r.Since, &r.Progress.Since}
	if r.Failure != nil {
		begun = append(begun, &r.Failure.Since)
	}
	for _, at := range begun {
		if at.After(now) {
			*at = now
		}
	}
	for event, at := range r.Held {
		if at.After(now) {
			r.Held[event] = now
		}
	}
}

// enter is the only place where State changes. Everything that belongs to the
// old state is set anew together, so that nothing of it can leak into the new.
func (r *Record) enter(to State, on Event, cause string, entry Entry, now time.Time) {
	r.Transitions = append(r.Transitions, Transition{
		From: r.State, Event: on, To: to, At: now, Seconds: now.Sub(r.Since).Seconds(), Cause: cause,
	})
	if extra := len(r.Transitions) - keptTransitions; extra > 0 {
		r.Transitions = r.Transitions[extra:]
	}
	r.CameFrom, r.State, r.Since = r.State, to, now
	r.LastEvent, r.Cause, r.Reason = on, cause, ""
	r.Entry = entry
	r.Progress = Progress{Done: entry.Done, Since: now}
	r.Deadline, r.Held = nil, nil
}

// progressed takes a count of steps done in; only a new high restarts the clock.
func (r *Record) progressed(done int, known bool, now time.Time) {
	if known && done > r.Progress.Done {
		r.Progress = Progress{Done: done, Since: now}
	}
}

// failed and succeeded keep the failure's start through a row of different errors.
func (r *Record) failed(err error, now time.Time) {
	since := now
	if r.Failure != nil {
		since = r.Failure.Since
	}
	r.Failure = &Failure{Message: oneLine(err), ForGood: IsTerminal(err), Since: since}
}

func (r *Record) succeeded() { r.Failure = nil }
