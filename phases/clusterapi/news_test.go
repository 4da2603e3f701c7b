package clusterapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	configv1 "github.com/openshift/api/config/v1"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
)

// reporter is a store whose Events stay in their queue.
func reporter() *Store {
	return &Store{
		Phases: &Phases{
			events: &announcer{queue: make(chan news, waitingNews), log: logr.Discard()}, Again: func() {},
		},
		Rests:  func(s machine.State) bool { return s == "Installed" || s == "Degraded" },
		Alarms: func(s machine.State) bool { return s == "Degraded" },
	}
}

// waitingTexts are the Events in the queue, as "type reason: text".
func waitingTexts(s *Store) []string {
	var texts []string
	for len(s.events.queue) > 0 {
		n := <-s.events.queue
		kind := "Normal"
		if n.warns {
			kind = "Warning"
		}
		texts = append(texts, fmt.Sprintf("%s %s: %s", kind, n.reason, n.text))
	}
	return texts
}

func moves(times ...time.Duration) []machine.Transition {
	all := []machine.Transition{
		{From: "Planning", Event: "RevisionPublished", To: "Applying", Cause: "it is listed"},
		{From: "Applying", Event: "RevisionApplied", To: "Pruning"},
		{From: "Pruning", Event: "OrphansGone", To: "Installed"},
	}[:len(times)]
	for i, after := range times {
		all[i].At = noon.Add(after)
	}
	return all
}

func TestTellMoves_a_quick_passage_is_one_Event(t *testing.T) {
	s := reporter()
	s.tellMoves(machine.Record{State: "Applying", Transitions: moves(0)}, "Applying x", noon.Add(time.Second))
	if got := waitingTexts(s); len(got) != 0 {
		t.Errorf("told in the middle of it: %q", got)
	}
	done := machine.Record{State: "Installed", Transitions: moves(0, time.Second, 2*time.Second)}
	s.tellMoves(done, "Installed x: everything is as it should be", noon.Add(2*time.Second))
	s.tellMoves(done, "Installed x: everything is as it should be", noon.Add(3*time.Second))
	want := "Normal Installed: Installed x: everything is as it should be [Planning --RevisionPublished--> Applying (it is listed) --RevisionApplied--> Pruning --OrphansGone--> Installed]"
	if got := waitingTexts(s); len(got) != 1 || got[0] != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestTellMoves_a_state_that_lasts_is_told_meanwhile(t *testing.T) {
	s := reporter()
	s.tellMoves(machine.Record{State: "Applying", Transitions: moves(0)}, "Applying x: wave 1/7", noon.Add(gatherMoves))
	if got := waitingTexts(s); len(got) != 1 || !strings.HasPrefix(got[0], "Normal Applying: Applying x: wave 1/7 [") {
		t.Errorf("got %q", got)
	}
	degraded := append(moves(0), machine.Transition{From: "Applying", Event: "ProgressStalled", To: "Degraded", At: noon.Add(time.Hour), Cause: strings.Repeat("long ", 300)})
	s.tellMoves(machine.Record{State: "Degraded", Transitions: degraded}, strings.Repeat("line ", 300), noon.Add(time.Hour))
	got := waitingTexts(s)
	if len(got) != 1 || !strings.HasPrefix(got[0], "Warning Degraded: line line") || !strings.Contains(got[0], " [Applying --ProgressStalled--> Degraded]") {
		t.Errorf("got %q", got)
	}
	if text := strings.TrimPrefix(got[0], "Warning Degraded: "); len(text) > machine.MaxMessage {
		t.Errorf("the text has %d bytes", len(text))
	}
}

func TestTellStanding_what_stood_before_is_no_news(t *testing.T) {
	s := reporter()
	before := &configv1.ClusterOperator{}
	raw, err := json.Marshal(Detail{
		Retained:  []guards.RetainedObject{{Object: "CustomResourceDefinition as", Why: "holds 1 instances", Count: 1}},
		Contested: []guards.Contested{{Object: "ConfigMap a", Field: ".data.x", Managers: []string{"x"}, Times: 5}},
	})
	if err != nil {
		t.Fatal(err)
	}
	before.Status.Extension.Raw = fmt.Appendf(nil, `{"clusterapiDetail":%s}`, raw)
	now := guards.Display{
		Retained:   []guards.RetainedObject{{Object: "CustomResourceDefinition as", Why: "holds 2 instances", Count: 2}, {Object: "Namespace b", Why: "holds 1 objects", Count: 1}},
		Strays:     []string{"ConfigMap s"},
		Collisions: []guards.Collision{{Object: "ConfigMap c", Holder: "x", Why: "exists already"}, {Object: "ConfigMap d", Holder: "x", Why: "exists already"}},
		Refused:    []guards.Refused{{Object: "CustomResourceDefinition bs", Why: "version v1 is dropped"}},
		Contested:  []guards.Contested{{Object: "ConfigMap a", Field: ".data.x", Managers: []string{"x"}, Times: 9}},
	}
	s.tellStanding(before, now)
	want := []string{
		"Warning Collision: ConfigMap c exists already; ConfigMap d exists already",
		"Warning Refused: the update of CustomResourceDefinition bs is refused: version v1 is dropped",
		"Normal Retained: Namespace b (holds 1 objects)",
		"Warning Stray: ConfigMap s",
	}
	if got := waitingTexts(s); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	s.tellStanding(&configv1.ClusterOperator{}, now)
	if got := waitingTexts(s); len(got) != 5 {
		t.Errorf("without a stored detail everything is news, but %q", got)
	}
}

func TestPassage_names_every_move_before_any_cause(t *testing.T) {
	made := moves(0, time.Second, 2*time.Second)
	for name, row := range map[string]struct {
		line, cause, want string
	}{
		"room for all": {"Installed x", "short", "Installed x [Planning --RevisionPublished--> Applying (short) --RevisionApplied--> Pruning --OrphansGone--> Installed]"},
		"no room for causes": {
			"Installed x", strings.Repeat("y", machine.MaxMessage),
			"Installed x [Planning --RevisionPublished--> Applying --RevisionApplied--> Pruning --OrphansGone--> Installed]",
		},
		"a line without end": {
			strings.Repeat("z", machine.MaxMessage), strings.Repeat("y", machine.MaxMessage),
			strings.Repeat("z", machine.MaxMessage-len("… [Planning --RevisionPublished--> Applying --RevisionApplied--> Pruning --OrphansGone--> Installed]")) +
				"… [Planning --RevisionPublished--> Applying --RevisionApplied--> Pruning --OrphansGone--> Installed]",
		},
	} {
		made[0].Cause = row.cause
		if got := passage(row.line, made); got != row.want {
			t.Errorf("%s: got %d bytes: %s", name, len(got), got)
		}
	}
}
