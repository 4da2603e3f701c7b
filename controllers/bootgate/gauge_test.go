package bootgate

import (
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	testclock "k8s.io/utils/clock/testing"
)

var clock = testclock.NewFakeClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))

func gauge(t *testing.T, labels ...string) float64 {
	t.Helper()
	var told dto.Metric
	if err := targetsMetric.WithLabelValues(labels...).Write(&told); err != nil {
		t.Fatal(err)
	}
	return told.GetGauge().GetValue()
}
