package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"pgregory.net/rapid"

	"github.com/capstan-capi/capstan/phases/engine"
)

// begin takes the desired revision some way and no further, because the next one overtakes it. Meanwhile the engine keeps
// the former one, which must not take back what the desired one has.
func (l *trial) begin(ctx context.Context, faults map[int]fault) error {
	for name := range l.current {
		if l.memory.uids[name] == "" {
			l.touched[name] = true
		}
	}
	enough := rapid.IntRange(1, len(l.current)+1).Draw(l.t, "enough")
	if rapid.Bool().Draw(l.t, "dies") {
		faults[rapid.IntRange(1, 12).Draw(l.t, "after")] = death
	}
	if err := l.suffer(ctx, faults, func(ctx context.Context) error {
		_, err := l.engine.take(ctx, l.desired, func(report *engine.Report) error { return begun(report, enough) })
		return err
	}); err != nil || l.former == nil {
		return err
	}
	l.t.Log("keeps the former revision")
	return l.keep(ctx)
}

// begun is the question whether as many objects of a revision are applied as can be, or enough of them.
func begun(report *engine.Report, enough int) error {
	applied := 0
	for o := range report.Objects {
		if o.Applied() {
			applied++
		}
	}
	if applied >= enough || report.Complete() || collided(report) == nil {
		return nil
	}
	return errors.New(report.String())
}

// keep lets the engine keep the former revision for once, which leaves alone what the desired one has.
func (l *trial) keep(ctx context.Context) error {
	before, err := l.claimed(ctx)
	if err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := l.engine.drive(short, "revision "+l.former.Name+" to be kept", func(ctx context.Context) (bool, error) {
		report, err := l.engine.Reconcile(ctx, l.former, engine.Keep())
		if err == nil && report.Unknown() {
			err = errors.New(report.Blocked())
		}
		return err != nil, err
	}); err != nil {
		l.t.Log("the former revision: ", err)
	}
	after, err := l.claimed(ctx)
	if err != nil {
		return err
	}
	for name := range before {
		if !after[name] {
			return fmt.Errorf("%s was taken back by the former revision", name)
		}
	}
	return l.memory.check(ctx, l.world)
}

// claimed are the slots whose objects carry the number of the desired revision.
func (l *trial) claimed(ctx context.Context) (map[string]bool, error) {
	claimed := map[string]bool{}
	for name := range l.current {
		found, err := l.get(ctx, slots[name].make(l.world, 0))
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		claimed[name] = number(found) == fmt.Sprint(l.number) && !l.memory.obstacle[name]
	}
	maps.DeleteFunc(claimed, func(_ string, is bool) bool { return !is })
	return claimed, nil
}
