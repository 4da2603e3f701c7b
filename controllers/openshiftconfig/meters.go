package openshiftconfig

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/capstan-capi/capstan/api/v1alpha1"
)

var bytesMetric = prometheus.NewHistogramVec(prometheus.HistogramOpts{
	Name: "capstan_install_ignition_bytes", Help: "How large Ignition configs are that machines are started with.",
	Buckets: []float64{1 << 10, 16 << 10, 128 << 10, 512 << 10, 768 << 10, 1 << 20},
}, []string{"role"})

// published notes how large a config is.
func published(role v1alpha1.Role, size int) {
	bytesMetric.WithLabelValues(string(role)).Observe(float64(size))
}
