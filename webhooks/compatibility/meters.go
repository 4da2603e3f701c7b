package compatibility

import (
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

var (
	deniedMetric = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "capstan_webhook_denied_total", Help: "Requests that the checker refused, dry runs left out.",
	}, []string{"endpoint"})
	warnedMetric = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "capstan_webhook_warned_total", Help: "Requests that the checker warned of, dry runs left out.",
	}, []string{"endpoint"})
	prunedMetric = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "capstan_webhook_pruned_total", Help: "Objects from which the checker took unknown fields, dry runs left out.",
	}, []string{"endpoint"})
	panicMetric = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "capstan_webhook_panics_total", Help: "Judgements of the checker that ended in a panic.",
	}, []string{"endpoint"})
	secondsMetric = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "capstan_webhook_seconds", Help: "How long the checker took to answer.",
		Buckets: []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10},
	}, []string{"endpoint"})
)

// registerMetrics registers the metrics once in a process.
var registerMetrics = sync.OnceValue(func() error {
	var problems []error
	for _, metric := range []prometheus.Collector{deniedMetric, warnedMetric, prunedMetric, panicMetric, secondsMetric} {
		problems = append(problems, metrics.Registry.Register(metric))
	}
	return errors.Join(problems...)
})

func count(endpoint string, c call, response admission.Response, took time.Duration) {
	secondsMetric.WithLabelValues(endpoint).Observe(took.Seconds())
	if ptr.Deref(c.DryRun, false) {
		return
	}
	if !response.Allowed {
		deniedMetric.WithLabelValues(endpoint).Inc()
	}
	if len(response.Warnings) > 0 {
		warnedMetric.WithLabelValues(endpoint).Inc()
	}
	if len(response.Patches) > 0 {
		prunedMetric.WithLabelValues(endpoint).Inc()
	}
}
