package images

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
)

// stallAfter is how long a registry may send nothing before the attempt to pull from it is stopped.
const stallAfter = 30 * time.Second

var errStalled = fmt.Errorf("it sent nothing for %d seconds", stallAfter/time.Second)

// activity is when a registry last sent something during one attempt.
type activity struct {
	clock clock.Clock
	last  atomic.Int64 // in nanoseconds since 1970
}

func (a *activity) seen() { a.last.Store(a.clock.Now().UnixNano()) }

// watchActivity stops an attempt when its registry has sent nothing for stallAfter: a dead connection must not occupy
// one of the few slots for ever. The caller calls the returned function at the end; when that returns, nothing is left
// running.
func watchActivity(ctx context.Context, clk clock.Clock) (context.Context, *activity, func()) {
	a := &activity{clock: clk}
	a.seen()
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
				silence := clk.Since(time.Unix(0, a.last.Load()))
				if silence >= stallAfter {
					stop(errStalled)
					return
				}
				timer = clk.NewTimer(stallAfter - silence)
			}
		}
	}()
	return ctx, a, func() {
		stop(nil)
		<-ended
	}
}
