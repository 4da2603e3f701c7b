package status

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/capstan-capi/capstan/machine"
)

func TestPlain_tells_line_conditions_and_moves(t *testing.T) {
	table := machine.Table[int, int]{
		Name: "tides", Start: "Rising", Parts: []string{"TideController"},
		States: []machine.StateRow[int]{{
			Name: "Rising", Part: "TideController", Reads: machine.Reading{Progressing: true, Reason: machine.Progressing},
			Trouble: machine.Trouble{Terminal: machine.Reading{Degraded: true, Reason: machine.NonRetryableError}},
		}},
	}
	for name, row := range map[string]struct {
		record machine.Record
		want   string
	}{
		"at work": {
			machine.Record{State: "Rising", Since: noon, Reason: "the moon is late", Deadline: &machine.Deadline{At: noon.Add(time.Minute), To: "Ebbing"}},
			"TideControllerProgressing true Progressing Rising: the moon is late; since 2026-01-01 12:00:00Z; Ebbing at 2026-01-01 12:01:00Z, TideControllerDegraded false AsExpected ",
		},
		"with a terminal error": {
			machine.Record{State: "Rising", Since: noon.Add(-time.Hour), Failure: &machine.Failure{Terminal: true, Since: noon}},
			"TideControllerProgressing false NonRetryableError Rising; since 2026-01-01 12:00:00Z, TideControllerDegraded true NonRetryableError Rising; since 2026-01-01 12:00:00Z",
		},
	} {
		told := Plain(table, corev1.ObjectReference{Name: "x"})(machine.Snapshot[int, int]{Record: row.record, Moves: func() []machine.Candidate { return []machine.Candidate{{Event: "E", To: "T"}} }}, Stored{})
		var got []string
		for _, c := range told.Conditions {
			got = append(got, fmt.Sprint(c.Type, " ", c.Is, " ", c.Reason, " ", c.Message))
		}
		if text := strings.Join(got, ", "); text != row.want || told.About.Name != "x" {
			t.Errorf("%s: %s", name, text)
		}
		if !strings.Contains(string(told.Detail), `"moves":[{"event":"E","to":"T"`) || !strings.Contains(string(told.Detail), told.Line) {
			t.Errorf("%s: the detail is %s", name, told.Detail)
		}
	}
	if line := Line(machine.Record{State: "Rising", Since: noon, Reason: strings.Repeat("long ", 1000)}); len(line) > machine.MaxMessage || !strings.HasSuffix(line, "; since 2026-01-01 12:00:00Z") {
		t.Errorf("a line of %d bytes", len(line))
	}
}
