package clusterapi_test

import (
	"strings"
	"testing"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
)

func TestConditions_of_a_pin_let_nobody_upgrade_and_name_who_asks(t *testing.T) {
	act := guards.Act{Name: "pin", By: "anna", At: noon, Reason: "it does not work", Revision: 1}
	const who = "pin to revision 1 by anna since 2026-01-01 12:00:00Z until the list of images changes: it does not work"
	facts := guards.Facts{Seen: true, ClusterAPI: true, OlderSeen: true, CurrentNumber: 3, DesiredNumber: 3, Desired: "a", Planned: "a", Pin: act.String(), PinDiffers: true}
	s := shot(machine.Record{State: table.Installed, Since: noon}, facts, guards.Display{Attempted: true, Acts: []guards.Act{act}})
	for _, c := range table.Conditions(s) {
		switch {
		case strings.HasSuffix(c.Type, "Upgradeable"):
			if c.Is || c.Reason != machine.WaitingOnExternal || !strings.Contains(c.Message, who) {
				t.Errorf("got %+v", c)
			}
		case strings.HasSuffix(c.Type, "Degraded") && c.Is, strings.HasSuffix(c.Type, "Available") && !c.Is:
			t.Errorf("a pin is no trouble: %+v", c)
		}
	}
	for _, guard := range []machine.Guard[guards.Facts]{guards.DesiredMatchesInputs, guards.DesiredStands} {
		if reason := guard.Answer(facts).Reason; !strings.Contains(reason, who) {
			t.Errorf("%s answers %q", guard.Name, reason)
		}
	}
}
