package openshiftcontrolplane

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/records"
)

var (
	totalMetric = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "capstan_install_total", Help: "Installations that came to an end, by result; of those that failed, reason is the state in which they did.",
	}, []string{"result", "reason"})
	probeMetric = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "capstan_install_guest_probe_seconds", Help: "How long the APIs of guests took to answer.",
		Buckets: []float64{0.01, 0.05, 0.1, 0.5, 1, 5, 10},
	})
	bootstrapMetric  = prometheus.NewDesc("capstan_install_bootstrap_age_seconds", "For how long a bootstrap Machine has been there.", []string{"namespace", "name"}, nil)
	kubeconfigMetric = prometheus.NewDesc("capstan_install_kubeconfig_expiry_seconds", "For how long the certificate in the kubeconfig of a cluster is still valid.", []string{"namespace", "name"}, nil)
)

// aheadMetric says what is left of the keys that were made ahead.
func aheadMetric(ahead func() int) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "capstan_install_keys_ahead", Help: "For how many clusters keys are made ahead.",
	}, func() float64 { return float64(ahead()) })
}

// meter is a store that notes what passes come to, on their way into the store. What it notes is lost with the process.
type meter struct {
	*phases.Store
	in  client.Reader
	now func() time.Time

	mu sync.Mutex
	// since is when the state was entered that a pass under way has loaded, expiry until when kubeconfigs are valid.
	since  map[machine.Key]time.Time
	expiry map[machine.Key]time.Time
}

// metered has a store tell its metrics, which are registered once in a process.
func metered(store *phases.Store, in client.Reader, now func() time.Time) (*meter, error) {
	m := &meter{Store: store, in: in, now: now, since: map[machine.Key]time.Time{}, expiry: map[machine.Key]time.Time{}}
	return m, errors.Join(metrics.Registry.Register(totalMetric), metrics.Registry.Register(probeMetric), metrics.Registry.Register(m))
}

// Load is the store's.
func (m *meter) Load(ctx context.Context, key machine.Key) (machine.Record, bool, error) {
	record, found, err := m.Store.Load(ctx, key)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.since[key] = record.Since
	return record, found, err
}

// Save is the store's, and counts installations that have ended with the move that it stores.
func (m *meter) Save(ctx context.Context, key machine.Key, s phases.Snapshot) (time.Duration, error) {
	later, err := m.Store.Save(ctx, key, s)
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.Facts.Kubeconfig.Known {
		m.expiry[key] = s.Facts.Kubeconfig.NotAfter
	}
	if err != nil || m.since[key].Equal(s.Record.Since) {
		return later, err
	}
	m.since[key] = s.Record.Since
	if result, reason := ended(s.Record); result != "" {
		totalMetric.WithLabelValues(result, reason).Inc()
	}
	return later, nil
}

// Forget is the store's.
func (m *meter) Forget(ctx context.Context, key machine.Key) (time.Duration, error) {
	m.mu.Lock()
	delete(m.since, key)
	delete(m.expiry, key)
	m.mu.Unlock()
	return m.Store.Forget(ctx, key)
}

// ended says how an installation came to its end, empty if it did not just now.
func ended(r machine.Record) (result, reason string) {
	switch {
	case r.State == guards.Failed:
		return "failed", string(r.CameFrom)
	case r.State == guards.Installed && r.CameFrom == guards.Settling:
		return "installed", ""
	case r.State == guards.Degraded && r.CameFrom == guards.Settling:
		return "degraded", ""
	}
	return "", ""
}

// Describe names the metrics that are counted when somebody asks.
func (m *meter) Describe(out chan<- *prometheus.Desc) {
	out <- bootstrapMetric
	out <- kubeconfigMetric
}

// Collect counts.
func (m *meter) Collect(out chan<- prometheus.Metric) {
	now := m.now()
	m.mu.Lock()
	for key, until := range m.expiry {
		if of := records.ObjectOf(key); !until.IsZero() {
			out <- prometheus.MustNewConstMetric(kubeconfigMetric, prometheus.GaugeValue, until.Sub(now).Seconds(), of.Namespace, of.Name)
		}
	}
	m.mu.Unlock()
	list := &clusterv1.MachineList{}
	if m.in.List(context.Background(), list, client.MatchingLabels{v1alpha1.RoleLabel: string(v1alpha1.BootstrapRole)}) != nil {
		return // what cannot be looked at is not told
	}
	for i := range list.Items {
		one := &list.Items[i]
		out <- prometheus.MustNewConstMetric(bootstrapMetric, prometheus.GaugeValue, now.Sub(one.CreationTimestamp.Time).Seconds(), one.Namespace, one.Name)
	}
}
