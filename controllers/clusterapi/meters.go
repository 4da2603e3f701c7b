package clusterapi

import (
	"context"
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

var (
	standingMetric = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "capstan_standing",
		Help: "How many objects need a look: retained objects, collisions, refused updates, contested fields, strays, objects that are left alone, and objects whose deletion waits for finalizers.",
	}, []string{"what"})
	objectsMetric = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "capstan_objects", Help: "Objects of the desired revision, all of them and those that are as they should be.",
	}, []string{"which"})
	pausedMetric = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "capstan_paused", Help: "all: 1 while an act pauses all that the machine clusterapi does, else 0; objects: how many objects an act leaves alone.",
	}, []string{"what"})
	actionMetric = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "capstan_object_actions_total", Help: "Changes made to managed objects, by action.",
	}, []string{"action"})
)

// registerMetrics registers the machine's own metrics, once in a process.
var registerMetrics = sync.OnceValue(func() error {
	return errors.Join(metrics.Registry.Register(standingMetric), metrics.Registry.Register(objectsMetric), metrics.Registry.Register(pausedMetric), metrics.Registry.Register(actionMetric))
})

// acted counts a change to a managed object.
func acted(action string) { actionMetric.WithLabelValues(action).Inc() }

// observe looks, and puts what stands into the metrics.
func observe(p *phases.Phases) func(context.Context, machine.Key) (guards.Facts, *phases.Pass, error) {
	return func(ctx context.Context, key machine.Key) (guards.Facts, *phases.Pass, error) {
		facts, pass, err := p.Observe(ctx, key)
		if err == nil {
			measure(facts, pass)
		}
		return facts, pass, err
	}
}

func measure(facts guards.Facts, pass *phases.Pass) {
	for _, notice := range table.Table.Notices {
		standingMetric.WithLabelValues(notice.Name).Set(float64(notice.Count(pass)))
	}
	objectsMetric.WithLabelValues("all").Set(float64(facts.Applied.Total))
	objectsMetric.WithLabelValues("done").Set(float64(facts.Applied.Done))
	paused := 0.0
	if guards.PauseStands.Answer(facts).Truth == machine.Yes {
		paused = 1
	}
	pausedMetric.WithLabelValues("all").Set(paused)
	pausedMetric.WithLabelValues("objects").Set(float64(len(pass.Display.LeftAlone)))
}
