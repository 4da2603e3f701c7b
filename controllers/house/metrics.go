package house

import (
	"context"
	"errors"
	"slices"
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
	attentionMetric = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "capstan_needs_attention", Help: "How many instances of a machine need somebody who looks, by the alert that calls.",
	}, []string{"machine", "alert"})
)

// Unfinished calls somebody to a machine whose passes cannot be made or stored,
// so that conditions tell what was.
var Unfinished = machine.Call{
	Alert: machine.Alert{Name: "CapstanUnfinishedPasses", Severity: machine.Warning, After: 10 * time.Minute, Summary: "Capstan cannot read or store what it does"},
	Doc:   "A machine's passes meet an error before they come to their end, so that its conditions tell what was.",
}

// Absent calls somebody when there is no operator that tells anything.
var Absent = machine.Call{
	Alert: machine.Alert{Name: "CapstanAbsent", Severity: machine.Warning, After: 15 * time.Minute, Summary: "Capstan's operator does not run, or cannot be scraped"},
	Doc:   "Prometheus gets no metrics of the operator. What is installed stays, and is neither repaired nor upgraded.",
}

// registerMetrics registers the metrics of all machines, once in a process.
var registerMetrics = sync.OnceValue(func() error {
	var problems []error
	for _, metric := range []prometheus.Collector{stateMetric, moveMetric, secondsMetric, attentionMetric} {
		problems = append(problems, metrics.Registry.Register(metric))
	}
	return errors.Join(problems...)
})

// meter counts a machine's moves, its instances by state, and those that need a human by alert.
type meter struct {
	sync.Mutex
	machine string
	states  map[machine.Key]machine.State
	calling map[machine.Key][]string
}

func newMeter(name string, states []machine.State, alerts []string) *meter {
	for _, state := range states {
		stateMetric.WithLabelValues(name, string(state)).Set(0)
	}
	for _, alert := range append(slices.Clone(alerts), Unfinished.Name) {
		attentionMetric.WithLabelValues(name, alert).Set(0)
	}
	return &meter{machine: name, states: map[machine.Key]machine.State{}, calling: map[machine.Key][]string{}}
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
	m.calls(p)
	return 0
}

// calls notes which alerts stand. A pass that has seen nothing takes back nothing.
func (m *meter) calls(p Pass) {
	m.Lock()
	defer m.Unlock()
	before := m.calling[p.Key]
	now := p.Calling
	if !p.Seen {
		now = slices.DeleteFunc(slices.Clone(before), func(alert string) bool { return alert == Unfinished.Name })
	}
	if p.Err != nil {
		now = append(slices.Clone(now), Unfinished.Name)
	}
	m.called(p.Key, now)
}

func (m *meter) called(key machine.Key, now []string) {
	for _, alert := range now {
		attentionMetric.WithLabelValues(m.machine, alert).Inc()
	}
	for _, alert := range m.calling[key] {
		attentionMetric.WithLabelValues(m.machine, alert).Dec()
	}
	m.calling[key] = now
	if len(now) == 0 {
		delete(m.calling, key)
	}
}

// Forget takes an instance out of the count.
func (m *meter) Forget(key machine.Key) {
	m.is(key, "")
	m.Lock()
	defer m.Unlock()
	m.called(key, nil)
}

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
