package conversion

import (
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// labels tell what was asked for and which route it took, none where the shim answers by itself.
var labels = []string{"endpoint", "route"}

var (
	requestsMetric = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "hypershift_conversion_webhook_requests_total", Help: "Reviews that the shim was sent.",
	}, labels)
	errorsMetric = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "hypershift_conversion_webhook_errors_total", Help: "Reviews that were not converted, or for whose admission nobody could be asked.",
	}, append([]string{"reason"}, labels...))
	durationMetric = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "hypershift_conversion_webhook_duration_seconds", Help: "How long the shim took to answer, whoever it asked.",
		Buckets: []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
	}, labels)
)

// registerMetrics registers the metrics once in a process.
var registerMetrics = sync.OnceValue(func() error {
	return errors.Join(metrics.Registry.Register(requestsMetric), metrics.Registry.Register(errorsMetric), metrics.Registry.Register(durationMetric))
})

func count(endpoint, route string, wrong *failure, took time.Duration) {
	requestsMetric.WithLabelValues(endpoint, route).Inc()
	durationMetric.WithLabelValues(endpoint, route).Observe(took.Seconds())
	if wrong != nil {
		errorsMetric.WithLabelValues(string(wrong.reason), endpoint, route).Inc()
	}
}
