package machine

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"
)

func TestStep_tells_of_every_move_how_it_stands(t *testing.T) {
	b := newBench(t)
	b.world.workErr = errors.New("rust")
	want := []Candidate{
		{Event: "Failed", To: "Stuck", Answer: No, Why: "rust", At: b.now.Add(time.Minute)},
		{Event: "Forced", To: "Stuck", Answer: No, Why: "urgent"},
		{Event: "Opened", To: "Open", Answer: No, Why: "open"},
		{Event: "Stalled", To: "Stuck", Answer: No, Why: "the last progress was less than 1m ago", At: b.now.Add(time.Minute)},
	}
	if got := b.step().Moves(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	b.world.open = true
	want = []Candidate{{Event: "Broke", To: "Stuck", Answer: No, Why: "broken"}}
	if got := b.step().Moves(); !reflect.DeepEqual(got, want) {
		t.Errorf("after a move, those of the new state are told: %+v", got)
	}
	b.world.broken = true
	want = []Candidate{{Event: "Broke", To: "Stuck", Answer: No, Why: "broken", At: b.now.Add(time.Minute)}}
	if got := b.step().Moves(); !reflect.DeepEqual(got, want) {
		t.Errorf("a guard that has to last tells when it will have: %+v", got)
	}
}

func TestStep_notes_what_a_move_was_chosen_from(t *testing.T) {
	b := newBench(t)
	if got := b.step().Decision(); got != nil {
		t.Errorf("no move was chosen, but %+v", got)
	}
	start := b.now
	b.now = b.now.Add(time.Second)
	b.world.open, b.world.effectErr = true, errors.New("no voice")
	out := b.step()
	want := &Decision{
		At: b.now, Settled: out.Decision().Settled, State: "Closed", Reason: "urgent; open", Progressed: start,
		Answers: []Asked{{"urgent", No, "urgent"}, {"open", Yes, "open"}},
		Event:   "Opened", To: "Open", Cause: "open",
	}
	if out.Moved != nil || !reflect.DeepEqual(out.Decision(), want) {
		t.Errorf("got  %+v\nwant %+v", out.Decision(), want)
	}
}

func TestReplay_takes_the_decision_that_the_table_takes_now(t *testing.T) {
	d := Decision{
		At: time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC), State: "Closed", Progressed: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		Answers: []Asked{{Guard: "open", Answer: Unknown}}, Event: "Opened", To: "Open",
	}
	again, candidates, err := door().Replay(d)
	if err != nil || again.Event != "Stalled" || again.To != "Stuck" || len(candidates) != 4 {
		t.Errorf("got %+v with %+v (%v)", again, candidates, err)
	}
	d.State = "Ajar"
	var unknown *UnknownStateError
	if _, _, err := door().Replay(d); !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
}

func TestTruth_is_written_as_a_word_and_read_back(t *testing.T) {
	for _, truth := range []Truth{Unknown, No, Yes} {
		text, err := json.Marshal(truth)
		var back Truth
		if err != nil || json.Unmarshal(text, &back) != nil || back != truth {
			t.Errorf("%s is written as %s and read as %s (%v)", truth, text, back, err)
		}
	}
	var none Truth
	if err := json.Unmarshal([]byte(`"Maybe"`), &none); err == nil {
		t.Error("Maybe is read as an answer")
	}
}
