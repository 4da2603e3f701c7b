package house

import (
	"errors"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"github.com/capstan-capi/capstan/machine"
)

func TestMeter_counts_who_needs_a_human_until_that_is_seen_to_be_over(t *testing.T) {
	m := newMeter("doors", []machine.State{"Open"}, []string{"CapstanStuck", "CapstanCold"})
	count := func(alert string) float64 {
		var value dto.Metric
		if err := attentionMetric.WithLabelValues("doors", alert).Write(&value); err != nil {
			t.Fatal(err)
		}
		return value.GetGauge().GetValue()
	}
	for _, row := range []struct {
		what                    string
		pass                    Pass
		stuck, cold, unfinished float64
	}{
		{"nothing stands", Pass{Key: "a", Seen: true}, 0, 0, 0},
		{"one stands", Pass{Key: "a", Seen: true, Calling: []string{"CapstanStuck"}}, 1, 0, 0},
		{"of another instance two", Pass{Key: "b", Seen: true, Calling: []string{"CapstanStuck", "CapstanCold"}}, 2, 1, 0},
		{"a pass has seen nothing", Pass{Key: "b", Err: errors.New("away")}, 2, 1, 1},
		{"again", Pass{Key: "b", Err: errors.New("away")}, 2, 1, 1},
		{"one was seen and not stored", Pass{Key: "b", Seen: true, Calling: []string{"CapstanCold"}, Err: errors.New("away")}, 1, 1, 1},
		{"all is over", Pass{Key: "b", Seen: true}, 1, 0, 0},
	} {
		m.Tell(t.Context(), row.pass)
		if count("CapstanStuck") != row.stuck || count("CapstanCold") != row.cold || count(Unfinished.Name) != row.unfinished {
			t.Errorf("%s: %v, %v and %v", row.what, count("CapstanStuck"), count("CapstanCold"), count(Unfinished.Name))
		}
	}
	m.Forget("a")
	if count("CapstanStuck") != 0 || len(m.calling) != 0 {
		t.Error("an instance that is gone is counted")
	}
}
