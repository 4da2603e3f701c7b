package act

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// conflicts are those of all objects, by identity. They are not stored: a restart begins with patience.
type conflicts struct {
	clock   clock.Clock
	begun   time.Time
	mu      sync.Mutex
	of      map[decide.Key]decide.RepairHistory
	changed chan struct{} // of capacity one
}

func newConflicts(c clock.Clock) *conflicts {
	return &conflicts{clock: c, begun: c.Now(), of: map[decide.Key]decide.RepairHistory{}, changed: make(chan struct{}, 1)}
}

// repaired counts a repair that a verdict asked for.
func (r *conflicts) repaired(key decide.Key, v decide.Verdict) {
	r.change(key, func(known decide.RepairHistory, now time.Time) decide.RepairHistory {
		return known.Repaired(now, v.Managers, v.Field)
	})
}

// undone counts a write after which the verdict is still to be carried out.
func (r *conflicts) undone(key decide.Key, v decide.Verdict) {
	r.change(key, func(known decide.RepairHistory, now time.Time) decide.RepairHistory {
		return known.Undone(now, v.Managers, v.Difference())
	})
}

func (r *conflicts) change(key decide.Key, how func(decide.RepairHistory, time.Time) decide.RepairHistory) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[key.Identity()] = how(r.of[key.Identity()], r.clock.Now())
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// judge says whether the object is contested, nil if it is not. It removes a repair from the verdict that would come too
// early, and a write that did not help, of which undone is the reason.
func (r *conflicts) judge(key decide.Key, v decide.Verdict, undone string) (decide.Verdict, *decide.Conflict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, found := r.of[key.Identity()]
	if !found {
		return v, nil
	}
	now := r.clock.Now()
	if known = known.At(now, !v.Writes()); len(known.Repairs) == 0 {
		delete(r.of, key.Identity())
	} else {
		r.of[key.Identity()] = known
	}
	if v.Writes() && (v.Repairs() || undone != "" && v.Why == undone) && known.Withholds(now) {
		v.Action, v.Why = decide.Contested, known.Conflict.String()
	}
	return v, known.Conflict
}

// wake calls notify whenever a conflict has something to do, until the context ends. What was due before it looked is
// not missed, as after a clock was set forward.
func (r *conflicts) wake(ctx context.Context, notify func()) {
	for seen := r.begun; ; {
		due := r.due(seen)
		timer := r.clock.NewTimer(due.Sub(r.clock.Now()))
		if now := r.clock.Now(); due.After(now) {
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-r.changed:
			case <-timer.C():
			}
		} else {
			seen = now
			notify()
		}
		timer.Stop()
	}
}

// due is when the first conflict has something to do after a moment; without one it is so late that it does not matter.
func (r *conflicts) due(after time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.clock.Now().Add(24 * time.Hour)
	for _, known := range r.of {
		if due := known.Due(after); !due.IsZero() && due.Before(first) {
			first = due
		}
	}
	return first
}
