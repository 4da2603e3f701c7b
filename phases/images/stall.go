package images

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
)

const stallAfter = 30 * time.Second

var errStalled = errors.New("nothing came from it for half a minute")

// signs are the signs of life of a registry during one attempt.
type signs struct {
	clock clock.Clock
	last  atomic.Int64 // in nanoseconds since 1970
}

func (s *signs) seen() { s.last.Store(s.clock.Now().UnixNano()) }

// watchSigns stops an attempt whose registry has given no sign of life for stallAfter: a dead connection must not hold
// one of the few slots for ever. The function it gives must be called at the end; it returns when nothing is left
// running.
func watchSigns(ctx context.Context, clk clock.Clock) (context.Context, *signs, func()) {
	s := &signs{clock: clk}
	s.seen()
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
				silence := clk.Since(time.Unix(0, s.last.Load()))
				if silence >= stallAfter {
					stop(errStalled)
					return
				}
				timer = clk.NewTimer(stallAfter - silence)
			}
		}
	}()
	return ctx, s, func() {
		stop(nil)
		<-ended
	}
}
