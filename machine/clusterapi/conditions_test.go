package clusterapi_test

import (
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// shot is a snapshot after a pass.
func shot(r machine.Record, f guards.Facts, d guards.Display) phases.Snapshot {
	return phases.Snapshot{Record: r, Facts: f, Seen: &phases.Pass{Display: d}}
}

// told is one line per condition: type, status, reason.
func told(s phases.Snapshot) string {
	var lines []string
	for _, c := range table.Conditions(s) {
		status := "False"
		if c.Is {
			status = "True"
		}
		lines = append(lines, strings.Join([]string{c.Type, status, c.Reason}, " "))
	}
	return strings.Join(lines, "\n")
}

func TestConditions_in_every_state(t *testing.T) {
	installed := guards.Facts{OlderSeen: true, CurrentNumber: 1, DesiredNumber: 1}
	ephemeral := &machine.Failure{Message: "the registry is away", Since: noon}
	keeping := &machine.Failure{Message: "the registry is away", Part: table.InstallerController, Since: noon}
	planning := &machine.Failure{Message: "the registry is away", Part: table.RevisionController, Since: noon}
	forGood := &machine.Failure{Message: "by tag", Terminal: true, Since: noon}
	for name, row := range map[string]struct {
		record machine.Record
		facts  guards.Facts
		shown  guards.Display
		want   string
	}{
		"a new cluster waits for its platform": {
			machine.Record{State: table.WaitingOnInfra},
			guards.Facts{Seen: true},
			guards.Display{},
			`RevisionControllerProgressing True WaitingOnExternal
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing False Uninitialized
InstallerControllerDegraded False AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"planning the first revision": {
			machine.Record{State: table.Planning},
			guards.Facts{Seen: true},
			guards.Display{},
			`RevisionControllerProgressing True Progressing
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing False Uninitialized
InstallerControllerDegraded False AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"planning meets an error that may heal": {
			machine.Record{State: table.Planning, Failure: ephemeral},
			installed,
			guards.Display{},
			`RevisionControllerProgressing True EphemeralError
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing False AsExpected
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"a terminal error degrades at once": {
			machine.Record{State: table.Planning, Failure: forGood},
			installed,
			guards.Display{},
			`RevisionControllerProgressing False NonRetryableError
RevisionControllerDegraded True NonRetryableError
InstallerControllerProgressing False AsExpected
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"applying": {
			machine.Record{State: table.Applying},
			installed,
			guards.Display{},
			`RevisionControllerProgressing False AsExpected
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing True Progressing
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"applying while the next revision cannot be planned for now": {
			machine.Record{State: table.Applying},
			guards.Facts{Seen: true, Planning: "the registry is away", Unplannable: true, CurrentNumber: 1},
			guards.Display{},
			`RevisionControllerProgressing True EphemeralError
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing True Progressing
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"pruning while planning the next revision meets a terminal error": {
			machine.Record{State: table.Pruning},
			guards.Facts{Seen: true, Planning: "by tag", Unplannable: true, PlanTerminal: true, CurrentNumber: 2},
			guards.Display{},
			`RevisionControllerProgressing False NonRetryableError
RevisionControllerDegraded True NonRetryableError
InstallerControllerProgressing True Progressing
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"definitions that others install are waited for": {
			machine.Record{State: table.AwaitingCRDs},
			guards.Facts{Seen: true, CurrentNumber: 1, DesiredNumber: 2, Unmanaged: []string{"a.b.c"}, RequirementsKnown: true, Requirements: []guards.Requirement{{Name: "r", Absent: "does not exist yet"}}},
			guards.Display{},
			`RevisionControllerProgressing False AsExpected
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing True WaitingOnExternal
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable False WaitingOnExternal`,
		},
		"a foreign object in the way": {
			machine.Record{State: table.Applying, Failure: ephemeral},
			guards.Facts{CurrentNumber: 1},
			guards.Display{Collisions: []guards.Collision{{Object: "ConfigMap a/b", Holder: "somebody"}}},
			`RevisionControllerProgressing False AsExpected
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing True EphemeralError
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable False EphemeralError`,
		},
		"installed": {
			machine.Record{State: table.Installed},
			installed,
			guards.Display{},
			`RevisionControllerProgressing False AsExpected
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing False AsExpected
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"installed, with objects kept for their data": {
			machine.Record{State: table.Installed},
			guards.Facts{CurrentNumber: 1},
			guards.Display{Retained: []guards.RetainedObject{{Object: "a CRD", Why: "holds 2 instances"}}},
			`RevisionControllerProgressing False AsExpected
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing False AsExpected
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"installed, but the next revision cannot be planned": {
			machine.Record{State: table.Installed, Failure: planning},
			guards.Facts{Seen: true, Planning: "the registry is away", Unplannable: true, CurrentNumber: 1},
			guards.Display{},
			`RevisionControllerProgressing True EphemeralError
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing False AsExpected
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"degraded by a rollout that stands still": {
			machine.Record{State: table.Degraded, CameFrom: table.Applying, LastEvent: guards.ProgressStalled},
			installed,
			guards.Display{},
			`RevisionControllerProgressing False AsExpected
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing True EphemeralError
InstallerControllerDegraded True EphemeralError
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"degraded because what is installed has stopped working": {
			machine.Record{State: table.Degraded, CameFrom: table.Installed, LastEvent: guards.GateLost},
			installed,
			guards.Display{},
			`RevisionControllerProgressing False AsExpected
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing True EphemeralError
InstallerControllerDegraded True EphemeralError
InstallerControllerAvailable False NonRetryableError
InstallerControllerUpgradeable True AsExpected`,
		},
		"waiting for the platform, and what is installed cannot be kept": {
			machine.Record{State: table.WaitingOnInfra, Failure: keeping},
			installed,
			guards.Display{},
			`RevisionControllerProgressing True WaitingOnExternal
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing True EphemeralError
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"degraded by planning that fails, and tried again": {
			machine.Record{State: table.Degraded, CameFrom: table.Planning, LastEvent: guards.FailureEstablished, Failure: ephemeral},
			guards.Facts{Seen: true, Planning: "the registry is away", Unplannable: true, CurrentNumber: 1},
			guards.Display{},
			`RevisionControllerProgressing True EphemeralError
RevisionControllerDegraded True EphemeralError
InstallerControllerProgressing False AsExpected
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"degraded by a terminal error of the inputs": {
			machine.Record{State: table.Degraded, CameFrom: table.Planning, LastEvent: guards.FailureEstablished, Failure: forGood},
			guards.Facts{Seen: true, Planning: "by tag", Unplannable: true, PlanTerminal: true},
			guards.Display{},
			`RevisionControllerProgressing False NonRetryableError
RevisionControllerDegraded True NonRetryableError
InstallerControllerProgressing False Uninitialized
InstallerControllerDegraded False AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"an object that the API server refuses with a terminal error": {
			machine.Record{State: table.Applying, Failure: forGood},
			installed,
			guards.Display{},
			`RevisionControllerProgressing False AsExpected
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing False NonRetryableError
InstallerControllerDegraded True NonRetryableError
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"an update that is refused for the data it would lose": {
			machine.Record{State: table.Applying, Failure: ephemeral},
			guards.Facts{CurrentNumber: 1},
			guards.Display{Refused: []guards.Refused{{Object: "CustomResourceDefinition as"}}},
			`RevisionControllerProgressing False AsExpected
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing True EphemeralError
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable False EphemeralError`,
		},
		"too many revisions, and one that is kept fails": {
			machine.Record{State: table.MaxRevisions, Failure: keeping},
			guards.Facts{OlderSeen: true, CurrentNumber: 1, DesiredNumber: 1, Listed: 16},
			guards.Display{},
			`RevisionControllerProgressing False NonRetryableError
RevisionControllerDegraded True NonRetryableError
InstallerControllerProgressing True EphemeralError
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable False NonRetryableError`,
		},
		"too many revisions": {
			machine.Record{State: table.MaxRevisions},
			guards.Facts{OlderSeen: true, CurrentNumber: 1, DesiredNumber: 1, Listed: 16},
			guards.Display{},
			`RevisionControllerProgressing False NonRetryableError
RevisionControllerDegraded True NonRetryableError
InstallerControllerProgressing False AsExpected
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable False NonRetryableError`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := told(shot(row.record, row.facts, row.shown)); got != row.want {
				t.Errorf("got\n%s\nwant\n%s", got, row.want)
			}
		})
	}
}

func TestConditions_what_was_not_seen_leaves_what_was_said(t *testing.T) {
	complete := guards.Applied{Known: true, Complete: true}
	failure := &machine.Failure{Message: "the registry is away", Since: noon}
	for name, row := range map[string]struct {
		record                 machine.Record
		facts                  guards.Facts
		attempted              bool
		available, upgradeable bool
	}{
		"all seen": {
			machine.Record{State: table.Installed}, guards.Facts{DesiredNumber: 1, CurrentNumber: 1, OlderSeen: true, Applied: complete}, true, true, true,
		},
		"not seen what is retained": {
			machine.Record{State: table.Installed}, guards.Facts{DesiredNumber: 1, CurrentNumber: 1, Applied: complete}, true, true, false,
		},
		"nothing was tried yet": {
			machine.Record{State: table.Installed}, guards.Facts{DesiredNumber: 1, CurrentNumber: 1, OlderSeen: true, Applied: complete}, false, true, false,
		},
		"not seen what is applied": {
			machine.Record{State: table.Installed}, guards.Facts{DesiredNumber: 1, CurrentNumber: 1, OlderSeen: true}, false, false, false,
		},
		"a probe fails": {
			machine.Record{State: table.Installed}, guards.Facts{DesiredNumber: 1, CurrentNumber: 1, OlderSeen: true, Applied: guards.Applied{Known: true}}, true, false, true,
		},
		"a newer revision is on its way": {
			machine.Record{State: table.Applying}, guards.Facts{DesiredNumber: 2, CurrentNumber: 1, OlderSeen: true, Applied: guards.Applied{Known: true}}, true, false, true,
		},
		"after an error what is in the way may not be seen": {
			machine.Record{State: table.Applying, Failure: failure}, guards.Facts{DesiredNumber: 2, CurrentNumber: 1, OlderSeen: true, Applied: guards.Applied{Known: true}}, true, false, false,
		},
		"nothing was ever listed": {machine.Record{State: table.Planning, Failure: failure}, guards.Facts{CurrentNumber: 1}, false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range table.Conditions(shot(row.record, row.facts, guards.Display{Attempted: row.attempted})) {
				if want, asked := map[string]bool{"InstallerControllerAvailable": row.available, "InstallerControllerUpgradeable": row.upgradeable}[c.Type]; asked && c.Unsure == want {
					t.Errorf("%s: unsure is %v", c.Type, c.Unsure)
				}
			}
		})
	}
}

func TestConditions_upgradeable_names_every_cause_and_what_to_do(t *testing.T) {
	f := guards.Facts{DesiredNumber: 2, CurrentNumber: 2}
	d := guards.Display{
		Acts:       []guards.Act{{Name: "consent-to-delete", By: "anna", Void: "it is for revision 1, and the newest is 2"}},
		Retained:   []guards.RetainedObject{{Object: "CustomResourceDefinition as.test", Why: "holds 2 instances", Count: 2}},
		Collisions: []guards.Collision{{Object: "ConfigMap a/b", Holder: "field manager kubectl", Why: "exists already and belongs to field manager kubectl; remove it"}},
		Refused:    []guards.Refused{{Object: "CustomResourceDefinition bs.test", Why: "version v1 is dropped, and 3 instances are stored in it"}},
	}
	c := table.Conditions(shot(machine.Record{State: table.Applying}, f, d))[5]
	want := "objects of other owners are in the way: ConfigMap a/b exists already and belongs to field manager kubectl; remove it; " +
		"the update of CustomResourceDefinition bs.test is refused: version v1 is dropped, and 3 instances are stored in it; " +
		"kept for the data in them: CustomResourceDefinition as.test (holds 2 instances); delete the data, or consent to lose it: " +
		"capstan consent (the consent that is given is void: it is for revision 1, and the newest is 2)"
	if c.Is || c.Reason != machine.EphemeralError || c.Message != want {
		t.Errorf("got  %+v\nwant %s", c, want)
	}
	d.Collisions = append(d.Collisions, guards.Collision{Object: "CustomResourceDefinition cs.test", Why: "exists already"}, guards.Collision{Object: "CustomResourceDefinition ds.test", Why: "exists already"})
	const leave = "; to leave it to its owner, list it in spec.unmanagedCustomResourceDefinitions of ClusterAPI cluster: cs.test, ds.test; the update of"
	if c := table.Conditions(shot(machine.Record{State: table.Applying}, f, d))[5]; !strings.Contains(c.Message, leave) {
		t.Errorf("got %s", c.Message)
	}
	d.Retained[0].Why = strings.Repeat("many ", 400)
	if c = table.Conditions(shot(machine.Record{State: table.Applying}, f, d))[5]; len(c.Message) > machine.MaxMessage || !strings.Contains(c.Message, "lose it: capstan consent (") {
		t.Errorf("a long message has %d bytes and does not say how to consent: %s", len(c.Message), c.Message)
	}
}

func TestConditions_what_cannot_be_kept_is_told_beside_what_is_waited_for(t *testing.T) {
	failure := &machine.Failure{Message: "the API server is not reachable", Part: table.InstallerController, Since: noon}
	f := guards.Facts{DesiredNumber: 1, CurrentNumber: 1}
	want := "keeping the installed revision: the API server is not reachable; since 2026-01-01 12:00:00Z; tried again by itself"
	for _, state := range []machine.State{table.WaitingOnInfra, table.MaxRevisions} {
		if c := table.Conditions(shot(machine.Record{State: state, Failure: failure}, f, guards.Display{}))[2]; c.Message != want {
			t.Errorf("%s: got %+v", state, c)
		}
	}
}

func TestConditions_inputs_that_cannot_be_planned_are_told_while_the_rollout_goes_on(t *testing.T) {
	conditions := table.Conditions(shot(
		machine.Record{State: table.Applying},
		guards.Facts{Seen: true, DesiredNumber: 2, CurrentNumber: 1, Planning: "key core is by tag", Unplannable: true, PlanTerminal: true},
		guards.Display{DesiredName: "4.22.6-b-2"},
	))
	if want := "key core is by tag; until then revision 4.22.6-b-2 goes on"; conditions[0].Message != want || conditions[1].Message != want {
		t.Errorf("got %+v and %+v, want %s", conditions[0], conditions[1], want)
	}
}

func TestConditions_a_current_revision_that_cannot_be_kept_is_a_warning_on_the_rollout(t *testing.T) {
	c := table.Conditions(shot(
		machine.Record{State: table.Applying}, guards.Facts{DesiredNumber: 2, CurrentNumber: 1}, guards.Display{Keeping: "ConfigMap a/b is refused"},
	))[2]
	if want := "; warning: the current revision cannot be kept as it is: ConfigMap a/b is refused"; c.Reason != machine.Progressing || !strings.HasSuffix(c.Message, want) {
		t.Errorf("got %+v", c)
	}
}

func TestConditions_what_is_contested_or_stray_is_a_warning(t *testing.T) {
	f := guards.Facts{DesiredNumber: 1, CurrentNumber: 1, Applied: guards.Applied{Known: true, Complete: true}}
	d := guards.Display{
		Strays:    []string{"ConfigMap a/stray"},
		Contested: []guards.Contested{{Object: "Deployment a/b", Field: ".spec.replicas", Managers: []string{"hpa"}, By: "field manager hpa", Times: 7}},
	}
	c := table.Conditions(shot(machine.Record{State: table.Installed}, f, d))[2]
	want := "; warning: field .spec.replicas of Deployment a/b is changed by field manager hpa again and again and put right less and less often; stop one of the two; objects that no revision knows: 1, capstan status names those that are not in namespaces of others; they carry this installation's marks, and no inventory lists them: look into them, a CustomResourceDefinition goes with its instances, a Namespace with its content; then delete what nobody needs"
	if c.Is || c.Reason != machine.AsExpected || !strings.HasSuffix(c.Message, want) {
		t.Errorf("got %+v", c)
	}
}
