package clusterapi

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// value is what a gauge says now.
func value(t *testing.T, g prometheus.Gauge) float64 {
	t.Helper()
	var m dto.Metric
	if err := g.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetGauge().GetValue()
}

func TestMeasure_tells_of_a_pause_and_of_objects_that_are_left_alone_apart(t *testing.T) {
	left := []guards.LeftAlone{{Object: "Namespace a"}, {Object: "Namespace b", Differs: "metadata.labels.a"}}
	for _, row := range []struct {
		when         string
		pause        guards.Pause
		left         []guards.LeftAlone
		all, objects float64
	}{
		{"objects are left alone", guards.Pause{}, left, 0, 2},
		{"all is paused as well", guards.Pause{Stands: true}, left, 1, 2},
		{"all is paused, one object less is named", guards.Pause{Stands: true}, left[:1], 1, 1},
		{"neither stands any more", guards.Pause{}, nil, 0, 0},
	} {
		pass := &phases.Pass{Phases: &phases.Phases{}}
		pass.Display.LeftAlone = row.left
		measure(guards.Facts{Seen: true, ClusterAPI: true, Pause: row.pause}, pass)
		all, objects := value(t, pausedMetric.WithLabelValues("all")), value(t, pausedMetric.WithLabelValues("objects"))
		if all != row.all || objects != row.objects {
			t.Errorf("%s: all is %v, want %v, and objects %v, want %v", row.when, all, row.all, objects, row.objects)
		}
	}
}
