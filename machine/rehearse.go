package machine

import (
	"context"
	"slices"
)

// Rehearse returns a copy of the table whose guards answer from answers (left
// as they are when it is nil) and whose work and effects call do with their
// name instead of touching a world. Tests use it.
func (t Table[F, E]) Rehearse(answers map[string]Truth, do func(name string) error) Table[F, E] {
	instead := func(a Action[E]) Action[E] {
		if a.Run != nil {
			a.Run = func(context.Context, E) error { return do(a.Name) }
		}
		return a
	}
	t.States, t.Moves = slices.Clone(t.States), slices.Clone(t.Moves)
	for i := range t.States {
		t.States[i].Work = instead(t.States[i].Work)
	}
	for i := range t.Moves {
		t.Moves[i].Do = instead(t.Moves[i].Do)
		if answers != nil {
			t.Moves[i].If = t.Moves[i].If.Given(answers)
		}
	}
	return t
}

// answering returns a copy of the table whose questions are answered by name instead of from facts.
func (t Table[F, E]) answering(answer func(name string) Answer) Table[F, E] {
	t.Moves = slices.Clone(t.Moves)
	for i := range t.Moves {
		t.Moves[i].If = t.Moves[i].If.answering(answer)
	}
	return t
}
