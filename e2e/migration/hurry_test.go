package migration_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/hostedworld"
)

// wait is how long a state waits for nothing but time, and by what the clock is set forward at once.
type wait struct{ long, step time.Duration }

// waiting are the states that do so. What is left of a wait then goes by as it does, since it begins when all else is as it has to be.
var waiting = map[string]wait{
	"Locking":   {6 * time.Second, time.Second},
	"Repausing": {6 * time.Second, time.Second},
	"Observing": {30 * time.Second, 5 * time.Second},
}

// inVain is what is waited for what does not come.
var inVain = wait{6 * time.Minute, 30 * time.Second}

// again is how often a wait may be begun anew, since the operator was: all of them together are shorter than any limit.
const again = 4

// hurry sets the operator's clock forward in states that wait for time.
func (m *moving) hurry(ctx context.Context) {
	defer GinkgoRecover()
	spent := map[string]time.Duration{}
	harness.Every(ctx, 200*time.Millisecond, func() {
		operator, started := m.running()
		watched := m.history()
		for _, name := range watched.names() {
			path := watched.path(name)
			w := m.waits(ctx, name, path[len(path)-1])
			visit := fmt.Sprintf("%s %d", name, len(path))
			life := fmt.Sprintf("%s %d", visit, started)
			if spent[life] < w.long && spent[visit] < again*w.long {
				spent[life] += w.step
				spent[visit] += w.step
				Expect(operator.Advance(w.step)).To(Succeed())
			}
		}
	})
}

// waits is how long a hosted cluster waits in a state.
func (m *moving) waits(ctx context.Context, name, state string) wait {
	m.mu.Lock()
	unwell, stuck := m.unwell[name], m.stuck
	m.mu.Unlock()
	switch {
	case state == stuck:
		return inVain
	case state != "Observing" || unwell == nil:
		return waiting[state]
	}
	all, err := unwell.Stored(ctx, hostedworld.Private)
	if first := all["Machine "+name+"-0"]; err != nil || first == nil || hostedworld.IsReady(first) {
		return wait{}
	}
	return inVain
}

// breaks has the first machine of a hosted cluster be found broken where it moves to.
func (m *moving) breaks(name string, h *hostedworld.Hosted) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unwell[name] = h
	h.Break(0)
}

// mends undoes what breaks does.
func (m *moving) mends(name string, h *hostedworld.Hosted) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.unwell, name)
	h.Mend()
}

// sticks says which state cannot be left as it should be, empty for none.
func (m *moving) sticks(state string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stuck = state
}
