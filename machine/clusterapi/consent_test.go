package clusterapi_test

import (
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/clusterapi/simulated"
)

const consents = "; if it is to go, consent: capstan consent --uninstall --reason TEXT"

// emptied is what is seen when the list of images was emptied.
func emptied(why string) guards.Facts {
	return guards.Facts{
		Seen: true, ClusterAPI: true, OlderSeen: true, SpecObserved: true, Planned: "b", Desired: "a", DesiredNumber: 1, CurrentNumber: 1,
		Applied: guards.Applied{Known: true, Complete: true}, AwaitsUninstallConsent: why,
	}
}

func TestLine_at_rest_says_what_awaits_consent_and_ends_with_the_command(t *testing.T) {
	shown := guards.Display{DesiredName: "4.22.6-a-1", UninstallConsent: "4.22.6-b-2"}
	why := "revision 4.22.6-b-2 would uninstall every component (core)"
	incomplete := emptied(why)
	incomplete.Applied = guards.Applied{Known: true, Done: 7, Total: 9, Why: "Deployment a/b: 0/1 available"}
	full := emptied(why)
	full.Listed = 16
	nothing := guards.Facts{Seen: true, ClusterAPI: true, Planning: why, Unplannable: true, PlanTerminal: true}
	for want, s := range map[string]phases.Snapshot{
		"Installed 4.22.6-a-1: " + why + "; since 2026-01-01 12:00:00Z" + consents: shot(machine.Record{State: table.Installed, Since: noon}, emptied(why), shown),
		"Installed 4.22.6-a-1 (7 of 9 objects): " + why + "; Deployment a/b: 0/1 available; since 2026-01-01 12:00:00Z" + consents: shot(
			machine.Record{State: table.Installed, Since: noon}, incomplete, shown),
		"MaxRevisions 4.22.6-a-1: " + why + "; 16 revisions are listed; since 2026-01-01 12:00:00Z" + consents: shot(
			machine.Record{State: table.MaxRevisions, Since: noon, Reason: "16 revisions are listed"}, full, shown),
		"Degraded: " + why + "; since 2026-01-01 12:00:00Z; tried again every 10 minutes, and when an input changes or annotation capi-operator.openshift.io/retry of the ClusterAPI does" + consents: shot(
			machine.Record{State: table.Degraded, CameFrom: table.Planning, Reason: why, Failure: &machine.Failure{Message: why, Terminal: true, Since: noon}}, nothing, guards.Display{UninstallConsent: "4.22.6-b-2"}),
		"Applying 4.22.6-a-1: wave 1 waits; since 2026-01-01 12:00:00Z": shot(
			machine.Record{State: table.Applying, Since: noon, Reason: "wave 1 waits"}, emptied(why), shown),
	} {
		if got := table.Line(s); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestConditions_tell_that_consent_is_awaited(t *testing.T) {
	shown := guards.Display{
		DesiredName: "4.22.6-a-1", UninstallConsent: "4.22.6-b-2", ImageWarning: "the disk is full",
		ImageStates: []guards.ImageState{{Name: "core", Fetching: true, Since: noon}},
	}
	why := "revision 4.22.6-b-2 would uninstall every component (core)"
	for name, row := range map[string]struct {
		state machine.State
		want  string
	}{
		"installed": {table.Installed, "Installed 4.22.6-a-1: " + why + "; since 2026-01-01 12:00:00Z"},
		"rollout":   {table.Applying, why + "; until then revision 4.22.6-a-1 goes on"},
	} {
		conditions := table.Conditions(shot(machine.Record{State: row.state, Since: noon}, emptied(why), shown))
		for _, c := range conditions[:2] {
			want := row.want + "; images: 0 of 1 ready, core fetching since 2026-01-01 12:00:00Z; warning: the disk is full" + consents
			if c.Reason != machine.NonRetryableError || c.Is != strings.HasSuffix(c.Type, "Degraded") || strings.HasSuffix(c.Type, "Progressing") && c.Message != want {
				t.Errorf("%s: got  %+v\nwant %s", name, c, want)
			}
		}
	}
}

func TestConditions_never_cut_off_the_command_that_consents(t *testing.T) {
	name := "4.22.0-0.nightly-2026-01-01-120000-aaaaaaaa-1099511627776"
	why := strings.Repeat("w", phases.MaxUninstallText)
	failures := []*machine.Failure{nil, {Message: strings.Repeat("e", 2000), Since: noon}, {Message: strings.Repeat("e", 2000), Since: noon, Terminal: true}}
	for _, row := range table.Table.States {
		for _, failure := range failures {
			for _, applied := range []guards.Applied{{}, {Known: true, Complete: true}, {Known: true, Done: 1000, Total: 2000, Why: strings.Repeat("p", 2000)}} {
				f, d := emptied(why), guards.Display{DesiredName: name, UninstallConsent: name, ImageWarning: strings.Repeat("i", 2000), Strays: []string{strings.Repeat("s", 2000)}}
				f.Applied = applied
				r := machine.Record{State: row.Name, CameFrom: table.Planning, Since: noon, Failure: failure, Deadline: &machine.Deadline{At: noon, To: table.Degraded}}
				if failure != nil {
					r.Reason = failure.Message
				}
				s := shot(r, f, d)
				for _, message := range []string{table.Line(s), table.Conditions(s)[0].Message, table.Conditions(s)[1].Message, table.Conditions(s)[2].Message} {
					told := strings.Contains(message, "consent")
					if len(message) > machine.MaxMessage || told && (!strings.HasSuffix(message, consents) || !strings.Contains(message, why)) {
						t.Errorf("in %s the message has %d bytes, and ends with %q", row.Name, len(message), message[max(0, len(message)-100):])
					}
				}
				if table.Table.At(r) == table.RevisionController && !strings.HasSuffix(table.Line(s), consents) {
					t.Errorf("in %s it is not told how to consent", row.Name)
				}
			}
		}
	}
}

func TestExplain_tells_why_the_content_that_awaits_consent_is_not_planned(t *testing.T) {
	w := newWalk(1)
	w.world = world{Cluster: simulated.New()}
	w.start()
	w.CreateClusterAPI()
	w.SetPlatform(true)
	w.List("one")
	pass := func(until func() bool) {
		t.Helper()
		for range 50 {
			if _, err := w.machine.Step(t.Context(), "cluster"); err != nil {
				t.Fatal(err)
			}
			if until() {
				return
			}
			w.Advance(time.Second)
		}
		t.Fatalf("it is in %s: %s", w.saved.State, w.saved.Reason)
	}
	pass(func() bool { return w.saved.State == table.Installed })
	w.ListNothing()
	pass(func() bool { return w.shot.Facts.AwaitsUninstallConsent != "" && w.saved.State == table.Installed })
	for _, c := range w.shot.Candidates() {
		if c.Event == "ContentChanged" && (c.Answer != machine.No || !strings.Contains(c.Why, "revision 1 goes on: revision 4.22.5-9db96907-2 would uninstall every component")) {
			t.Errorf("got %+v", c)
		}
	}
}

func TestConditions_upgradeable_says_why_a_consent_does_not_count(t *testing.T) {
	void := func(why string) []guards.Act {
		return []guards.Act{{Name: "adopt", Void: "another matter"}, {Name: "consent-to-delete", By: "anna", Void: why}}
	}
	retained := guards.RetainedObject{Object: "CustomResourceDefinition as.test", Why: "holds 2 instances", Count: 2}
	changed := retained
	changed.Void = "the consent by anna does not count: it was for 1, and there are 2 now"
	for name, row := range map[string]struct {
		acts     []guards.Act
		retained guards.RetainedObject
		tail     string
	}{
		"none is given":        {nil, retained, "as.test (holds 2 instances); delete the data, or consent to lose it: capstan consent"},
		"one counts":           {void(""), retained, "(holds 2 instances); delete the data, or consent to lose it: capstan consent"},
		"one is void":          {void("it is for revision 1, and the newest is 2"), retained, "capstan consent (the consent that is given is void: it is for revision 1, and the newest is 2)"},
		"what it held differs": {void(""), changed, "(holds 2 instances; the consent by anna does not count: it was for 1, and there are 2 now); delete the data, or consent to lose it: capstan consent"},
	} {
		d := guards.Display{Acts: row.acts, Retained: []guards.RetainedObject{row.retained}}
		if c := table.Conditions(shot(machine.Record{State: table.Installed}, guards.Facts{DesiredNumber: 12, CurrentNumber: 12}, d))[5]; !strings.HasSuffix(c.Message, row.tail) {
			t.Errorf("%s: got %s", name, c.Message)
		}
	}
}
