package clusterapi_test

import (
	"strings"
	"testing"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
)

func TestConditions_upgradeable_asks_that_requirements_on_objects_are_in_force_once_they_are_installed(t *testing.T) {
	says := func(kind, status, reason string) guards.Condition {
		return guards.Condition{Type: kind, Status: status, Reason: reason, Message: "m", Generation: 1}
	}
	met := guards.Requirement{Name: "capstan-objects.a.b.c", Generation: 1, Conditions: []guards.Condition{says("Progressing", "False", "UpToDate"), says("Admitted", "True", "Admitted")}}
	taken, refused, unseen, absent := met, met, met, met
	taken.Conditions = []guards.Condition{says("Progressing", "False", "OwnershipConflict"), says("Admitted", "False", "NotAdmitted")}
	refused.Conditions = []guards.Condition{says("Progressing", "False", "ConfigurationError"), says("Admitted", "False", "NotAdmitted")}
	unseen.Generation = 2
	absent.Absent = "does not exist yet"
	for name, row := range map[string]struct {
		desired int64
		of      guards.Requirement
		want    string // of the message; empty: it is upgradeable
	}{
		"in force":                 {1, met, ""},
		"a configuration is taken": {1, taken, "CompatibilityRequirement capstan-objects.a.b.c: Progressing is False, OwnershipConflict: m"},
		"refused":                  {1, refused, "CompatibilityRequirement capstan-objects.a.b.c: Progressing is False, ConfigurationError: m"},
		"gone":                     {1, absent, "does not exist yet"},
		"not seen":                 {1, unseen, ""},
		"before it is installed":   {2, absent, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := guards.Facts{
				Seen: true, CurrentNumber: 1, DesiredNumber: row.desired, RequirementsKnown: true, ObjectRequirements: []guards.Requirement{met, row.of},
			}
			for _, c := range table.Conditions(shot(machine.Record{State: table.Installed}, f, guards.Display{})) {
				if c.Type != "InstallerControllerUpgradeable" {
					continue
				}
				if c.Is != (row.want == "") || !strings.Contains(c.Message, row.want) || !c.Is && c.Reason != machine.WaitingOnExternal {
					t.Errorf("it says %t, %s: %s", c.Is, c.Reason, c.Message)
				}
			}
		})
	}
}
