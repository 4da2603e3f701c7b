package openshiftcontrolplane_test

import (
	"strings"
	"testing"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/openshiftcontrolplane"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

// says are the conditions of a snapshot, by type.
func says(s phases.Snapshot) map[string]phases.Condition {
	all := map[string]phases.Condition{}
	for _, c := range table.Conditions(s) {
		all[c.Type] = c
	}
	return all
}

func TestConditions_tell_of_an_installed_cluster(t *testing.T) {
	all := guards.Tally{Known: true, Done: 3, Wanted: 3}
	s := phases.Snapshot{Record: machine.Record{State: guards.Installed}, Facts: guards.Facts{
		Seen: true, Cluster: guards.Cluster{Known: true, Name: "a"}, Marks: guards.Marks{Inputs: "d", Bootstrap: "u", Initialized: true, Finished: true},
		Inputs: guards.Inputs{Known: true, Digest: "e"}, Bootstrap: guards.Bootstrap{Known: true, Removal: all},
		Payload: guards.Payload{Roles: guards.Tally{Known: true, Done: 1, Wanted: 2, Missing: []string{"that of role worker"}}},
		Guest:   guards.Guest{API: true, Known: true, Operators: all, Etcd: guards.Etcd{Known: true}}, Certificates: all, Kubeconfig: guards.Kubeconfig{Known: true, There: true},
	}}
	got := says(s)
	for condition, want := range map[string]machine.Truth{
		table.Available: machine.Yes, table.Initialized: machine.Yes, table.Deleting: machine.No, table.Paused: machine.No, table.InputsValid: machine.Yes,
		table.InputsDrifted: machine.Yes, table.BootstrapComplete: machine.Yes, table.BootstrapRemoved: machine.Yes, table.OperatorsAvailable: machine.Yes,
		table.KubeconfigAvailable: machine.Yes, table.CertificatesAvailable: machine.Yes, table.EtcdClusterHealthy: machine.Yes,
		table.IgnitionAvailable: machine.No,
		table.Remediating:       machine.No,
	} {
		if c, told := got[condition]; !told || c.Is != want || c.Reason == "" {
			t.Errorf("%s is %+v, want %s", condition, c, want)
		}
	}
	s.Record.State = guards.Remediating
	s.Facts.Guest.Operators = guards.Tally{Known: true, Done: 1, Wanted: 5, Missing: []string{"a", "b", "c", "d"}}
	got = says(s)
	if c := got[table.Available]; c.Is != machine.No || c.Reason != "NotAvailable" || got[table.Remediating].Is != machine.Yes {
		t.Errorf("available is %+v, remediating %+v", c, got[table.Remediating])
	}
	if c := got[table.OperatorsAvailable]; c.Message != "1 of 5 of the guest's operators are available, not a, b, c and 1 more" {
		t.Errorf("the worst three are told as %q", c.Message)
	}
}

func TestConditions_of_what_was_not_seen_are_Unknown(t *testing.T) {
	for condition, c := range says(phases.Snapshot{}) {
		if condition != table.Remediating && condition != table.RollingOut && (c.Is != machine.Unknown || c.Reason != condition+"Unknown") {
			t.Errorf("%s is %+v", condition, c)
		}
	}
}

func TestConditions_inputs_that_go_once_they_are_frozen_stay_valid(t *testing.T) {
	broken := phases.Snapshot{Facts: guards.Facts{Seen: true, Inputs: guards.Inputs{Problems: []string{"Secret a is missing"}}}}
	if c := says(broken)[table.InputsValid]; c.Is != machine.No || c.Message == "" {
		t.Errorf("before they are frozen: %+v", c)
	}
	broken.Facts.Marks.Inputs = "d"
	if c := says(broken)[table.InputsValid]; c.Is != machine.Yes {
		t.Errorf("once they are frozen: %+v", c)
	}
}

func TestConditions_a_payload_that_the_installer_has_not_made_is_told_with_its_log(t *testing.T) {
	s := phases.Snapshot{Facts: guards.Facts{Seen: true, Payload: guards.Payload{Roles: guards.Tally{Known: true, Wanted: 3}, Log: "no such region"}}}
	if c := says(s)[table.IgnitionAvailable]; c.Is != machine.No || !strings.Contains(c.Tail, "no such region") {
		t.Errorf("it says %+v", c)
	}
	s.Facts.Payload.Roles.Done = 3
	if c := says(s)[table.IgnitionAvailable]; c.Is != machine.Yes || c.Tail != "" {
		t.Errorf("once it is made: %+v", c)
	}
}
