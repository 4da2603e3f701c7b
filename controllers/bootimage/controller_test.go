package bootimage

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	testclock "k8s.io/utils/clock/testing"

	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/bootimage"
	phases "github.com/capstan-capi/capstan/phases/bootimage"
	"github.com/capstan-capi/capstan/phases/events"
)

// Events tell what somebody has to know of one target; of the others the gate tells, of all together.
func TestWords_Events_tell_of_hot_loops_failures_and_skips(t *testing.T) {
	loud := map[machine.State]bool{table.HotLoop: true, table.Failed: true, table.Skipped: true}
	for _, row := range table.Table.States {
		t.Run(string(row.Name), func(t *testing.T) {
			w := words("machinesets.cluster.x-k8s.io/a", phases.Snapshot{Record: machine.Record{State: row.Name}, Seen: &phases.Pass{}})
			if w.Quiet == loud[row.Name] {
				t.Errorf("quiet is %v", w.Quiet)
			}
		})
	}
}

func TestTold_twenty_Events_a_minute_tell_of_targets(t *testing.T) {
	clock, sent := testclock.NewFakePassiveClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)), 0
	tell := limited(clock, logr.Discard()).Through(func(events.Event) { sent++ })
	for _, want := range []int{20, 40} {
		for range 30 {
			tell(events.Event{})
		}
		if sent != want {
			t.Errorf("%d were told, want %d", sent, want)
		}
		clock.SetTime(clock.Now().Add(time.Minute))
	}
}
