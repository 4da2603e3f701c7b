package clusterapi

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
)

var (
	stateMetric = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "capstan_machine_state", Help: "1 for the state that a machine is in, 0 for the others.",
	}, []string{"machine", "state"})
	moveMetric = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "capstan_machine_moves_total", Help: "Moves made by a machine, by event.",
	}, []string{"machine", "event"})
)

// show puts the outcome of a pass into the metrics, and an error into the log.
func show(ctx context.Context, outcome machine.Outcome) {
	for _, row := range table.Table.States {
		is := 0.0
		if row.Name == outcome.State {
			is = 1
		}
		stateMetric.WithLabelValues(table.Table.Name, string(row.Name)).Set(is)
	}
	if outcome.Failure != nil {
		log.FromContext(ctx).Info("the work met an error", "state", outcome.State, "work", outcome.Did,
			"error", outcome.Failure.Error(), "forGood", machine.IsTerminal(outcome.Failure))
	}
}

// moved puts every transition into log and metrics.
func moved(mgr ctrl.Manager) func(machine.Transition) {
	logger := mgr.GetLogger().WithName(table.Table.Name)
	return func(t machine.Transition) {
		logger.Info("moved", "from", t.From, "event", t.Event, "state", t.To, "cause", t.Cause, "after", t.Seconds)
		moveMetric.WithLabelValues(table.Table.Name, string(t.Event)).Inc()
		secondsMetric.WithLabelValues(table.Table.Name, string(t.From)).Observe(t.Seconds)
	}
}
