// Package steered has clocks that a file moves, so that tests need not wait. Only the binary that is built with the tag
// e2e has them in it; the one that is shipped has the real time and no way to bend it.
package steered

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"
)

// lookAtOffset is how often the file is read.
const lookAtOffset = 20 * time.Millisecond

// steering adds the duration in a file to the real time, and follows the file. To
// timers, an offset that grows is time that has passed. An offset that shrinks is
// a clock that was set back, which timers do not notice.
type steering struct {
	mu     sync.Mutex
	offset time.Duration
	// ahead is the sum of all increases of the offset.
	ahead time.Duration
	// jumped is closed when ahead grows.
	jumped chan struct{}
}

// AddFlag adds the flag that names the file.
func AddFlag(flags *pflag.FlagSet, file *string) {
	flags.StringVar(file, "clock-offset-file", "", "`file` with a duration to add to the time, followed while it changes")
}

// Clocks follow a file until stop is closed; it must hold a duration such as 5m10s. The wall clock may be set back, the
// steady one only moves forward. Their timers agree. Without a file both are the real time.
func Clocks(file string, stop <-chan struct{}) (wall, steady clock.WithTicker, err error) {
	if file == "" {
		return clock.RealClock{}, clock.RealClock{}, nil
	}
	offset, err := readOffset(file)
	if err != nil {
		return nil, nil, err
	}
	s := &steering{offset: offset, jumped: make(chan struct{})}
	go s.follow(file, stop)
	return &steeredClock{s, func() time.Duration { return s.offset }},
		&steeredClock{s, func() time.Duration { return s.ahead }}, nil
}

func readOffset(file string) (time.Duration, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, fmt.Errorf("reading the offset of the clock: %w", err)
	}
	offset, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("reading the offset of the clock in %s: %w", file, err)
	}
	return offset, nil
}

// follow leaves the clock as it is while the file cannot be read, such as while
// it is being written.
func (s *steering) follow(file string, stop <-chan struct{}) {
	ticker := time.NewTicker(lookAtOffset)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		if offset, err := readOffset(file); err == nil {
			s.set(offset)
		}
	}
}

func (s *steering) set(offset time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	jump := offset - s.offset
	s.offset = offset
	if jump > 0 {
		s.ahead += jump
		close(s.jumped)
		s.jumped = make(chan struct{})
	}
}

// elapsed returns the present time on the scale of the timers, and a channel that
// is closed when that scale jumps.
func (s *steering) elapsed() (at time.Time, jumped <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.ahead), s.jumped
}

// until returns true when that time is reached, or false when stop is closed before.
func (s *steering) until(due time.Time, stop <-chan struct{}) bool {
	for {
		now, jumped := s.elapsed()
		timer := time.NewTimer(due.Sub(now))
		select {
		case <-timer.C:
			return true
		case <-jumped:
			timer.Stop()
		case <-stop:
			timer.Stop()
			return false
		}
	}
}

// steeredClock is the real time plus what beyond returns.
type steeredClock struct {
	*steering
	beyond func() time.Duration
}

func (c *steeredClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.beyond())
}

func (c *steeredClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func (c *steeredClock) After(d time.Duration) <-chan time.Time { return c.NewTimer(d).C() }

func (c *steeredClock) Tick(d time.Duration) <-chan time.Time { return c.NewTicker(d).C() }

func (c *steeredClock) Sleep(d time.Duration) { <-c.After(d) }

func (c *steeredClock) NewTimer(d time.Duration) clock.Timer {
	t := &steeredTimer{clock: c, c: make(chan time.Time, 1)}
	t.Reset(d)
	return t
}

func (c *steeredClock) NewTicker(d time.Duration) clock.Ticker {
	t := &steeredTicker{c: make(chan time.Time, 1), stop: make(chan struct{})}
	go func() {
		for due, _ := c.elapsed(); c.until(due.Add(d), t.stop); due, _ = c.elapsed() {
			select {
			case t.c <- c.Now():
			default: // a slow receiver misses ticks, as with a real ticker
			}
		}
	}()
	return t
}

type steeredTicker struct {
	c    chan time.Time
	stop chan struct{}
	once sync.Once
}

func (t *steeredTicker) C() <-chan time.Time { return t.c }
func (t *steeredTicker) Stop()               { t.once.Do(func() { close(t.stop) }) }

type steeredTimer struct {
	clock *steeredClock
	c     chan time.Time

	mu   sync.Mutex
	stop chan struct{} // nil when the timer does not run
}

func (t *steeredTimer) C() <-chan time.Time { return t.c }

func (t *steeredTimer) Stop() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.halt()
}

// halt needs the lock. As with a real timer, nothing can be received from a stopped one.
func (t *steeredTimer) halt() (ran bool) {
	ran = t.stop != nil
	if ran {
		close(t.stop)
		t.stop = nil
	}
	select {
	case <-t.c:
	default:
	}
	return ran
}

func (t *steeredTimer) Reset(d time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	ran := t.halt()
	stop := make(chan struct{})
	t.stop = stop
	due, _ := t.clock.elapsed()
	go func() {
		if !t.clock.until(due.Add(d), stop) {
			return
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.stop == stop {
			t.stop = nil
			t.c <- t.clock.Now()
		}
	}()
	return ran
}
