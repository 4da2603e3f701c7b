package clusterapi_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
)

func TestLine_says_what_has_to_happen_next(t *testing.T) {
	forGood := &machine.Failure{Message: "by tag", Terminal: true, Since: noon}
	ephemeral := &machine.Failure{Message: "the registry is away", Since: noon}
	for want, row := range map[string]struct {
		record  machine.Record
		facts   guards.Facts
		desired string
	}{
		"Planning: by tag; since 2026-01-01 12:00:00Z; tried again every 10 minutes, and when an input changes or annotation capi-operator.openshift.io/retry of the ClusterAPI does": {
			machine.Record{State: table.Planning, Reason: "by tag", Failure: forGood}, guards.Facts{}, "",
		},
		"Degraded 4.22.6-b-2: the registry is away; since 2026-01-01 12:00:00Z; tried again by itself; revision 1 stays applied": {
			machine.Record{State: table.Degraded, Reason: "the registry is away", Failure: ephemeral},
			guards.Facts{DesiredNumber: 2, CurrentNumber: 1},
			"4.22.6-b-2",
		},
		"Degraded 4.22.6-b-2: no progress for 5m; since 2026-01-01 12:00:00Z; goes on by itself when that heals": {
			machine.Record{State: table.Degraded, Cause: "no progress for 5m", Since: noon},
			guards.Facts{DesiredNumber: 2, CurrentNumber: 2},
			"4.22.6-b-2",
		},
		"Installed 4.22.6-b-2: everything is as it should be; since 2026-01-01 12:00:00Z": {
			machine.Record{State: table.Installed, Since: noon}, guards.Facts{DesiredNumber: 2, CurrentNumber: 2}, "4.22.6-b-2",
		},
		"Installed 4.22.6-b-2 (7 of 9 objects): Deployment a/b: 0/1 available; since 2026-01-01 12:00:00Z": {
			machine.Record{State: table.Installed, Since: noon},
			guards.Facts{DesiredNumber: 2, CurrentNumber: 2, Applied: guards.Applied{Known: true, Done: 7, Total: 9, Why: "Deployment a/b: 0/1 available"}},
			"4.22.6-b-2",
		},
	} {
		if got := table.Line(shot(row.record, row.facts, guards.Display{DesiredName: row.desired})); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestLine_in_a_condition_answers_why_it_is_not_done(t *testing.T) {
	r := machine.Record{
		State: table.Applying, Since: noon, Reason: "wave 5/7 (workloads of aws) waits for Deployment a/b: 0/1 available",
		Deadline: &machine.Deadline{At: noon.Add(5 * time.Minute), On: guards.ProgressStalled, To: table.Degraded},
	}
	want := "Applying 4.22.6-873bdf9a-2 (54 of 57 objects): wave 5/7 (workloads of aws) waits for Deployment a/b: 0/1 available; " +
		"since 2026-01-01 12:00:00Z; Degraded at 2026-01-01 12:05:00Z"
	if got := table.Conditions(shot(
		r, guards.Facts{Applied: guards.Applied{Known: true, Done: 54, Total: 57}}, guards.Display{DesiredName: "4.22.6-873bdf9a-2"},
	))[2].Message; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r.Failure = &machine.Failure{Message: "the registry is away", Since: noon.Add(time.Minute)}
	if got := table.Conditions(shot(r, guards.Facts{}, guards.Display{}))[2].Message; !strings.Contains(got, "; since 2026-01-01 12:01:00Z; ") {
		t.Errorf("the message does not tell since when there is an error: %s", got)
	}
	r.Reason = strings.Repeat("ö", 2000)
	got := table.Conditions(shot(r, guards.Facts{}, guards.Display{}))[2].Message
	if len(got) > 1024 || !strings.HasSuffix(got, "Degraded at 2026-01-01 12:05:00Z") {
		t.Errorf("a long message has %d bytes and ends in %q", len(got), got[len(got)-40:])
	}
}

func TestConditions_count_strays_so_that_their_names_crowd_nothing_out(t *testing.T) {
	contested := guards.Contested{Object: "Deployment a/b", Field: ".spec.replicas", Managers: []string{"hpa"}, By: "field manager hpa", Times: 7}
	d := guards.Display{Keeping: "ConfigMap a/b is refused", MoreStrays: 30, Contested: []guards.Contested{contested}}
	for i := range 100 {
		d.Strays = append(d.Strays, fmt.Sprintf("ConfigMap tenant/%s%d", strings.Repeat("x", 250), i))
	}
	c := table.Conditions(shot(machine.Record{State: table.Installed}, guards.Facts{DesiredNumber: 1, CurrentNumber: 1}, d))[2]
	kept, strays, cut := strings.Cut(c.Message, "objects that no revision knows: ")
	if !cut || !strings.Contains(kept, "ConfigMap a/b is refused") || !strings.Contains(kept, contested.String()) ||
		!strings.HasPrefix(strays, "130, capstan status names those that are not in namespaces of others") || strings.Contains(strays, "tenant") || !strings.HasSuffix(strays, "a Namespace with its content; then delete what nobody needs") {
		t.Errorf("got %s", c.Message)
	}
}

func TestConditions_name_some_of_the_revisions_that_somebody_else_has_listed(t *testing.T) {
	d := guards.Display{Foreign: []string{"4.22.0-0badc0de-2", "4.22.0-0badc0de-3", "4.22.0-0badc0de-4", "4.22.0-0badc0de-5"}}
	c := table.Conditions(shot(machine.Record{State: table.Installed}, guards.Facts{DesiredNumber: 1, CurrentNumber: 1}, d))[2]
	if !strings.Contains(c.Message, "listed by somebody else and are not executed") || !strings.Contains(c.Message, "4.22.0-0badc0de-4, and 1 more; ") {
		t.Errorf("got %s", c.Message)
	}
}

func TestTroubleshooting_shows_messages_that_guards_give(t *testing.T) {
	page, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	facts := guards.Facts{Seen: true, Listed: guards.MaxRevisions, Abandoned: []string{"4.22.0-873bdf9a-2"}}
	for _, guard := range []machine.Guard[guards.Facts]{guards.ClusterAPIIsOurs, guards.PlatformKnown, guards.RoomLeft} {
		if says := guard.Answer(facts).Reason; says == "" || !strings.Contains(string(page), says) {
			t.Errorf("docs/troubleshooting.md does not show what %s says: %s; run make test-faults", guard.Name, says)
		}
	}
}
