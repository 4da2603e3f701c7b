package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// steeredClock is the offset of all operators of an environment that have a
// steered clock, so that one that is restarted does not go back in time.
type steeredClock struct {
	mu     sync.Mutex
	offset time.Duration
	path   string
}

// file is where operators read the offset.
func (c *steeredClock) file(dir string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.path = filepath.Join(dir, "clock-offset")
	return c.path, c.write()
}

// write replaces the file in one step, because operators read it at any time.
func (c *steeredClock) write() error {
	if err := os.WriteFile(c.path+".new", []byte(c.offset.String()), 0o600); err != nil {
		return fmt.Errorf("writing the offset of the clock: %w", err)
	}
	if err := os.Rename(c.path+".new", c.path); err != nil {
		return fmt.Errorf("writing the offset of the clock: %w", err)
	}
	return nil
}

// followed is after how long operators have seen a new offset: they look fifty
// times in a second.
const followed = 100 * time.Millisecond

// Advance lets the operator, which must have been started with SteeredClock,
// and all others of its environment, believe that time has gone by: timers that
// are due then fire at once. A negative time sets the clock back. It returns when
// they have noticed.
func (o *Operator) Advance(by time.Duration) error {
	o.clock.mu.Lock()
	defer o.clock.mu.Unlock()
	if o.clock.path == "" {
		return fmt.Errorf("advancing the clock of the operator by %s: it was started without SteeredClock", by)
	}
	o.clock.offset += by
	if err := o.clock.write(); err != nil {
		return err
	}
	<-time.After(followed)
	return nil
}

// Now is what a steered clock shows.
func (e *Environment) Now() time.Time {
	e.clock.mu.Lock()
	defer e.clock.mu.Unlock()
	return time.Now().Add(e.clock.offset)
}

// resetClock lets operators that are started from now on, in a world that is begun anew, go by the real time again, as commands do
// that people run beside them.
func (e *Environment) resetClock() error {
	e.clock.mu.Lock()
	defer e.clock.mu.Unlock()
	e.clock.offset = 0
	if e.clock.path == "" {
		return nil
	}
	return e.clock.write()
}
