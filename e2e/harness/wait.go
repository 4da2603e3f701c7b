package harness

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lookEvery is how often a wait looks again: often enough to see every state of
// a quick installation, seldom enough not to slow it down.
const lookEvery = 50 * time.Millisecond

// Eventually repeats an attempt until it returns nil. When the context ends
// first, its error holds the last answer, which says what was still missing.
func Eventually(ctx context.Context, what string, attempt func(context.Context) error) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	var last error
	for {
		err := attempt(ctx)
		if err == nil {
			return nil
		}
		// What fails because the context has ended tells nothing.
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			ended := fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
			if last == nil {
				return ended
			}
			return fmt.Errorf("%w; in the end %w", ended, last)
		case <-ticker.C:
		}
	}
}

// Unless makes of a question an attempt for Eventually that ends, without an
// answer, once something has ended. Answered is true once the answer was nil.
func Unless(ended <-chan struct{}, question func(context.Context) error) (attempt func(context.Context) error, answered *bool) {
	answered = new(bool)
	return func(ctx context.Context) error {
		select {
		case <-ended:
			return nil
		default:
		}
		err := question(ctx)
		*answered = err == nil
		return err
	}, answered
}

// Every does something at intervals until the context ends.
func Every(ctx context.Context, interval time.Duration, do func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		do()
	}
}

// Until waits for a view that a question answers with nil, and returns it.
func Until(ctx context.Context, reader client.Reader, what string, question func(View) error) (View, error) {
	var seen View
	err := Eventually(ctx, what, func(ctx context.Context) error {
		v, err := See(ctx, reader)
		if err != nil {
			return err
		}
		seen = v
		return question(v)
	})
	return seen, err
}

// Until is Until with the environment's client.
func (e *Environment) Until(ctx context.Context, what string, question func(View) error) (View, error) {
	return Until(ctx, e.Client, what, question)
}

// InState is the question whether the machine is in a state; its answer tells
// which one it is in and what it waits for there.
func InState(state string) func(View) error {
	return func(v View) error {
		if v.Record.State == state {
			return nil
		}
		return notThere(v)
	}
}

// Settled is the question whether the desired revision, of at least this
// number, is installed.
func Settled(atLeast int64) func(View) error {
	return func(v View) error {
		current := v.Revision(v.Current())
		if v.Record.State == Installed && len(v.Revisions()) == 1 && current != nil && current.Revision >= atLeast {
			return nil
		}
		return notThere(v)
	}
}

func notThere(v View) error {
	failure := ""
	if v.Record.Failure != nil {
		failure = "; its work meets: " + v.Record.Failure.Message
	}
	return fmt.Errorf("the machine is in state %q: %s; current revision %q of %d listed%s",
		v.Record.State, v.Record.Reason, v.Current(), len(v.Revisions()), failure)
}
