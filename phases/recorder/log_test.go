package recorder

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/capstan-capi/capstan/machine"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestLog_keeps_the_newest_and_half_of_its_room_for_transitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var log []Entry
		transitions, others := 0, 0
		for i := range rapid.IntRange(0, 900).Draw(t, "entries") {
			e := Acted(noon.Add(time.Duration(i)*time.Second), "r", fmt.Sprint(i), "Updated", "")
			if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
				e = Entry{At: e.At, Kind: Transition}
				transitions++
			} else {
				others++
			}
			log, _ = add(log, e)
		}
		haveOthers := 0
		for i, e := range log {
			if e.Kind != Transition {
				haveOthers++
			}
			if i > 0 && e.At.Before(log[i-1].At) {
				t.Fatalf("entry %d is older than the one before it", i)
			}
		}
		if len(log) > maxEntries || haveOthers > maxOthers {
			t.Fatalf("%d entries, %d of them no transitions", len(log), haveOthers)
		}
		if want := min(others, maxOthers); haveOthers < want && len(log) < maxEntries {
			t.Fatalf("%d of %d others are kept though there is room", haveOthers, others)
		}
		if want := min(transitions, maxEntries-maxOthers); len(log)-haveOthers < want {
			t.Fatalf("%d of %d transitions are kept", len(log)-haveOthers, transitions)
		}
	})
}

// dropped is bounded one entry at a time, which is plain and slow.
func dropped(log []Entry) []Entry {
	log = slices.Clone(log)
	isOther := func(e Entry) bool { return e.Kind != Transition }
	for {
		others := 0
		for _, e := range log {
			if isOther(e) {
				others++
			}
		}
		oldest := 0
		switch {
		case others > maxOthers:
			oldest = slices.IndexFunc(log, isOther)
		case len(log) <= maxEntries:
			return log
		}
		log = slices.Delete(log, oldest, oldest+1)
	}
}

func TestLog_drops_the_same_at_once_as_one_by_one(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var log []Entry
		for i := range rapid.IntRange(0, 700).Draw(t, "entries") {
			kind := rapid.SampledFrom([]Kind{Transition, Object}).Draw(t, "kind")
			log = append(log, Entry{At: noon, Kind: kind, Object: fmt.Sprint(i)})
		}
		want := dropped(log)
		if got := bounded(log); !reflect.DeepEqual(got, want) && len(want) > 0 {
			t.Fatalf("got %d entries, want %d", len(got), len(want))
		}
	})
}

func TestLog_counts_what_happens_again_and_calls_it_no_news(t *testing.T) {
	var log []Entry
	failed := Failed(noon, "r", fmt.Errorf("the registry is away"), nil)
	var fresh bool
	for i := range 3 {
		failed.At = noon.Add(time.Duration(i) * time.Minute)
		log, fresh = add(log, failed)
		if fresh != (i == 0) {
			t.Errorf("the %d. time it is new: %v", i+1, fresh)
		}
	}
	if len(log) != 1 || log[0].Times != 3 || !log[0].At.Equal(noon) || !log[0].Last.Equal(noon.Add(2*time.Minute)) {
		t.Errorf("got %+v", log)
	}
	if log, fresh = add(log, Failed(noon, "r", fmt.Errorf("another"), nil)); !fresh || len(log) != 2 {
		t.Errorf("another error is not told: %+v", log)
	}
}

func TestLog_clips_long_texts_and_leaves_the_decision_it_was_given_alone(t *testing.T) {
	long := strings.Repeat("ö", 2000)
	d := &machine.Decision{Cause: long, Reason: long, Answers: []machine.Asked{{Guard: "g", Why: long}}}
	log, _ := add(nil, Entry{At: noon, Kind: Transition, Text: long, Decision: d})
	got := log[0]
	for _, text := range []string{got.Text, got.Decision.Cause, got.Decision.Reason, got.Decision.Answers[0].Why} {
		if len(text) > machine.MaxMessage {
			t.Errorf("a text has %d bytes", len(text))
		}
	}
	if d.Cause != long || d.Answers[0].Why != long {
		t.Error("what was recorded has been changed")
	}
}
