package machine

import (
	"context"
	"slices"
)

// WithDoubles returns a copy of the table whose guards answer from answers (left
// as they are when it is nil) and whose work and effects call do with their
// name instead of touching a world. Tests use it.
func (t Table[F, E]) WithDoubles(answers map[string]Truth, do func(name string) (Result, error)) Table[F, E] {
	double := func(a Action[E]) Action[E] {
		if a.Run != nil {
			a.Run = func(context.Context, E) (Result, error) { return do(a.Name) }
		}
		return a
	}
	t.States, t.Moves = slices.Clone(t.States), slices.Clone(t.Moves)
	for i := range t.States {
		t.States[i].Work = double(t.States[i].Work)
	}
	for i := range t.Moves {
		t.Moves[i].Do = double(t.Moves[i].Do)
		if answers != nil {
			t.Moves[i].If = t.Moves[i].If.WithAnswers(answers)
		}
	}
	return t
}

// answeredBy returns a copy of the table whose questions are answered by name instead of from facts.
func (t Table[F, E]) answeredBy(answer func(name string) Answer) Table[F, E] {
	t.Moves = slices.Clone(t.Moves)
	for i := range t.Moves {
		t.Moves[i].If = t.Moves[i].If.answeredBy(answer)
	}
	return t
}
