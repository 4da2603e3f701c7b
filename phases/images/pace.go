package images

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	// stallAfter is how long a registry may send nothing before the attempt to pull from it is stopped, and how long it
	// may be slow before the next place is asked.
	stallAfter = 30 * time.Second
	// hurriedFor is how long one place may take while another one is untried.
	hurriedFor = 10 * time.Minute
	// unhurriedFor is how long one of several places may take when no other one is untried: then all are asked again. It is
	// also how long the only place of an image may be slow while other images wait.
	unhurriedFor = time.Hour
	// leastRate is how many bytes per second keep a place from being left for one that is untried, and an image from
	// making room for those that wait.
	leastRate = 64 << 10
)

// pace is how fast a place must be besides sending anything at all; zero fields ask for nothing.
type pace struct {
	rate int64         // bytes per second
	over time.Duration // in which the rate must be reached
	slow *leftError    // what it is told as when it is not
	most time.Duration
	// crowded says whether the rate counts at this moment; nil: it always does.
	crowded func() bool
}

var (
	hurried   = pace{rate: leastRate, over: stallAfter, slow: errSlow, most: hurriedFor}
	unhurried = pace{most: unhurriedFor}
)

// alone is the pace of the only place of an image: slow ones must not keep all others waiting for ever.
func alone(crowded func() bool) pace {
	return pace{rate: leastRate, over: unhurriedFor, slow: errCrowded, crowded: crowded}
}

// leftError says why an attempt to pull from a registry was stopped.
type leftError struct{ why string }

func (e *leftError) Error() string { return e.why }

var (
	errStalled = &leftError{fmt.Sprintf("it sent nothing for %d seconds", stallAfter/time.Second)}
	errSlow    = &leftError{fmt.Sprintf("it sent less than %d KiB a second for %d seconds, so the next place was asked", leastRate>>10, stallAfter/time.Second)}
	errCrowded = &leftError{fmt.Sprintf("it sent less than %d KiB a second for an hour, and other images wait; it is asked again after them", leastRate>>10)}
	errLong    = &leftError{"it took too long, so the next place was asked"}
)

// tooSlow says that a place would have gone on if there had been no other.
func tooSlow(err error) bool { return errors.Is(err, errSlow) || errors.Is(err, errLong) }

// activity is what a registry sends during one attempt.
type activity struct {
	clock clock.Clock
	pace  pace
	begun time.Time

	mu     sync.Mutex
	paused bool
	last   time.Time // when it last sent something
	since  time.Time // since when bytes are counted
	bytes  int64
}

func (a *activity) seen(bytes int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last = a.clock.Now()
	a.bytes += int64(bytes)
}

// pause is for the time in which nothing is asked of the registry, until the returned function is called.
func (a *activity) pause() (resume func()) {
	set := func(paused bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.paused, a.bytes = paused, 0
		a.last, a.since = a.clock.Now(), a.clock.Now()
	}
	set(true)
	return func() { set(false) }
}

// judge says why the attempt must stop, or when to look again at the latest.
func (a *activity) judge() (time.Duration, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.clock.Now()
	if a.paused {
		a.last, a.since = now, now
	}
	look := stallAfter - now.Sub(a.last)
	if look <= 0 {
		return 0, errStalled
	}
	if a.pace.rate > 0 {
		left, err := a.keepsUp(now)
		if err != nil {
			return 0, err
		}
		look = min(look, left)
	}
	if a.pace.most > 0 {
		left := a.pace.most - now.Sub(a.begun)
		if left <= 0 {
			return 0, errLong
		}
		look = min(look, left)
	}
	return look, nil
}

// keepsUp says that the rate is not reached where it counts, or when to look at it again at the latest.
func (a *activity) keepsUp(now time.Time) (time.Duration, error) {
	took := now.Sub(a.since)
	switch {
	case took < a.pace.over:
		return a.pace.over - took, nil
	case a.bytes >= a.pace.rate*int64(took/time.Second):
		a.since, a.bytes = now, 0
		return a.pace.over, nil
	case a.pace.crowded == nil || a.pace.crowded():
		return 0, a.pace.slow
	}
	return stallAfter, nil
}

// watchActivity stops an attempt whose registry is silent for stallAfter or slower than the pace: a dead connection must
// not occupy one of the few slots for ever. The caller calls the returned function at the end; when that returns, nothing
// is left running.
func watchActivity(ctx context.Context, clk clock.Clock, p pace) (context.Context, *activity, func()) {
	now := clk.Now()
	a := &activity{clock: clk, pace: p, begun: now, last: now, since: now}
	ctx, stop := context.WithCancelCause(ctx)
	timer := clk.NewTimer(stallAfter)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-timer.C():
				look, err := a.judge()
				if err != nil {
					stop(err)
					return
				}
				timer = clk.NewTimer(look)
			}
		}
	}()
	return ctx, a, func() {
		stop(nil)
		<-ended
	}
}
