package machine

import "time"

// Decision is everything that a choice was made from, and the choice. It is
// enough to make the choice again on the same table, see [Table.Replay].
type Decision struct {
	At    time.Time `json:"at"`
	State State     `json:"state"`
	// Reason is what the machine waited for until then.
	Reason string `json:"reason,omitempty"`
	// Progressed, Failure and Lasting are what deadlines count from. Before Settled none fires, see [Machine.Step].
	Settled    time.Time           `json:"settled,omitzero"`
	Progressed time.Time           `json:"progressed"`
	Failure    *Failure            `json:"failure,omitempty"`
	Lasting    map[Event]time.Time `json:"lasting,omitempty"`
	// Patience is that of the instance with deadlines, where it was another than the row's.
	Patience map[Event]time.Duration `json:"patience,omitempty"`
	// Answers are those of every question on the moves that leave the state, in the order of its moves.
	Answers []Asked `json:"answers,omitempty"`
	// Event, To and Cause are the move chosen; empty for none.
	Event Event  `json:"event,omitempty"`
	To    State  `json:"to,omitempty"`
	Cause string `json:"cause,omitempty"`
}

// Asked is a question and the answer that it was given.
type Asked struct {
	Guard  string `json:"guard"`
	Answer Truth  `json:"answer"`
	Why    string `json:"why,omitempty"`
}

// decision notes what a choice was made from.
func (t Table[F, E]) decision(record Record, chosen choice[F, E], facts F, at moment) *Decision {
	d := &Decision{
		At: at.now, Settled: at.settled, State: record.State, Reason: record.Reason,
		Progressed: record.Progress.Since, Failure: record.Failure, Lasting: record.Lasting,
		Event: chosen.move.On, To: chosen.move.To, Cause: chosen.cause,
	}
	for _, atom := range t.questions(record.State) {
		answer := atom.Answer(facts)
		d.Answers = append(d.Answers, Asked{Guard: atom.Name, Answer: answer.Truth, Why: answer.Reason})
	}
	for _, move := range t.Leaving(record.State) {
		if move.Stalled == 0 {
			continue
		}
		if own := t.patience(move, facts); own != move.Stalled {
			if d.Patience == nil {
				d.Patience = map[Event]time.Duration{}
			}
			d.Patience[move.On] = own
		}
	}
	return d
}

// questions are the atoms on the moves that leave a state, each once.
func (t Table[F, E]) questions(state State) []Guard[F] {
	var asked []Guard[F]
	for _, move := range t.Leaving(state) {
		for _, atom := range move.If.Atoms() {
			asked = addAtom(asked, atom)
		}
	}
	return asked
}

// Replay makes the choice of a decision again, from what it was made from, and
// returns the decision that this table takes and the moves that it considered.
// A question that was not asked then is Unknown now. The error is an
// [AmbiguousError], or says that the table does not have the state any more.
func (t Table[F, E]) Replay(d Decision) (Decision, []Candidate, error) {
	if _, known := t.State(d.State); !known {
		return d, nil, &UnknownStateError{Machine: t.Name, State: d.State}
	}
	answers := map[string]Answer{}
	for _, asked := range d.Answers {
		answers[asked.Guard] = Answer{Truth: asked.Answer, Reason: asked.Why}
	}
	here := t
	here.Moves = nil
	for _, move := range t.Leaving(d.State) {
		here.Moves = append(here.Moves, *move)
	}
	then := here.answeredBy(func(name string) Answer { return answers[name] })
	then.Patience = func(_ F, on Event) time.Duration { return d.Patience[on] }
	record := Record{
		State: d.State, Reason: d.Reason, Failure: d.Failure, Lasting: d.Lasting, Progress: Progress{Since: d.Progressed},
	}
	var nothing F
	chosen, err := then.choose(record, nothing, moment{d.At, d.Settled})
	d.Event, d.To, d.Cause = "", "", ""
	if chosen.move != nil {
		d.Event, d.To, d.Cause = chosen.move.On, chosen.move.To, chosen.cause
	}
	return d, then.explained(chosen.candidates, d.State, nothing), err
}

// UnknownStateError says that a table does not have a state.
type UnknownStateError struct {
	Machine string
	State   State
}

func (e *UnknownStateError) Error() string {
	return "machine " + e.Machine + " has no state " + string(e.State)
}
