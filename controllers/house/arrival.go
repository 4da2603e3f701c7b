package house

import (
	"context"
	"sync"
	"time"
)

const (
	// arrivesWithin is how long an API server may take to serve a kind whose definition has just changed.
	arrivesWithin = 30 * time.Second
	// lookedForEvery is how often a kind is looked for until then. A watch that ends within a second would be taken for a broken one.
	lookedForEvery = 2 * time.Second
)

// Arrival has an optional kind looked for at once. Lost, the kind is looked for as often as without.
type Arrival struct {
	mu sync.Mutex
	// look are those that end the wait of a watch; until then they are short.
	look  []func()
	until time.Time
	// served says that the API server has listed the kind since the start.
	served bool
	// gone is an error as long as the API server has the kind; nil asks nobody.
	gone func(context.Context) error
}

// Confirm has somebody asked, by an error, whether a kind that was served may be gone: until then its objects stay.
func (a *Arrival) Confirm(gone func(context.Context) error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.gone = gone
}

// Served says that the API server has the kind, and that its objects were listed or are being so.
func (a *Arrival) Served() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.served
}

// answered notes that the API server has the kind.
func (a *Arrival) answered() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.served = true
}

// isGone is nil if a kind that was served may be gone.
func (a *Arrival) isGone(ctx context.Context) error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	gone := a.gone
	a.mu.Unlock()
	if gone == nil {
		return nil
	}
	return gone(ctx)
}

// Expect is called when the API server may be about to serve the kind.
func (a *Arrival) Expect() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, look := range a.look {
		time.AfterFunc(lookedForEvery, look)
	}
	a.look, a.until = nil, time.Now().Add(arrivesWithin)
}

// awaits is how long to wait before a kind is looked for again, which look does.
func (a *Arrival) awaits(pause time.Duration, look func()) time.Duration {
	if a == nil {
		return pause
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Now().Before(a.until) {
		return lookedForEvery
	}
	a.look = []func(){look} // those before have ended by themselves
	return pause
}
