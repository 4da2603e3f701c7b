package openshiftcontrolplane

import "github.com/prometheus/client_golang/prometheus"

var probeMetric = prometheus.NewHistogram(prometheus.HistogramOpts{
	Name: "capstan_install_guest_probe_seconds", Help: "How long the APIs of guests took to answer.",
	Buckets: []float64{0.01, 0.05, 0.1, 0.5, 1, 5, 10},
})
