package events

import (
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
)

// Limit lets a number of Events through in any span of a length, and drops and logs the others: they tell of what stands in
// conditions as well. If what it remembers is lost, as with the process, as many more get through.
type Limit struct {
	span  time.Duration
	clock clock.PassiveClock
	log   logr.Logger

	mu sync.Mutex
	// told are the times of the last that got through, as in a ring; next is where the oldest of them is.
	told []time.Time
	next int
}

// NewLimit makes a limit by a clock that is not set back.
func NewLimit(most int, span time.Duration, clock clock.PassiveClock, log logr.Logger) *Limit {
	return &Limit{span: span, clock: clock, log: log, told: make([]time.Time, most)}
}

// Through is tell behind the limit; without one it is tell itself.
func (l *Limit) Through(tell func(Event)) func(Event) {
	if l == nil {
		return tell
	}
	return func(n Event) {
		if l.takes() {
			tell(n)
			return
		}
		l.log.Info("an Event is dropped, because there were many just before", "reason", n.Reason, "text", n.Text)
	}
}

func (l *Limit) takes() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	if oldest := l.told[l.next]; !oldest.IsZero() && now.Sub(oldest) < l.span {
		return false
	}
	l.told[l.next] = now
	l.next = (l.next + 1) % len(l.told)
	return true
}
