package privatecapi

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/phases/privatecapi/simulated"
)

// told are the values of the metrics, by name and label values.
func told(t *testing.T, of prometheus.Collector) map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	if err := registry.Register(of); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			key := family.GetName()
			for _, label := range metric.GetLabel() {
				key += " " + label.GetValue()
			}
			values[key] = metric.GetGauge().GetValue()
		}
	}
	return values
}

func TestMetrics_count_hosted_clusters_by_their_marks(t *testing.T) {
	w := simulated.New()
	for name, annotations := range map[string]map[string]string{
		"moved": {guards.PrivateTypesAnnotation: "true"}, "old": {guards.ScopeAnnotation: guards.ScopeLegacy},
		"failed": {guards.ScopeAnnotation: guards.ScopeLegacy, guards.FailedAnnotation: string(guards.ScaleUpTimeout)},
		"odd":    {guards.FailedAnnotation: "because"},
		"moving": {guards.MigrationAnnotation: "true", guards.CompanionAnnotation: guards.Companion{
			ID: guards.MigrationID("us", "20260101T120000Z", guards.ToPrivate), Direction: guards.ToPrivate, Stage: guards.Moving,
		}.Text()},
	} {
		key := w.AddEmpty(name)
		for annotation, value := range annotations {
			w.Annotate(key, annotation, value)
		}
	}
	values := told(t, standing{w.Phases()})
	for key, want := range map[string]float64{
		"hypershift_private_capi_migrated_hosted_clusters_total":                          1,
		"hypershift_private_capi_pending_hosted_clusters_total":                           2,
		"hypershift_private_capi_migration_failed_hosted_clusters_total scale-up-timeout": 1,
		"hypershift_private_capi_migration_failed_hosted_clusters_total ambiguous-state":  1,
		"hypershift_private_capi_migration_failed_hosted_clusters_total reverted":         0,
		"hypershift_private_capi_migration_start_time moving clusters":                    float64(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).Unix()),
	} {
		if got, is := values[key]; !is || got != want {
			t.Errorf("%s is %v, not %v; all are %v", key, got, want, values)
		}
	}
}
