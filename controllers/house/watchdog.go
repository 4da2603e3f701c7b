package house

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/capstan-capi/capstan/transport"
)

const (
	// lookEvery is how often the watchdog looks at the passes under way.
	lookEvery = 5 * time.Second
	// hangsAfter is how long a pass may be without a sign of life, above the 65 s after which transport gives up a request.
	hangsAfter = 90 * time.Second
)

// watchdog ends a process whose pass hangs, so that another replica works on. A
// pass may take as long as it likes while something comes of its requests; one
// that waits for anything else never ends, and nobody would be told. Restarted,
// or on another replica, it begins anew from the record.
type watchdog struct {
	mu     sync.Mutex
	passes map[*watched]bool
	hangs  error
}

// watched is a pass under way.
type watched struct {
	what   string
	silent int // looks since the last sign of life
}

// begin watches a pass, whose requests must have the context, until it is done.
func (w *watchdog) begin(ctx context.Context, what string) (_ context.Context, done func()) {
	pass := &watched{what: what}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.passes == nil {
		w.passes = map[*watched]bool{}
	}
	w.passes[pass] = true
	alive := func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		pass.silent = 0
	}
	return transport.WithSign(ctx, alive), func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.passes, pass)
	}
}

// run returns an error when a pass hangs, which ends the manager: it gives up
// the Lease, and the process ends.
func (w *watchdog) run(ctx context.Context, c clock.WithTicker) error {
	ticker := c.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
		if err := w.look(); err != nil {
			return err
		}
	}
}

// look counts looks, and not the time: a process that was stopped, or was not
// given the processor, has not looked either. The first look may follow a sign of
// life at once, so one more has to pass.
func (w *watchdog) look() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for pass := range w.passes {
		if pass.silent++; pass.silent > int(hangsAfter/lookEvery) && w.hangs == nil {
			w.hangs = fmt.Errorf("a pass of %s hangs: nothing came of its requests for %s, and it does not end; "+
				"this process ends with this error, and the next one, or another replica, begins anew from the record; "+
				"if it comes again, look at what the pass waits for: the disk of --cache-dir, or the node", pass.what, hangsAfter)
		}
	}
	return w.hangs
}

// check is what /healthz says.
func (w *watchdog) check(*http.Request) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hangs
}
