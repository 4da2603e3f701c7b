package bootgate

import (
	"context"
	"errors"
	"sync"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	guards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/bootgate"
)

var (
	targetsMetric = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "capstan_boot_image_targets", Help: "How many objects that machines are made from are in a state of the machine bootimage.",
	}, []string{"api", "kind", "state"})
	skewMetric = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "capstan_boot_image_skew", Help: "How the age of boot images is watched: 1 for the mode, and 0 for the others.",
	}, []string{"mode"})
)

var modes = []operatorv1.BootImageSkewEnforcementModeStatus{
	operatorv1.BootImageSkewEnforcementModeStatusAutomatic, operatorv1.BootImageSkewEnforcementModeStatusManual, operatorv1.BootImageSkewEnforcementModeStatusNone,
}

// registerMetrics registers the machine's own metrics, once in a process.
var registerMetrics = sync.OnceValue(func() error {
	return errors.Join(metrics.Registry.Register(targetsMetric), metrics.Registry.Register(skewMetric))
})

// observe looks, and puts what stands into the metrics.
func observe(p *phases.Phases) func(context.Context, machine.Key) (guards.Facts, *phases.Pass, error) {
	counted := map[phases.Place]bool{}
	return func(ctx context.Context, key machine.Key) (guards.Facts, *phases.Pass, error) {
		facts, pass, err := p.Observe(ctx, key)
		if err == nil {
			measure(pass, counted)
		}
		return facts, pass, err
	}
}

// measure counts targets; a place that is empty now stays, with 0.
func measure(pass *phases.Pass, counted map[phases.Place]bool) {
	now := pass.Places()
	for place := range now {
		counted[place] = true
	}
	for place := range counted {
		targetsMetric.WithLabelValues(place.API, place.Kind, string(place.State)).Set(float64(now[place]))
	}
	for _, mode := range modes {
		value := 0.0
		if pass.Enforced.Mode == mode {
			value = 1
		}
		skewMetric.WithLabelValues(string(mode)).Set(value)
	}
}
