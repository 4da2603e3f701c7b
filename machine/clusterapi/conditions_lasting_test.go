package clusterapi_test

import (
	"strings"
	"testing"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
)

func TestConditions_what_is_retained_blocks_no_upgrade_and_is_told(t *testing.T) {
	d := guards.Display{Attempted: true, Retained: []guards.RetainedObject{{Object: "CustomResourceDefinition as.test", Why: "holds 2 instances", Count: 2}}}
	c := table.Conditions(shot(machine.Record{State: table.Installed}, guards.Facts{DesiredNumber: 2, CurrentNumber: 2, OlderSeen: true}, d))[5]
	want := "kept for the data in them: CustomResourceDefinition as.test (holds 2 instances); delete the data, or consent to lose it: capstan consent"
	if !c.Is || c.Unsure || c.Reason != machine.AsExpected || c.Message != want {
		t.Errorf("got  %+v\nwant %s", c, want)
	}
}

func TestConditions_upgradeable_asks_to_repair_what_keeps_data_from_being_counted(t *testing.T) {
	const untold = "holds what nobody can tell, because secrets cannot be read: refused"
	for name, row := range map[string]struct {
		retained []guards.RetainedObject
		asks     string
	}{
		"data that is counted": {[]guards.RetainedObject{{Object: "Namespace a", Why: "holds 1 object", Count: 1}}, "; delete the data, or consent to lose it: capstan consent"},
		"data that is not, of one object of two": {
			[]guards.RetainedObject{{Object: "Namespace a", Why: "holds 1 object", Count: 1}, {Object: "Namespace b", Why: untold}},
			"; delete the data, or repair what keeps it from being counted, or consent to lose it: capstan consent",
		},
		"data that nobody counts":              {[]guards.RetainedObject{{Object: "Namespace b", Why: untold}}, "; delete the data, or repair what keeps it from being counted"},
		"an object that was not looked at yet": {[]guards.RetainedObject{{Object: "Namespace a"}}, "; delete the data, or consent to lose it: capstan consent"},
	} {
		d := guards.Display{Retained: row.retained}
		c := table.Conditions(shot(machine.Record{State: table.Installed}, guards.Facts{DesiredNumber: 2, CurrentNumber: 2}, d))
		if got := c[len(c)-1].Message; !strings.HasSuffix(got, row.asks) {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

func TestConditions_an_error_that_lasts_is_Degraded_in_every_state(t *testing.T) {
	lasting := map[machine.Event]machine.Standing{machine.Event(guards.InputsUnplannable.Name): {Since: noon, Lasted: true}}
	away := guards.Facts{Seen: true, DesiredNumber: 2, CurrentNumber: 1, Planning: "the registry is away", Unplannable: true}
	for _, row := range table.Table.States {
		failure := &machine.Failure{Message: "the registry is away", Part: table.RevisionController, Since: noon}
		for name, record := range map[string]machine.Record{
			"beside the work":          {State: row.Name, CameFrom: table.Planning, Beside: lasting},
			"with an error since then": {State: row.Name, CameFrom: table.Planning, Beside: lasting, Failure: failure, Reason: failure.Message},
		} {
			if c := table.Conditions(shot(record, away, guards.Display{DesiredName: "4.22.6-b-2"}))[1]; !c.Is || record.Failure != nil && !strings.Contains(c.Message, "the registry is away") {
				t.Errorf("%s, %s: got %+v", row.Name, name, c)
			}
		}
	}
}
