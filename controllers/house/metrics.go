package house

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/capstan-capi/capstan/machine"
)

var (
	stateMetric = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "capstan_machine_state", Help: "How many instances of a machine are in a state; of a machine with one instance, 1 for its state and 0 for the others.",
	}, []string{"machine", "state"})
	moveMetric = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "capstan_machine_moves_total", Help: "Moves made by a machine, by event.",
	}, []string{"machine", "event"})
	secondsMetric = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "capstan_machine_state_seconds", Help: "How long a machine was in a state before it left it.",
		Buckets: []float64{0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600},
	}, []string{"machine", "state"})
)

// registerMetrics registers the metrics of all machines, once in a process.
var registerMetrics = sync.OnceValue(func() error {
	return errors.Join(metrics.Registry.Register(stateMetric), metrics.Registry.Register(moveMetric), metrics.Registry.Register(secondsMetric))
})

// meter counts a machine's moves, and its instances by state.
type meter struct {
	sync.Mutex
	machine string
	states  map[machine.Key]machine.State
}

func newMeter(name string, states []machine.State) *meter {
	for _, state := range states {
		stateMetric.WithLabelValues(name, string(state)).Set(0)
	}
	return &meter{machine: name, states: map[machine.Key]machine.State{}}
}

// Tell counts.
func (m *meter) Tell(_ context.Context, p Pass) time.Duration {
	if made := p.Outcome.Moved; made != nil {
		moveMetric.WithLabelValues(m.machine, string(made.Event)).Inc()
		secondsMetric.WithLabelValues(m.machine, string(made.From)).Observe(made.Seconds)
	}
	if p.Outcome.State != "" { // empty while the record cannot be read
		m.is(p.Key, p.Outcome.State)
	}
	return 0
}

// Forget takes an instance out of the count.
func (m *meter) Forget(key machine.Key) { m.is(key, "") }

// is notes the state of an instance, empty for none.
func (m *meter) is(key machine.Key, state machine.State) {
	m.Lock()
	defer m.Unlock()
	before := m.states[key]
	if before == state {
		return
	}
	if before != "" {
		stateMetric.WithLabelValues(m.machine, string(before)).Dec()
		delete(m.states, key)
	}
	if state != "" {
		stateMetric.WithLabelValues(m.machine, string(state)).Inc()
		m.states[key] = state
	}
}
