package clusterapi

import (
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/machine"
)

func TestGuards(t *testing.T) {
	for name, row := range map[string]struct {
		guard machine.Guard[Facts]
		facts Facts
		want  machine.Truth
		says  string
	}{
		"ClusterAPIExists/missing is no, and says what to do": {ClusterAPIExists, Facts{}, machine.No, "create it"},
		"ClusterAPIExists/there":                              {ClusterAPIExists, Facts{ClusterAPI: true}, machine.Yes, ""},
		"PlatformKnown/no platformStatus":                     {PlatformKnown, Facts{}, machine.No, "platformStatus"},
		"PlatformKnown/AWS":                                   {PlatformKnown, Facts{Platform: "AWS"}, machine.Yes, "AWS"},

		"LatestIsWanted/wanted not yet known is unknown": {
			LatestIsWanted, Facts{Planning: "fetching", LatestNumber: 1, Latest: "a"}, machine.Unknown, "fetching",
		},
		"LatestIsWanted/nothing listed": {LatestIsWanted, Facts{Wanted: "a"}, machine.No, "no revision"},
		"LatestIsWanted/other content": {
			LatestIsWanted, Facts{Wanted: "bbbbbbbbbbbb", Latest: "aaaaaaaaaaaa", LatestNumber: 3}, machine.No, "content bbbbbbbb is wanted, revision 3 has aaaaaaaa",
		},
		"LatestIsWanted/the same": {LatestIsWanted, Facts{Wanted: "a", Latest: "a", LatestNumber: 1}, machine.Yes, "wanted content"},

		"LatestIsCurrent/nothing listed":                 {LatestIsCurrent, Facts{}, machine.No, ""},
		"LatestIsCurrent/older current":                  {LatestIsCurrent, Facts{LatestNumber: 2, CurrentNumber: 1}, machine.No, ""},
		"LatestIsCurrent/same":                           {LatestIsCurrent, Facts{LatestNumber: 2, CurrentNumber: 2}, machine.Yes, ""},
		"OlderGone/one left":                             {OlderGone, Facts{Older: 1}, machine.No, "left: 1"},
		"OlderGone/one left, which nobody waits for yet": {OlderGone, Facts{Older: 1, Latest: "a"}, machine.No, ""},
		"OlderGone/not seen is unknown":                  {OlderGone, Facts{}, machine.Unknown, "not been seen"},
		"OlderGone/none left":                            {OlderGone, Facts{OlderSeen: true}, machine.Yes, ""},
		"RoomLeft/fifteen listed":                        {RoomLeft, Facts{Listed: 15}, machine.Yes, "15 of 16"},
		"RoomLeft/sixteen says what to do":               {RoomLeft, Facts{Listed: 16}, machine.No, "remove one"},

		"RoomLeft/sixteen names those that were given up": {
			RoomLeft, Facts{Listed: 16, CurrentNumber: 2, LatestNumber: 5, Revisions: []Revision{
				{Name: "a-1", Number: 1}, {Name: "a-2", Number: 2}, {Name: "b-3", Number: 3}, {Name: "c-4", Number: 4}, {Name: "d-5", Number: 5},
			}}, machine.No, "never became current (capstan recover does): b-3, c-4",
		},
		"RevisionIsApplied/not seen is unknown": {
			RevisionIsApplied, Facts{Applied: Applied{Why: "not watched"}}, machine.Unknown, "not watched",
		},
		"RevisionIsApplied/in the middle": {
			RevisionIsApplied, Facts{Applied: Applied{Known: true, Why: "wave 1/3"}}, machine.No, "wave 1/3",
		},
		"RevisionIsApplied/complete": {
			RevisionIsApplied, Facts{Applied: Applied{Known: true, Complete: true, Total: 5}}, machine.Yes, "all 5",
		},
		"OrphansAreGone/not looked": {OrphansAreGone, Facts{Orphans: Orphans{Why: "not looked"}}, machine.Unknown, "not looked"},
		"OrphansAreGone/two left":   {OrphansAreGone, Facts{Orphans: Orphans{Known: true, Left: 2, Why: "2 left"}}, machine.No, "2 left"},
		"OrphansAreGone/none left":  {OrphansAreGone, Facts{Orphans: Orphans{Known: true}}, machine.Yes, "nothing is left"},

		"CauseIsGone/still failing":            {CauseIsGone, Facts{Then: Then{Event: FailureEstablished, Failing: true}}, machine.No, ""},
		"CauseIsGone/no longer failing":        {CauseIsGone, Facts{Then: Then{Event: FailureEstablished}}, machine.Yes, "no error"},
		"CauseIsGone/stalled, nothing new":     {CauseIsGone, stalled(10), machine.No, "waits"},
		"CauseIsGone/stalled, not seen":        {CauseIsGone, Facts{LatestNumber: 1, Then: Then{Event: ProgressStalled}}, machine.No, ""},
		"CauseIsGone/stalled, one more object": {CauseIsGone, stalled(11), machine.Yes, "progress"},
		"CauseIsGone/stalled on an orphan that is still there": {
			CauseIsGone, Facts{
				Wanted: "a", Older: 1, Then: Then{Event: ProgressStalled}, Applied: Applied{Known: true, Complete: true}, Orphans: Orphans{Known: true, Left: 1, Why: "held"},
			}, machine.No, "held",
		},
		"CauseIsGone/stalled on an image that is still not there": {
			CauseIsGone, Facts{Planning: "being fetched", Then: Then{Event: ProgressStalled}, Applied: Applied{Known: true, Complete: true}}, machine.No, "being fetched",
		},
		"CauseIsGone/nothing is left to do": {
			CauseIsGone, Facts{Wanted: "a", Then: Then{Event: ProgressStalled}, Applied: Applied{Known: true, Complete: true}}, machine.Yes, "progress",
		},
		"CauseIsGone/gate still lost": {CauseIsGone, Facts{Then: Then{Event: GateLost}, Applied: Applied{Known: true, Why: "0/1"}}, machine.No, "0/1"},
		"CauseIsGone/gate regained": {
			CauseIsGone, Facts{Then: Then{Event: GateLost}, Applied: Applied{Known: true, Complete: true}}, machine.Yes, "probes pass",
		},
		"CauseIsGone/gate regained, but the work fails": {
			CauseIsGone, Facts{Then: Then{Event: GateLost, Failing: true}, Applied: Applied{Known: true, Complete: true}}, machine.No, "",
		},

		"InputChanged/not known": {InputChanged, Facts{Then: Then{Inputs: "x"}}, machine.Unknown, ""},
		"InputChanged/the same":  {InputChanged, Facts{Inputs: "x", Then: Then{Inputs: "x"}}, machine.No, ""},
		"InputChanged/another":   {InputChanged, Facts{Inputs: "y", Then: Then{Inputs: "x"}}, machine.Yes, "an input has changed"},
	} {
		t.Run(name, func(t *testing.T) {
			got := row.guard.Answer(row.facts)
			if got.Truth != row.want || !strings.Contains(got.Reason, row.says) {
				t.Errorf("answers %s (%q), want %s with %q", got.Truth, got.Reason, row.want, row.says)
			}
		})
	}
}

// stalled is a revision that stood still at 10 objects done.
func stalled(done int) Facts {
	return Facts{
		LatestNumber: 1, Applied: Applied{Known: true, Done: done, Total: 20, Why: "wave 2/3 waits"},
		Then: Then{Event: ProgressStalled, Done: 10},
	}
}

func TestRecall_copies_how_the_state_was_entered(t *testing.T) {
	var f Facts
	Recall(&f, machine.Record{LastEvent: GateLost, Entry: machine.Entry{Inputs: "i", Done: 7}, Failure: &machine.Failure{}})
	if f.Then != (Then{Event: GateLost, Inputs: "i", Done: 7, Failing: true}) {
		t.Errorf("got %+v", f.Then)
	}
}
