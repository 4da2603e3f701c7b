package openshiftconfig_test

import (
	"testing"

	guards "github.com/capstan-capi/capstan/guards/openshiftconfig"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/openshiftconfig"
	phases "github.com/capstan-capi/capstan/phases/openshiftconfig"
)

func paused(f guards.Facts) guards.Facts {
	f.Cluster.Paused = true
	return f
}

func TestConditions_tell_whether_a_machine_can_be_started(t *testing.T) {
	owned := guards.Facts{Seen: true, Machine: guards.Machine{Known: true, Name: "a"}, Cluster: guards.Cluster{Known: true, Name: "c"}}
	missing, ready, started := owned, owned, owned
	missing.Payload = guards.Payload{Known: true, Missing: "the payload is missing"}
	ready.Payload, ready.Secret = guards.Payload{Known: true, There: true}, guards.Secret{Known: true, There: true, Right: true}
	started.Machine.Node = "n"
	for name, row := range map[string]struct {
		record machine.Record
		facts  guards.Facts
		want   map[string]machine.Truth
		says   string
	}{
		"it waits": {
			machine.Record{State: guards.AwaitingPayload, Reason: "waiting"},
			missing,
			map[string]machine.Truth{table.Ready: machine.No, table.DataSecretAvailable: machine.No, table.Paused: machine.No},
			"the payload is missing",
		},
		"it is ready":                   {machine.Record{State: guards.Ready}, ready, map[string]machine.Truth{table.Ready: machine.Yes, table.DataSecretAvailable: machine.Yes}, "the data Secret of OpenShiftConfig  is as it should be"},
		"it was started":                {machine.Record{State: guards.Frozen}, started, map[string]machine.Truth{table.Ready: machine.Yes, table.DataSecretAvailable: machine.Yes}, ""},
		"it was started, and is paused": {machine.Record{State: guards.Paused}, paused(started), map[string]machine.Truth{table.Ready: machine.Yes, table.Paused: machine.Yes}, ""},
		"it is paused before":           {machine.Record{State: guards.Paused}, paused(missing), map[string]machine.Truth{table.Ready: machine.No, table.Paused: machine.Yes}, "the payload is missing"},
		"nothing was seen": {
			machine.Record{State: guards.Pending},
			guards.Facts{},
			map[string]machine.Truth{table.Ready: machine.No, table.DataSecretAvailable: machine.Unknown, table.Paused: machine.Unknown},
			"the OpenShiftConfig has not been looked at yet",
		},
	} {
		got := map[string]phases.Condition{}
		for _, c := range table.Conditions(phases.Snapshot{Record: row.record, Facts: row.facts}) {
			got[c.Type] = c
		}
		for condition, want := range row.want {
			if got[condition].Is != want || got[condition].Reason == "" {
				t.Errorf("%s: %s is %+v, want %s", name, condition, got[condition], want)
			}
		}
		if says := got[table.DataSecretAvailable].Message; says != row.says {
			t.Errorf("%s: it says %q", name, says)
		}
	}
	failed := phases.Snapshot{Record: machine.Record{State: guards.Failed, Failure: &machine.Failure{Message: "it is not valid"}}, Facts: owned}
	if c := table.Conditions(failed)[0]; c.Type != table.Ready || c.Message != "it is not valid" {
		t.Errorf("of a failure it says %+v", c)
	}
}
