package clusterapi

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
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

// show puts the outcome of a pass into metrics and log; failed says that the
// pass could not be made, or not be stored. A message that was logged last is
// not logged again before another one, or a pass without an error.
func (r *Reconciler) show(ctx context.Context, outcome machine.Outcome, failed error) {
	for _, row := range table.Table.States {
		is := 0.0
		if row.Name == outcome.State {
			is = 1
		}
		stateMetric.WithLabelValues(table.Table.Name, string(row.Name)).Set(is)
	}
	logger := log.FromContext(ctx)
	if made := outcome.Moved; made != nil {
		logger.Info("moved", "from", made.From, "event", made.Event, "state", made.To, "cause", made.Cause, "after", made.Seconds)
		moveMetric.WithLabelValues(table.Table.Name, string(made.Event)).Inc()
		secondsMetric.WithLabelValues(table.Table.Name, string(made.From)).Observe(made.Seconds)
	}
	message, err := "", failed
	switch {
	case failed != nil:
		message = "The pass could not be made"
	case outcome.Failure != nil:
		message, err = "The work met an error", outcome.Failure
	}
	if err == nil {
		r.logged = ""
		return
	}
	text := fmt.Sprint(message, outcome.State, err)
	if text == r.logged {
		return
	}
	r.logged = text
	logger.Info(message, "state", outcome.State, "work", outcome.Work, "error", err.Error(), "terminal", machine.IsTerminal(err))
}
