package replay

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/golden"

	"github.com/capstan-capi/capstan/controllers/clusterapi"
	"github.com/capstan-capi/capstan/controllers/view"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	"github.com/capstan-capi/capstan/phases/recorder"
)

// views are those of clusterapi and of a machine that stays where it is.
var views = []view.View{*clusterapi.Part.View, {Table: view.Table{Name: "other", Replay: func(d machine.Decision) (machine.Decision, []machine.Candidate, error) {
	d.Event, d.To = "", ""
	return d, nil, nil
}}}}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// decided is a decision in Applying, ten minutes after the last progress.
func decided(applied machine.Truth, event machine.Event, to machine.State) recorder.Entry {
	return recorder.Entry{At: noon, Kind: recorder.Transition, Revision: "r-1", Seconds: 600.25, Decision: &machine.Decision{
		At: noon, State: table.Applying, Reason: "0/1 available", Progressed: noon.Add(-10 * time.Minute),
		Answers: []machine.Asked{
			{Guard: "CRDsMeet", Answer: machine.Yes},
			{Guard: "DesiredStands", Answer: machine.Yes},
			{Guard: "RevisionIsApplied", Answer: applied, Why: "0/1 available"},
		},
		Event: event, To: to, Cause: "no progress for 5m: 0/1 available",
	}}
}

func TestRun_tells_where_the_table_decides_otherwise(t *testing.T) {
	recorded := decided(machine.No, "ProgressStalled", table.Degraded)
	recorded.Did = "rang the bell"
	log := []recorder.Entry{
		recorder.Worked(noon, "r-1", "PlanRevision", "listed revision r-1"),
		recorder.Acted(noon, "r-1", "Deployment a/b", "Updated", ".spec.replicas differs"),
		{At: noon, Kind: recorder.Failure, Text: "the API server is away", Times: 3, Last: noon.Add(time.Minute)},
		recorded,
		decided(machine.Yes, "ProgressStalled", table.Degraded),
		decided(machine.No, "", ""),
		{At: noon, Kind: recorder.Transition, Decision: &machine.Decision{At: noon, State: "Dancing", Event: "Fell", To: "Lying"}},
	}
	result := Run(log, views)
	if result.Decisions != 4 || result.Differ != 3 {
		t.Errorf("of %d decisions %d differ", result.Decisions, result.Differ)
	}
	var text bytes.Buffer
	if err := result.Write(&text); err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, text.String(), "replay.txt")
}

func TestRun_of_the_same_table_differs_nowhere(t *testing.T) {
	result := Run([]recorder.Entry{decided(machine.No, "ProgressStalled", table.Degraded), decided(machine.Yes, "RevisionApplied", table.Pruning)}, views)
	if result.Decisions != 2 || result.Differ != 0 {
		t.Errorf("got %+v", result)
	}
}

func TestRun_chooses_the_table_by_the_machine_of_an_entry(t *testing.T) {
	entry := decided(machine.No, "ProgressStalled", table.Degraded)
	for name, want := range map[string]string{
		"": "", "clusterapi": "", "gone": "this release has no machine gone",
		"other": "recorded Applying --ProgressStalled--> Degraded, and the table now decides to stay in Applying",
	} {
		entry.Machine = name
		if got := Run([]recorder.Entry{entry}, views).Steps[0].Differs; got != want {
			t.Errorf("machine %q: %q", name, got)
		}
	}
}

func TestWrite_lets_no_text_of_a_file_control_the_terminal(t *testing.T) {
	file := `{"at":"2026-01-01T00:00:00Z","kind":"error","text":"\u001b]52;c;AAAA\u0007\n2026 forged","revision":"\u001b[2J"}
{"at":"2026-01-01T00:00:00Z","kind":"object","object":"a\nb","action":"\u001bc"}`
	log, err := recorder.Read([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := Run(log, nil).Write(&out); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.ContainsAny(text, "\x1b\x07") || strings.Count(text, "\n") != 3 {
		t.Errorf("got %q", text)
	}
}
