package machine

import (
	"context"
	"errors"
	"fmt"

	"github.com/looplab/fsm"
)

// fire makes one legal move: do runs while the library can still refuse, so a
// failing effect leaves the state where it was. The library is built fresh for
// each pass: it gives legality, not memory.
func (t Table[F, E]) fire(ctx context.Context, from State, on Event, do func(context.Context) error) (State, error) {
	var events fsm.Events
	for _, move := range t.Moves {
		if move.On != on {
			continue // only moves on this event say whether it is legal
		}
		src := make([]string, len(move.From))
		for i, s := range move.From {
			src[i] = string(s)
		}
		events = append(events, fsm.EventDesc{Name: string(move.On), Src: src, Dst: string(move.To)})
	}
	engine := fsm.NewFSM(string(from), events, fsm.Callbacks{
		"leave_state": func(ctx context.Context, e *fsm.Event) {
			if err := do(ctx); err != nil {
				e.Cancel(err)
			}
		},
	})
	if err := engine.Event(ctx, string(on)); err != nil {
		var canceled fsm.CanceledError
		if errors.As(err, &canceled) && canceled.Err != nil {
			return from, canceled.Err
		}
		return from, &IllegalMoveError{Machine: t.Name, From: from, On: on, Err: err}
	}
	return State(engine.Current()), nil
}

// Legal reports, as an error, that no move on this event leaves this state.
func (t Table[F, E]) Legal(ctx context.Context, from State, on Event) error {
	_, err := t.fire(ctx, from, on, func(context.Context) error { return nil })
	return err
}

// IllegalMoveError says that the table has no such move.
type IllegalMoveError struct {
	Machine string
	From    State
	On      Event
	Err     error
}

func (e *IllegalMoveError) Error() string {
	return fmt.Sprintf("machine %s has no move on %s from %s: %v", e.Machine, e.On, e.From, e.Err)
}

func (e *IllegalMoveError) Unwrap() error { return e.Err }
