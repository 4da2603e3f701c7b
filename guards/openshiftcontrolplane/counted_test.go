package openshiftcontrolplane_test

import (
	"testing"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

func TestCounts_tell_how_Machines_stand(t *testing.T) {
	const yes, no, unknown = machine.Yes, machine.No, machine.Unknown
	for name, row := range map[string]struct {
		counts                    guards.Counts
		deleting                  bool
		ready, upToDate, up, down machine.Truth
	}{
		"not counted":            {guards.Counts{}, false, unknown, unknown, unknown, unknown},
		"none yet":               {guards.Counts{Known: true}, false, unknown, unknown, yes, no},
		"all as they should be":  {guards.Counts{Known: true, Replicas: 3, Ready: 3, UpToDate: 3}, false, yes, yes, no, no},
		"one is not ready":       {guards.Counts{Known: true, Replicas: 3, Ready: 2, UpToDate: 3}, false, no, yes, no, no},
		"one is not up to date":  {guards.Counts{Known: true, Replicas: 3, Ready: 3, UpToDate: 2}, false, yes, no, no, no},
		"one too many":           {guards.Counts{Known: true, Replicas: 4, Ready: 4, UpToDate: 4}, false, yes, yes, no, yes},
		"all go with the object": {guards.Counts{Known: true, Replicas: 1, Ready: 1, UpToDate: 1}, true, yes, yes, no, yes},
	} {
		f := guards.Facts{Seen: true, Object: guards.Object{Replicas: 3, Deleting: row.deleting}, Counts: row.counts}
		for guard, want := range map[*machine.Guard[guards.Facts]]machine.Truth{
			&guards.MachinesAreReady: row.ready, &guards.MachinesAreUpToDate: row.upToDate, &guards.IsScalingUp: row.up, &guards.IsScalingDown: row.down,
		} {
			if got := guard.Answer(f); got.Truth != want {
				t.Errorf("%s: %s is %s (%s), want %s", name, guard.Name, got.Truth, got.Reason, want)
			}
		}
	}
}
