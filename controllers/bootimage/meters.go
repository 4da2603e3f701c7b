package bootimage

import (
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	writesMetric = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "capstan_boot_image_writes_total", Help: "How many boot images were sent, by what came of it: written, conflict or refused.",
	}, []string{"result"})
	hotLoopsMetric = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "capstan_boot_image_hot_loops_total", Help: "How often something did not keep the boot image that it was given three times.",
	})
)

// registerMetrics registers the machine's own metrics, once in a process.
var registerMetrics = sync.OnceValue(func() error {
	return errors.Join(metrics.Registry.Register(writesMetric), metrics.Registry.Register(hotLoopsMetric))
})

func wrote(result string) { writesMetric.WithLabelValues(result).Inc() }
