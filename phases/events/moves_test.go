package events

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

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

func TestMoves_are_gathered_until_the_machine_rests_or_for_ten_seconds(t *testing.T) {
	for name, row := range map[string]struct {
		made  []machine.Transition
		rests bool
		after time.Duration
		take  int
		again time.Duration
	}{
		"no move":                           {nil, true, 0, 0, 0},
		"in the middle of a passage":        {moves(0), false, time.Second, 0, 9 * time.Second},
		"at its end":                        {moves(0, time.Second, 2*time.Second), true, 2 * time.Second, 3, 0},
		"a state that lasts":                {moves(0), false, gatherFor, 1, 0},
		"the clock was set back by an hour": {moves(0), false, -time.Hour, 0, gatherFor},
	} {
		t.Run(name, func(t *testing.T) {
			m := &Moves{}
			for _, made := range row.made {
				m.Add(made)
			}
			made, again := m.Take(row.rests, noon.Add(row.after))
			if len(made) != row.take || again != row.again {
				t.Errorf("takes %d moves, and asks again after %s", len(made), again)
			}
			if left, _ := m.Take(true, noon.Add(row.after)); len(left) != len(row.made)-row.take {
				t.Errorf("%d moves are left", len(left))
			}
		})
	}
}

func TestMoves_that_never_come_to_rest_are_bounded(t *testing.T) {
	m := &Moves{}
	for range 10 * maxMoves {
		m.Add(machine.Transition{At: noon})
	}
	if made, _ := m.Take(true, noon); len(made) != maxMoves {
		t.Errorf("%d moves are kept", len(made))
	}
}

func TestMoved_names_every_move_before_any_cause(t *testing.T) {
	const path = "Planning --RevisionPublished--> Applying --RevisionApplied--> Pruning --OrphansGone--> Installed"
	made := moves(0, time.Second, 2*time.Second)
	for name, row := range map[string]struct {
		line, cause, want string
	}{
		"room for all":       {"Installed x", "short", "Installed x [" + strings.Replace(path, "Applying", "Applying (short)", 1) + "]"},
		"no room for causes": {"Installed x", strings.Repeat("y", machine.MaxMessage), "Installed x [" + path + "]"},
		"a line without an end": {
			strings.Repeat("z", machine.MaxMessage), strings.Repeat("y", machine.MaxMessage),
			strings.Repeat("z", machine.MaxMessage-len("… ["+path+"]")) + "… [" + path + "]",
		},
	} {
		made[0].Cause = row.cause
		if got := Moved(row.line, made); got.Text != row.want || got.Reason != "Installed" || got.Action != "OrphansGone" {
			t.Errorf("%s: got %s with %d bytes: %s", name, got.Reason, len(got.Text), got.Text)
		}
	}
}

func TestAppeared_what_was_there_before_is_no_news(t *testing.T) {
	key := func(s string) string { return s[:1] }
	kind := Event{Reason: "Stray", Action: "Watch", Warns: true}
	got := Appeared(kind, []string{"a has 1"}, []string{"a has 2", "b has 1", "c has 1"}, key)
	want := []Event{{Reason: "Stray", Action: "Watch", Warns: true, Key: "Stray b; c", Text: "b has 1; c has 1"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
	if got := Appeared(kind, []string{"a has 1"}, []string{"a has 2"}, key); got != nil {
		t.Errorf("nothing is new, and told is %+v", got)
	}
	if got := Appeared(kind, nil, []string{"a " + strings.Repeat("x", 2*machine.MaxMessage)}, key); len(got[0].Text) > machine.MaxMessage {
		t.Errorf("the text has %d bytes", len(got[0].Text))
	}
}
