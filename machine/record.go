package machine

import (
	"encoding/json"
	"maps"
	"slices"
	"time"
)

const (
	// keptTransitions is how many transitions a record remembers.
	keptTransitions = 32
	// maxRecord bounds a record's JSON in bytes, whatever the errors are. The oldest transitions go first.
	maxRecord = 64 << 10
	// surelyBounded is how many transitions are within that bound even if every byte of their texts is escaped.
	surelyBounded = 4
	// maxName bounds the name of a state, an event or a part, and a UID, in bytes.
	maxName = 64
)

// Record is all that a machine remembers between passes. Times are stored
// times: a deadline goes on counting through a restart.
type Record struct {
	// UID is that of the object that the record is of, empty for a machine that does not ask.
	UID   string    `json:"uid,omitempty"`
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
	// Lasting tells since when the guards of moves that have to last say Yes.
	Lasting map[Event]time.Time `json:"lasting,omitempty"`
	// Beside tells since when that stands which is told beside the state.
	Beside      map[Event]Standing `json:"beside,omitempty"`
	Transitions []Transition       `json:"transitions,omitempty"`
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

// Entry remembers how things stood when a state was entered: the inputs, the
// progress, and the event whose effect had failed, empty for none.
type Entry struct {
	Inputs string `json:"inputs,omitempty"`
	Done   int    `json:"done"`
	Effect Event  `json:"effect,omitempty"`
}

// Failure is the error that the present work or effect meets, and since when
// without a success between.
type Failure struct {
	Message  string `json:"message"`
	Terminal bool   `json:"terminal,omitempty"`
	// Part is the part of the machine that the error belongs to, empty for that of the state.
	Part string `json:"part,omitempty"`
	// Effect is the event whose effect failed, empty when the work did.
	Effect Event     `json:"effect,omitempty"`
	Since  time.Time `json:"since"`
	// Lasted says that it reads as one that has lasted, see [Trouble].
	Lasted bool `json:"lasted,omitempty"`
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
	r.Lasting, r.Beside = maps.Clone(r.Lasting), maps.Clone(r.Beside)
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

// cut is a loaded record within the bounds that a stored one has: what is stored
// may be anybody's. Events that the state does not ask about are left out, and
// asides that the table does not have.
func (r Record) cut(asked, besides []Event) Record {
	r = r.clone()
	r.Transitions = slices.Clone(r.Transitions[max(0, len(r.Transitions)-keptTransitions):])
	for i := range r.Transitions {
		t := &r.Transitions[i]
		t.From, t.Event, t.To, t.Cause = name(t.From), name(t.Event), name(t.To), Shorten(t.Cause, MaxMessage)
	}
	r.UID, r.State, r.CameFrom, r.LastEvent = name(r.UID), name(r.State), name(r.CameFrom), name(r.LastEvent)
	r.Cause, r.Reason = Shorten(r.Cause, MaxMessage), Shorten(r.Reason, MaxMessage)
	r.Entry.Effect, r.Entry.Inputs = name(r.Entry.Effect), Shorten(r.Entry.Inputs, MaxMessage)
	if f := r.Failure; f != nil {
		f.Message, f.Part, f.Effect = Shorten(f.Message, MaxMessage), name(f.Part), name(f.Effect)
	}
	if d := r.Deadline; d != nil {
		d.On, d.To = name(d.On), name(d.To)
	}
	maps.DeleteFunc(r.Lasting, func(event Event, _ time.Time) bool { return !slices.Contains(asked, event) })
	maps.DeleteFunc(r.Beside, func(name Event, _ Standing) bool { return !slices.Contains(besides, name) })
	return r
}

// name cuts what stands where a state, an event, a part or a UID should.
func name[T ~string](text T) T { return T(Shorten(string(text), maxName)) }

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
	for event, at := range r.Lasting {
		if at.After(now) {
			r.Lasting[event] = now
		}
	}
	for name, standing := range r.Beside {
		if standing.Since.After(now) {
			standing.Since = now
			r.Beside[name] = standing
		}
	}
}

// enter is the only place where State changes. Everything that belongs to the
// old state is set anew together, so that nothing of it can leak into the new.
// Only the time of what the new state asks for as well counts on.
func (r *Record) enter(to State, on Event, cause string, entry Entry, lasting map[Event]time.Time, now time.Time) {
	cause = Shorten(cause, MaxMessage)
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
	r.Deadline = nil
	r.Lasting = nil
	if len(lasting) > 0 {
		r.Lasting = lasting
	}
}

// progressed takes a count of steps done in; only a new high restarts the clock.
func (r *Record) progressed(done int, known bool, now time.Time) {
	if known && done > r.Progress.Done {
		r.Progress = Progress{Done: done, Since: now}
	}
}

// failed keeps the failure's start through a row of different errors. effect is
// the event whose effect met the error, empty for the work of a state.
func (r *Record) failed(err error, effect Event, now time.Time) {
	since, lasted := now, false
	if r.Failure != nil {
		since, lasted = r.Failure.Since, r.Failure.Lasted
	}
	r.Failure = &Failure{
		Message: Shorten(oneLine(err), MaxMessage), Terminal: IsTerminal(err), Part: PartOf(err), Effect: effect, Since: since, Lasted: lasted,
	}
}

func (r *Record) succeeded() { r.Failure = nil }

// AtMost is how many bytes the record's JSON takes at most: as many as if every byte of its texts were escaped.
func (r Record) AtMost() int {
	const (
		escaped = 6   // \u0000
		itself  = 512 // names of fields, times and numbers of a record, or of a part of it
	)
	size := func(texts ...int) (bytes int) {
		for _, n := range texts {
			bytes += escaped * n
		}
		return bytes + itself
	}
	most := size(len(r.UID), len(r.State), len(r.LastEvent), len(r.Cause), len(r.CameFrom), len(r.Reason), len(r.Entry.Inputs), len(r.Entry.Effect))
	if d := r.Deadline; d != nil {
		most += size(len(d.On), len(d.To))
	}
	if f := r.Failure; f != nil {
		most += size(len(f.Message), len(f.Part), len(f.Effect))
	}
	for event := range r.Lasting {
		most += size(len(event))
	}
	for name := range r.Beside {
		most += size(len(name))
	}
	for i := range r.Transitions {
		t := &r.Transitions[i]
		most += size(len(t.From), len(t.Event), len(t.To), len(t.Cause))
	}
	return most
}

// bounded drops the oldest transitions until the record's JSON is within its bound.
func (r Record) bounded() Record {
	r.Reason = Shorten(r.Reason, MaxMessage)
	if len(r.Transitions) <= surelyBounded || r.AtMost() <= maxRecord {
		return r
	}
	for len(r.Transitions) > 0 {
		if raw, err := json.Marshal(r); err == nil && len(raw) <= maxRecord {
			break
		}
		r.Transitions = r.Transitions[1:]
	}
	return r
}
