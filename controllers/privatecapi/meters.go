package privatecapi

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// durations are in seconds.
var durationMetric = prometheus.NewHistogramVec(prometheus.HistogramOpts{
	Name: "hypershift_private_capi_migration_duration_seconds", Help: "How long moves took from lock to release, by how they ended.",
	Buckets: []float64{30, 60, 120, 300, 600, 900, 1800, 3600},
}, []string{"result"})

var (
	migratedMetric = prometheus.NewDesc("hypershift_private_capi_migrated_hosted_clusters_total", "How many HostedClusters have private Cluster API types.", nil, nil)
	pendingMetric  = prometheus.NewDesc("hypershift_private_capi_pending_hosted_clusters_total", "How many HostedClusters are still to be moved, without those that failed.", nil, nil)
	failedMetric   = prometheus.NewDesc("hypershift_private_capi_migration_failed_hosted_clusters_total", "How many HostedClusters have a failed move, by why it was undone.", []string{"failure_reason"}, nil)
	startMetric    = prometheus.NewDesc("hypershift_private_capi_migration_start_time", "When the move of a HostedCluster began that is under way, in seconds since 1970.", []string{"namespace", "name"}, nil)
	stateMetric    = prometheus.NewDesc("hypershift_private_capi_migration_state", "1 for the state that a HostedCluster is in.", []string{"namespace", "name", "state"}, nil)
)

// registerMetrics registers the machine's own metrics.
func registerMetrics(p *phases.Phases) error {
	return errors.Join(metrics.Registry.Register(durationMetric), metrics.Registry.Register(standing{p}))
}

// ended notes how long a move took.
func ended(c guards.Companion, long time.Duration) {
	result := "undone"
	if c.Stage == guards.Committed {
		result = "committed"
	}
	durationMetric.WithLabelValues(result).Observe(long.Seconds())
}

// standing tells how all HostedClusters stand when it is asked.
type standing struct{ of *phases.Phases }

// Describe names the metrics.
func (s standing) Describe(out chan<- *prometheus.Desc) {
	for _, one := range []*prometheus.Desc{migratedMetric, pendingMetric, failedMetric, startMetric, stateMetric} {
		out <- one
	}
}

// Collect counts.
func (s standing) Collect(out chan<- prometheus.Metric) {
	all, err := s.of.Standings(context.Background())
	if err != nil {
		return // what cannot be looked at is not told
	}
	migrated, pending := 0.0, 0.0
	failed := map[guards.Reason]float64{}
	for _, reason := range guards.Reasons() {
		failed[reason] = 0
	}
	for _, one := range all {
		namespace, name := phases.Split(one.Key)
		switch by := one.Marks.Owner().By; {
		case one.Marks.Failed != "":
			failed[known(one.Marks.Failed)]++
		case by == guards.New:
			migrated++
		default:
			pending++
		}
		if began := phases.Started(one.Marks.Companion); one.Marks.Locked() && !began.IsZero() {
			out <- prometheus.MustNewConstMetric(startMetric, prometheus.GaugeValue, float64(began.Unix()), namespace, name)
		}
		if one.State != "" {
			out <- prometheus.MustNewConstMetric(stateMetric, prometheus.GaugeValue, 1, namespace, name, string(one.State))
		}
	}
	out <- prometheus.MustNewConstMetric(migratedMetric, prometheus.GaugeValue, migrated)
	out <- prometheus.MustNewConstMetric(pendingMetric, prometheus.GaugeValue, pending)
	for reason, count := range failed {
		out <- prometheus.MustNewConstMetric(failedMetric, prometheus.GaugeValue, count, string(reason))
	}
}

// known is a reason that this programme gives: what somebody else has written is no label.
func known(reason guards.Reason) guards.Reason {
	for _, one := range guards.Reasons() {
		if one == reason {
			return reason
		}
	}
	return guards.AmbiguousState
}
