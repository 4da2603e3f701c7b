package clusterapi_test

import (
	"strings"
	"testing"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
)

func TestDegraded_knows_what_the_moves_of_the_state_it_came_from_answer(t *testing.T) {
	listed := guards.Facts{Seen: true, ClusterAPI: true, Inputs: "x", Planned: "a", Desired: "a", DesiredNumber: 2, SpecObserved: true, OlderSeen: true, Applied: guards.Applied{Known: true}}
	with := func(change func(*guards.Facts)) guards.Facts {
		f := listed
		change(&f)
		return f
	}
	for name, row := range map[string]struct {
		from  machine.State
		guard machine.Guard[guards.Facts]
		facts guards.Facts
		want  machine.Truth
		says  string
	}{
		"an image is still not there": {
			table.Planning, guards.ProgressIsMade, with(func(f *guards.Facts) { f.Planned, f.Planning = "", "being fetched" }), machine.No, "being fetched",
		},
		"what the inputs ask for is listed": {table.Planning, guards.ProgressIsMade, listed, machine.Yes, "progress"},
		"what the inputs ask for cannot be listed, the list is full": {
			table.Planning, guards.ProgressIsMade, with(func(f *guards.Facts) { f.Desired, f.Listed = "b", 16 }), machine.Yes, "progress",
		},
		"what the inputs ask for is not listed yet": {table.Planning, guards.InputChanged, with(func(f *guards.Facts) { f.Desired = "b" }), machine.No, ""},
		"the inputs cannot be planned and a rollout is under way": {
			table.Planning, guards.InputChanged, with(func(f *guards.Facts) { f.Planned, f.Unplannable = "", true }), machine.Yes, "cannot be planned",
		},
		"a wave waits":   {table.Applying, guards.ProgressIsMade, with(func(f *guards.Facts) { f.Applied.Why = "wave 2/3 waits" }), machine.No, "wave 2/3 waits"},
		"all is applied": {table.Applying, guards.ProgressIsMade, with(func(f *guards.Facts) { f.Applied.Complete = true }), machine.Yes, "progress"},
		"the list that was rolled out is lost": {
			table.Applying, guards.InputChanged, with(func(f *guards.Facts) { f.Desired, f.DesiredNumber = "", 0 }), machine.Yes, "no revision is listed",
		},
		"an orphan is still there": {
			table.Pruning, guards.ProgressIsMade, with(func(f *guards.Facts) {
				f.CurrentNumber, f.Orphans = 2, guards.Orphans{Known: true, Left: 1, Why: "in use"}
			}), machine.No, "in use",
		},
		"nothing is left to prune": {
			table.Pruning, guards.ProgressIsMade, with(func(f *guards.Facts) { f.CurrentNumber, f.Orphans.Known = 2, true }), machine.Yes, "progress",
		},
		"what was pruned for is not current": {table.Pruning, guards.InputChanged, listed, machine.Yes, "no revision is current"},
		"the installed list is disturbed": {
			table.Installed, guards.InputChanged, with(func(f *guards.Facts) { f.CurrentNumber, f.Older = 2, 1 }), machine.Yes, "older revisions left",
		},
		"the installed list is as it was":          {table.Installed, guards.InputChanged, with(func(f *guards.Facts) { f.CurrentNumber = 2 }), machine.No, ""},
		"nobody knows where the machine came from": {"", guards.InputChanged, listed, machine.Yes, "does not name the state"},
	} {
		t.Run(name, func(t *testing.T) {
			record := machine.Record{State: table.Degraded, CameFrom: row.from, LastEvent: guards.ProgressStalled, Entry: machine.Entry{Inputs: "x"}}
			got := row.guard.Answer(table.Table.Recalled(row.facts, record))
			if got.Truth != row.want || !strings.Contains(got.Reason, row.says) {
				t.Errorf("answers %s (%q), want %s with %q", got.Truth, got.Reason, row.want, row.says)
			}
		})
	}
}
