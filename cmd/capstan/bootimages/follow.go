package bootimages

import (
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// followed is what a record leads to by what is seen.
type followed[F, E any] struct {
	record machine.Record
	facts  F
	// next is a move that is the operator's to make, since it has an effect; nil for none.
	next *machine.Move[F, E]
}

// follow makes the moves that the answers of guards lead to, as an operator would: none by the time, after a failure, with an
// effect, or out of a state that tries again what has failed.
func follow[F, E any](t machine.Table[F, E], record machine.Record, facts F, now time.Time) (followed[F, E], error) {
	for range t.States {
		recalled := t.Recalled(facts, record)
		chosen, _, err := t.Replay(machine.Decision{At: now, State: record.State, Progressed: now, Answers: answers(t, record.State, recalled)})
		if err != nil {
			return followed[F, E]{}, err
		}
		move := moveOf(t, record.State, chosen)
		at := followed[F, E]{record: record, facts: recalled}
		switch {
		case move == nil, t.Resumes(record.State) && !move.Urgent:
			return at, nil
		case move.Do.Name != "":
			at.next = move
			return at, nil
		}
		record = machine.Record{UID: record.UID, State: move.To, LastEvent: move.On, CameFrom: record.State, Cause: chosen.Cause, Reason: chosen.Cause}
	}
	return followed[F, E]{record: record, facts: t.Recalled(facts, record)}, nil
}

// answers are those of all questions on the moves that leave a state.
func answers[F, E any](t machine.Table[F, E], state machine.State, facts F) (all []machine.Asked) {
	for _, move := range t.Leaving(state) {
		for _, atom := range move.If.Atoms() {
			answer := atom.Answer(facts)
			all = append(all, machine.Asked{Guard: atom.Name, Answer: answer.Truth, Why: answer.Reason})
		}
	}
	return all
}

func moveOf[F, E any](t machine.Table[F, E], from machine.State, chosen machine.Decision) *machine.Move[F, E] {
	for _, move := range t.Leaving(from) {
		if move.On == chosen.Event && move.To == chosen.To {
			return move
		}
	}
	return nil
}

// asked are the questions of a table, each once and in its order, with what they answer now.
func asked[F, E any](t machine.Table[F, E], facts F, but ...string) (all []Question) {
	seen := map[string]bool{}
	for _, name := range but {
		seen[name] = true
	}
	for i := range t.Moves {
		for _, atom := range t.Moves[i].If.Atoms() {
			if !seen[atom.Name] {
				seen[atom.Name] = true
				all = append(all, question(atom, facts))
			}
		}
	}
	return all
}

func question[F any](atom machine.Guard[F], facts F) Question {
	answer := atom.Answer(facts)
	return Question{Guard: atom.Name, Meaning: atom.Doc, Answer: answer.Truth, Why: answer.Reason}
}

// Question is one that the machine asks, with the answer of now.
type Question struct {
	Guard   string        `json:"guard"`
	Meaning string        `json:"meaning"`
	Answer  machine.Truth `json:"answer"`
	Why     string        `json:"why,omitempty"`
}
