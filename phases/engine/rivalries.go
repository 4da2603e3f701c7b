package engine

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// rivalries are those of all objects, by identity. They are not stored: a restart begins with patience.
type rivalries struct {
	clock  clock.Clock
	mu     sync.Mutex
	of     map[Key]rivalry
	change chan struct{} // of the contests; holds one
}

func newRivalries(c clock.Clock) *rivalries {
	return &rivalries{clock: c, of: map[Key]rivalry{}, change: make(chan struct{}, 1)}
}

// repaired books a repair that a verdict asked for.
func (r *rivalries) repaired(key Key, v verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[key.identity()] = r.of[key.identity()].repaired(r.clock.Now(), v.managers, v.field)
	select {
	case r.change <- struct{}{}:
	default:
	}
}

// judge says whether the object is contested, nil if it is not, and takes a repair that would come too early out of
// the verdict.
func (r *rivalries) judge(key Key, v verdict) (verdict, *Contest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, found := r.of[key.identity()]
	if !found {
		return v, nil
	}
	now := r.clock.Now()
	if known = known.at(now, !v.writes()); len(known.repairs) == 0 {
		delete(r.of, key.identity())
	} else {
		r.of[key.identity()] = known
	}
	if v.repairs() && known.withholds(now) {
		v.action, v.why = Contested, known.contest.String()
	}
	return v, known.contest
}

// wake calls notify whenever a contest has something to do, until the context ends.
func (r *rivalries) wake(ctx context.Context, notify func()) {
	for {
		timer := r.clock.NewTimer(r.untilDue())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-r.change:
		case <-timer.C():
			notify()
		}
		timer.Stop()
	}
}

// untilDue is how long the first contest can wait; without any, for so long that it does not matter.
func (r *rivalries) untilDue() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, wait := r.clock.Now(), 24*time.Hour
	for _, known := range r.of {
		if due := known.due(now); !due.IsZero() {
			wait = min(wait, due.Sub(now))
		}
	}
	return wait
}
