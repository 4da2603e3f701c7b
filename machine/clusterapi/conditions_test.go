package clusterapi_test

import (
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// told is one line per condition: type, status, reason.
func told(r machine.Record, f guards.Facts) string {
	var lines []string
	for _, c := range table.Conditions(r, f) {
		status := "False"
		if c.Is {
			status = "True"
		}
		lines = append(lines, strings.Join([]string{c.Type, status, c.Reason}, " "))
	}
	return strings.Join(lines, "\n")
}

func TestConditions_in_every_state(t *testing.T) {
	installed := guards.Facts{OlderSeen: true, CurrentNumber: 1, LatestNumber: 1, LatestName: "4.22.5-aaaa-1"}
	ephemeral := &machine.Failure{Message: "the registry is away", Since: noon}
	forGood := &machine.Failure{Message: "by tag", ForGood: true, Since: noon}
	for name, row := range map[string]struct {
		record machine.Record
		facts  guards.Facts
		want   string
	}{
		"a new cluster waits for its platform": {
			machine.Record{State: table.WaitingOnInfra},
			guards.Facts{},
			`RevisionControllerProgressing True WaitingOnExternal
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing False Uninitialized
InstallerControllerDegraded False AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"planning the first revision": {
			machine.Record{State: table.Planning},
			guards.Facts{},
			`RevisionControllerProgressing True Progressing
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing False Uninitialized
InstallerControllerDegraded False AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"planning meets an error that may heal": {
			machine.Record{State: table.Planning, Failure: ephemeral},
			installed,
			`RevisionControllerProgressing True EphemeralError
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing False AsExpected
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"an error for good degrades at once": {
			machine.Record{State: table.Planning, Failure: forGood},
			installed,
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
			`RevisionControllerProgressing False AsExpected
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing True Progressing
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"applying while the next revision cannot be planned for now": {
			machine.Record{State: table.Applying},
			guards.Facts{CurrentNumber: 1, PlanFailed: true},
			`RevisionControllerProgressing True EphemeralError
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing True Progressing
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"pruning while the next revision cannot be planned for good": {
			machine.Record{State: table.Pruning},
			guards.Facts{CurrentNumber: 2, PlanFailed: true, PlanForGood: true},
			`RevisionControllerProgressing False NonRetryableError
RevisionControllerDegraded True NonRetryableError
InstallerControllerProgressing True Progressing
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"a foreign object in the way": {
			machine.Record{State: table.Applying, Failure: ephemeral},
			guards.Facts{CurrentNumber: 1, Applied: guards.Applied{Collisions: []guards.Collision{{Object: "ConfigMap a/b", Holder: "somebody"}}}},
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
			`RevisionControllerProgressing False AsExpected
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing False AsExpected
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable True AsExpected`,
		},
		"installed, with objects kept for their data": {
			machine.Record{State: table.Installed},
			guards.Facts{CurrentNumber: 1, Retained: []guards.Retained{{Object: "a CRD", Why: "holds 2 instances"}}},
			`RevisionControllerProgressing False AsExpected
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing False AsExpected
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable False WaitingOnExternal`,
		},
		"installed, but the next revision cannot be planned": {
			machine.Record{State: table.Installed, Failure: ephemeral},
			guards.Facts{CurrentNumber: 1, PlanFailed: true},
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
			`RevisionControllerProgressing False AsExpected
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing True EphemeralError
InstallerControllerDegraded True EphemeralError
InstallerControllerAvailable False NonRetryableError
InstallerControllerUpgradeable True AsExpected`,
		},
		"too many revisions": {
			machine.Record{State: table.MaxRevisions},
			installed,
			`RevisionControllerProgressing False NonRetryableError
RevisionControllerDegraded True NonRetryableError
InstallerControllerProgressing False AsExpected
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable False NonRetryableError`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := told(row.record, row.facts); got != row.want {
				t.Errorf("got\n%s\nwant\n%s", got, row.want)
			}
		})
	}
}

func TestConditions_nothing_is_said_of_upgrades_before_it_was_seen_what_is_retained(t *testing.T) {
	if got := told(machine.Record{State: table.Installed}, guards.Facts{LatestNumber: 1, CurrentNumber: 1}); strings.Contains(got, "Upgradeable") {
		t.Errorf("got\n%s", got)
	}
}

func TestConditions_the_message_answers_why_it_is_not_done(t *testing.T) {
	r := machine.Record{
		State: table.Applying, Since: noon, Reason: "wave 5/7 (workloads of aws) waits for Deployment a/b: 0/1 available",
		Deadline: &machine.Deadline{At: noon.Add(5 * time.Minute), On: guards.ProgressStalled, To: table.Degraded},
	}
	want := "Applying 4.22.6-873bdf9a-2 (54 of 57 objects): wave 5/7 (workloads of aws) waits for Deployment a/b: 0/1 available; " +
		"since 2026-01-01 12:00:00Z; Degraded at 2026-01-01 12:05:00Z"
	if got := table.Conditions(r, guards.Facts{
		LatestName: "4.22.6-873bdf9a-2", Applied: guards.Applied{Known: true, Done: 54, Total: 57},
	})[2].Message; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r.Failure = &machine.Failure{Message: "the registry is away", Since: noon.Add(time.Minute)}
	if got := table.Conditions(r, guards.Facts{})[2].Message; !strings.Contains(got, "; since 2026-01-01 12:01:00Z; ") {
		t.Errorf("the message does not tell since when there is an error: %s", got)
	}
	r.Reason = strings.Repeat("ö", 2000)
	got := table.Conditions(r, guards.Facts{})[2].Message
	if len(got) > 1024 || !strings.HasSuffix(got, "Degraded at 2026-01-01 12:05:00Z") {
		t.Errorf("a long message has %d bytes and ends in %q", len(got), got[len(got)-40:])
	}
}
