package main

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// patience is how long an installation or an upgrade may take in a demo.
const patience = 3 * time.Minute

// follower shows an installation's progress and keeps every transition seen:
// the record in the cluster forgets the oldest ones.
type follower struct {
	reader  client.Reader
	display *display
	images  int
	path    []harness.Transition
	objects map[int64]int
}

// until follows the machine until a revision of at least this number is
// installed. It gives up when the machine degrades, when its time is over and
// when the context ends.
func (f *follower) until(ctx context.Context, revision int64) (harness.View, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("this took more than %s", patience))
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	settled := harness.Settled(revision)
	return harness.Until(ctx, f.reader, fmt.Sprintf("revision %d to be installed", revision), func(v harness.View) error {
		f.show(ctx, v)
		if v.Record.State == harness.Degraded {
			giveUp(fmt.Errorf("the operator reports %s", harness.Degraded))
		}
		return settled(v)
	})
}

// awaiting follows the machine until it waits for definitions, and tells which.
func (f *follower) awaiting(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("this took more than %s", patience))
	defer cancel()
	waits := harness.InState(harness.AwaitingCRDs)
	v, err := harness.Until(ctx, f.reader, "definitions to be waited for", func(v harness.View) error {
		f.show(ctx, v)
		return waits(v)
	})
	if err == nil {
		f.display.step("Capstan waits: %s", v.Record.Reason)
	}
	return err
}

func (f *follower) show(ctx context.Context, v harness.View) {
	for _, t := range f.news(v.Record.Transitions) {
		f.path = append(f.path, t)
		f.display.step("%s -> %s (%s)%s", t.From, t.To, t.Event, because(t.Cause))
	}
	if v.Record.State != "" && v.Record.State != harness.Installed {
		f.display.now(v.Record.State + f.count(ctx, v) + because(v.Record.Reason))
	}
}

// news are the transitions that were made after the last one seen.
func (f *follower) news(transitions []harness.Transition) []harness.Transition {
	if len(f.path) == 0 {
		return transitions
	}
	last := f.path[len(f.path)-1]
	for i := len(transitions) - 1; i >= 0; i-- {
		if transitions[i] == last {
			return transitions[i+1:]
		}
		if transitions[i].At.Before(last.At) {
			return transitions[i+1:]
		}
	}
	return transitions
}

// count tells how many objects of the desired revision are done.
func (f *follower) count(ctx context.Context, v harness.View) string {
	revisions := v.Revisions()
	if v.Record.State == harness.Planning || len(revisions) == 0 {
		return ""
	}
	number := revisions[len(revisions)-1].Revision
	if f.objects[number] == 0 {
		total, err := harness.Inventory(ctx, f.reader, number)
		if err != nil || total == 0 {
			return ""
		}
		f.objects[number] = total
	}
	done := min(max(v.Record.Progress.Done-f.images, 0), f.objects[number])
	return fmt.Sprintf(" %d/%d objects", done, f.objects[number])
}

func because(cause string) string {
	if cause == "" {
		return ""
	}
	return ": " + cause
}
