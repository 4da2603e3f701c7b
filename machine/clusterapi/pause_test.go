package clusterapi_test

import (
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
)

func TestConditions_of_a_pause_hide_no_trouble_and_let_nobody_upgrade(t *testing.T) {
	const who = "pause by anna since 2026-01-01 12:00:00Z until 2026-01-01 13:00:00Z: etcd is slow"
	facts := guards.Facts{
		Seen: true, ClusterAPI: true, OlderSeen: true, CurrentNumber: 1, DesiredNumber: 1, Desired: "aaaaaaaaaa", Planned: "bbbbbbbbbb",
		Pause: guards.Pause{Stands: true, Why: who},
	}
	shown := guards.Display{Attempted: true, DesiredName: "one", Differs: []string{"ConfigMap a/b is to be written: does not exist"}}
	s := shot(machine.Record{State: table.Paused, Since: noon, CameFrom: table.Degraded, LastEvent: guards.PauseAsked}, facts, shown)
	if got, want := told(s), `RevisionControllerProgressing False WaitingOnExternal
RevisionControllerDegraded False AsExpected
InstallerControllerProgressing False WaitingOnExternal
InstallerControllerDegraded False AsExpected
InstallerControllerAvailable True AsExpected
InstallerControllerUpgradeable False WaitingOnExternal`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, c := range table.Conditions(s) {
		kept := strings.HasSuffix(c.Type, "Degraded") || strings.HasSuffix(c.Type, "Available")
		if c.Unsure != kept {
			t.Errorf("%s: what was said before stays is %v", c.Type, c.Unsure)
		}
		if !kept && !strings.Contains(c.Message, who) {
			t.Errorf("%s does not say who: %s", c.Type, c.Message)
		}
	}
	for _, want := range []string{who, "the inputs ask for content bbbbbbbb, revision 1 has aaaaaaaa", "(1): ConfigMap a/b is to be written"} {
		if line := table.Line(s); !strings.Contains(line, want) {
			t.Errorf("the line does not say %q: %s", want, line)
		}
	}
}

func TestLine_of_a_pause_tells_what_would_be_uninstalled_without_a_consent(t *testing.T) {
	const would = "revision 4.22.0-b-2 would uninstall every component (core)"
	facts := guards.Facts{
		Seen: true, ClusterAPI: true, CurrentNumber: 1, DesiredNumber: 1, Desired: "a", Planned: "b", AwaitsUninstallConsent: would,
		Pause: guards.Pause{Stands: true, Why: "paused"},
	}
	s := shot(machine.Record{State: table.Paused, Since: noon}, facts, guards.Display{DesiredName: "one", UninstallConsent: "4.22.0-b-2"})
	line := table.Line(s)
	if !strings.Contains(line, "Paused one: paused; "+would+"; since ") || strings.Count(line, would) != 1 || !strings.HasSuffix(line, "consent: capstan consent --uninstall --reason TEXT") {
		t.Errorf("the line is %s", line)
	}
}

func TestLine_of_a_pause_counts_what_it_does_not_name(t *testing.T) {
	d := guards.Display{Differs: []string{"ConfigMap a/b does not exist", "ConfigMap a/c does not exist"}, MoreDiffers: 23}
	s := shot(machine.Record{State: table.Paused, Since: noon}, guards.Facts{Seen: true, ClusterAPI: true, Pause: guards.Pause{Stands: true, Why: "paused"}}, d)
	if line := table.Line(s); !strings.Contains(line, "not as they should be (25): ConfigMap a/b does not exist; ConfigMap a/c does not exist; and 23 more; since ") {
		t.Errorf("the line is %s", line)
	}
}

func TestLine_of_a_pause_tells_of_a_rollout_that_stands_still(t *testing.T) {
	facts := guards.Facts{
		Seen: true, ClusterAPI: true, CurrentNumber: 1, DesiredNumber: 2, Desired: "b", Planned: "b", Pause: guards.Pause{Stands: true, Why: "paused"},
	}
	s := shot(machine.Record{State: table.Paused, Since: noon}, facts, guards.Display{DesiredName: "two"})
	if line := table.Line(s); !strings.Contains(line, "Paused two: paused; revision 2 is not fully applied: revision 1 is current; since ") {
		t.Errorf("the line is %s", line)
	}
}

func TestLine_tells_of_what_is_left_alone_in_every_state(t *testing.T) {
	d := guards.Display{
		Acts: []guards.Act{{Name: "leave-alone", About: "ConfigMap a/b and 3 more", By: "anna", At: noon, Until: noon.Add(time.Hour), Reason: "r"}},
		LeftAlone: []guards.LeftAlone{
			{Object: "ConfigMap a/b", Differs: "it is not there"}, {Object: "ConfigMap a/c"}, {Object: "ConfigMap a/d", Probe: "0/1 available"}, {Object: "ConfigMap a/e", Nowhere: true},
		},
	}
	for state, says := range map[machine.State]string{
		table.Installed: "everything else is as it should be; leave-alone of ConfigMap a/b and 3 more by anna since ", table.Applying: "leave-alone of ConfigMap a/b and 3 more by anna since ",
		table.Paused: "leave-alone of ConfigMap a/b and 3 more by anna since ",
	} {
		s := shot(machine.Record{State: state, Since: noon}, guards.Facts{Seen: true, CurrentNumber: 1, DesiredNumber: 1, Applied: guards.Applied{Known: true, Complete: true}}, d)
		line := table.Line(s)
		if !strings.Contains(line, says) || !strings.Contains(line, ": r; left alone: ConfigMap a/b: it is not there; ConfigMap a/c: it is as wanted; ConfigMap a/d: it is as wanted; 0/1 available; and 1 more") {
			t.Errorf("%s says %s", state, line)
		}
	}
}

func TestConditions_tell_of_an_act_that_is_void(t *testing.T) {
	d := guards.Display{Acts: []guards.Act{{Name: "pause", Void: "line 1: it says at, where by stands"}, {Name: "pin", By: "anna", Void: "it ended", Ended: true}}}
	s := shot(machine.Record{State: table.Installed, Since: noon}, guards.Facts{Seen: true, OlderSeen: true, CurrentNumber: 1, DesiredNumber: 1}, d)
	var messages []string
	for _, c := range table.Conditions(s) {
		messages = append(messages, c.Message)
	}
	text := strings.Join(messages, "\n")
	if !strings.Contains(text, "act pause is void: line 1: it says at, where by stands") || strings.Contains(text, "pin by anna") {
		t.Errorf("told is\n%s", text)
	}
}
