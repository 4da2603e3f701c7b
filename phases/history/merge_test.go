package history

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestHistory_takes_up_what_it_does_not_know_and_nothing_that_it_had_no_room_for(t *testing.T) {
	h := History{Lost: true, Dropped: 2, Began: noon, Revisions: []Revision{revision(4)}}
	other := revision(4)
	other.Name = "another"
	other.Consents = []string{"of another"}
	h.merge(History{Began: noon.Add(-time.Hour), Dropped: 1, Revisions: []Revision{revision(2), revision(3), other}})
	if len(h.Revisions) != 2 || h.Of(3) == nil || len(h.Of(4).Consents) != 0 || h.Lost || h.Dropped != 2 || !h.Began.Equal(noon.Add(-time.Hour)) {
		t.Errorf("it is %+v", h)
	}
	h = History{Lost: true, Revisions: []Revision{revision(4)}}
	if h.merge(History{}); !h.Lost || len(h.Revisions) != 1 {
		t.Errorf("after nothing was stored it is %+v", h)
	}
}

// those are revisions of these numbers.
func those(numbers ...int64) (all []Revision) {
	for _, number := range numbers {
		all = append(all, revision(number))
	}
	return all
}

func TestHistory_believes_a_copy_when_it_began_only_if_nothing_is_missing_any_more(t *testing.T) {
	early := noon.Add(-time.Hour)
	for name, row := range map[string]struct {
		ours     []Revision
		other    History
		believes bool
		numbers  string
	}{
		"all that was lost":           {those(6), History{Began: early, Revisions: those(1, 2, 3, 4, 5)}, true, "1 2 3 4 5 6"},
		"all but the last":            {those(6), History{Began: early, Revisions: those(1, 2, 3, 4)}, false, "1 2 3 4 6"},
		"all but one between ours":    {those(4, 6), History{Began: early, Revisions: those(1, 2, 3)}, false, "1 2 3 4 6"},
		"one that it had no room for": {those(6), History{Began: early, Dropped: 4, Revisions: those(2, 5)}, true, "2 5 6"},
		"nothing":                     {those(6), History{Began: early}, false, "6"},
		"what is known":               {those(6), History{Began: early, Revisions: those(6)}, false, "6"},
		"what is newer than ours":     {those(6), History{Began: early, Revisions: those(7, 99)}, false, "6"},
		"that all was dropped":        {those(6), History{Began: early, Dropped: math.MaxInt64, Revisions: those(4)}, false, "4 6"},
	} {
		t.Run(name, func(t *testing.T) {
			h := History{Lost: true, Began: noon, Revisions: row.ours}
			h.merge(row.other)
			var numbers []string
			for _, r := range h.Revisions {
				numbers = append(numbers, fmt.Sprint(r.Number))
			}
			if got := strings.Join(numbers, " "); got != row.numbers || h.Lost == row.believes || h.Began.Equal(early) != row.believes {
				t.Errorf("it has %s, lost %v, begun at %s", got, h.Lost, h.Began)
			}
			if h.Dropped != 0 && h.Dropped != 4 {
				t.Errorf("it has dropped up to %d", h.Dropped)
			}
		})
	}
}

// Whoever may write ConfigMaps may forge a copy.
func TestHistory_loses_nothing_of_its_own_by_a_forged_copy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfNDistinct(rapid.Int64Range(1, 30), 1, MaxRevisions, rapid.ID).Draw(t, "ours")
		h := History{Began: noon, Dropped: rapid.Int64Range(0, 10).Draw(t, "dropped")}
		for _, r := range those(numbers...) {
			r.Consents, r.Sent = []string{"ours"}, []string{"ours"}
			h.enter(r)
		}
		other := History{Dropped: rapid.SampledFrom([]int64{0, 5, 40, math.MaxInt64}).Draw(t, "forged dropped")}
		for _, r := range those(rapid.SliceOfNDistinct(rapid.Int64Range(1, 60), 0, MaxRevisions, rapid.ID).Draw(t, "forged")...) {
			r.Result = Installed
			for n := range rapid.IntRange(0, maxConsents).Draw(t, "consents") {
				r.Consents = append(r.Consents, fmt.Sprint("forged ", n))
			}
			r.Sent = slices.Concat(r.Consents, []string{strings.Repeat("long", rapid.IntRange(0, MaxBytes/4).Draw(t, "length"))})
			other.enter(r)
		}
		ours := h.clone()
		h.merge(other)
		text, fits, err := encode(h.clone())
		if err != nil || len(text) > mergedBytes+100 {
			t.Fatalf("it takes %d bytes: %v", len(text), err)
		}
		for _, r := range ours.Revisions {
			kept := fits.Of(r.Number)
			if kept == nil || kept.Result != r.Result || kept.Consents[0] != "ours" || kept.Sent[0] != "ours" || len(kept.Consents) > mergedConsents || len(kept.Sent) > mergedConsents {
				t.Fatalf("revision %d has become %+v", r.Number, kept)
			}
		}
		newest := ours.Revisions[len(ours.Revisions)-1].Number
		if last := h.Revisions[len(h.Revisions)-1].Number; last != newest || h.Dropped > max(ours.Dropped, ours.Revisions[0].Number-1) {
			t.Fatalf("it goes up to %d, and has dropped up to %d", last, h.Dropped)
		}
	})
}

func TestHistory_takes_nothing_from_a_copy_that_leaves_no_room_to_grow(t *testing.T) {
	h, other := History{Began: noon, Revisions: those(6)}, History{Revisions: those(5)}
	other.Revisions[0].Unmanaged = []string{strings.Repeat("a", mergedBytes)}
	before, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	h.merge(other)
	if after, err := json.Marshal(h); err != nil || string(after) != string(before) {
		t.Errorf("it is %d bytes (%v)", len(after), err)
	}
}
