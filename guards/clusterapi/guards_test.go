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
		"ClusterAPIIsOurs/missing is no, and says what to do": {ClusterAPIIsOurs, Facts{Seen: true}, machine.No, "create it"},
		"ClusterAPIIsOurs/there":                              {ClusterAPIIsOurs, Facts{Seen: true, ClusterAPI: true}, machine.Yes, ""},
		"ClusterAPIIsOurs/a former installer runs, and it says what ends it": {
			ClusterAPIIsOurs, Facts{Seen: true, ClusterAPI: true, FormerInstaller: "Deployment a/b runs"}, machine.No, "Deployment a/b runs; this operator plans nothing beside it; to see what ends it: capstan takeover --dry-run",
		},
		"FormerInstallerRuns/yes": {FormerInstallerRuns, Facts{Seen: true, FormerInstaller: "Deployment a/b runs"}, machine.Yes, "Deployment a/b"},
		"FormerInstallerRuns/no":  {FormerInstallerRuns, Facts{Seen: true}, machine.No, ""},

		"ListForAnotherRelease/yes": {ListForAnotherRelease, Facts{Seen: true, ListRelease: "4.22.6", Planning: "is for release 4.22.6"}, machine.Yes, "is for release 4.22.6"},
		"ListForAnotherRelease/no":  {ListForAnotherRelease, Facts{Seen: true, Planning: "being fetched"}, machine.No, ""},
		"ListIsOurs/of another one": {ListIsOurs, Facts{Seen: true, ListRelease: "4.22.6", Planning: "is for release 4.22.6"}, machine.No, "is for release 4.22.6"},
		"ListIsOurs/of ours":        {ListIsOurs, Facts{Seen: true}, machine.Yes, ""},
		"ListIsOurs/of another one while a revision of ours is on its way": {
			ListIsOurs, Facts{Seen: true, ListRelease: "4.22.6", DesiredNumber: 2, CurrentNumber: 1}, machine.Yes, "",
		},
		"RolloutGoesOn/the list is for another release": {
			RolloutGoesOn, Facts{Seen: true, ListRelease: "4.22.6", Planning: "is for release 4.22.6", DesiredNumber: 2, CurrentNumber: 1}, machine.Yes, "is for release 4.22.6",
		},
		"RolloutGoesOn/somebody else has listed it": {
			RolloutGoesOn, Facts{Seen: true, Unplannable: true, DesiredNumber: 2, CurrentNumber: 1, DesiredForeign: "no inventory proves it"}, machine.No, "",
		},
		"DesiredStands/somebody else has listed it": {
			DesiredStands, Facts{Seen: true, Planning: "fetching", DesiredNumber: 2, DesiredForeign: "no inventory proves it"}, machine.No, "no inventory proves it",
		},
		"DesiredStands/somebody else has listed it, and consent is awaited": {
			DesiredStands, Facts{Seen: true, Planned: "b", DesiredNumber: 2, DesiredForeign: "no inventory proves it", AwaitsUninstallConsent: "all"}, machine.No, "no inventory proves it",
		},
		"RoomLeft/of sixteen one is somebody else's and gives way": {RoomLeft, Facts{Seen: true, Listed: 16, GivingWay: 1}, machine.Yes, ""},
		"PlatformKnown/no platformStatus":                          {PlatformKnown, Facts{Seen: true}, machine.No, "platformStatus"},
		"PlatformKnown/AWS":                                        {PlatformKnown, Facts{Seen: true, Platform: "AWS"}, machine.Yes, "AWS"},
		"SpecObserved/a new spec":                                  {SpecObserved, Facts{Seen: true}, machine.No, "newest spec"},
		"SpecObserved/the same":                                    {SpecObserved, Facts{Seen: true, SpecObserved: true}, machine.Yes, ""},

		"DesiredMatchesInputs/planned content not yet known is unknown": {
			DesiredMatchesInputs, Facts{Seen: true, Planning: "fetching", DesiredNumber: 1, Desired: "a"}, machine.Unknown, "fetching",
		},
		"DesiredMatchesInputs/nothing listed": {DesiredMatchesInputs, Facts{Seen: true, Planned: "a"}, machine.No, "no revision"},
		"DesiredMatchesInputs/other content": {
			DesiredMatchesInputs, Facts{Seen: true, Planned: "bbbbbbbbbbbb", Desired: "aaaaaaaaaaaa", DesiredNumber: 3}, machine.No, "the inputs ask for content bbbbbbbb, revision 3 has aaaaaaaa",
		},
		"DesiredMatchesInputs/other content, which awaits consent": {
			DesiredMatchesInputs, awaitsConsent(3), machine.No, "the inputs ask for content bbbbbbbb, revision 3 has aaaaaaaa",
		},
		"DesiredStands/other content": {DesiredStands, Facts{Seen: true, Planned: "b", Desired: "a", DesiredNumber: 3}, machine.No, "the inputs ask for content b"},
		"DesiredStands/the same":      {DesiredStands, Facts{Seen: true, Planned: "a", Desired: "a", DesiredNumber: 3}, machine.Yes, "planned content"},
		"DesiredStands/other content, which awaits consent": {
			DesiredStands, awaitsConsent(3), machine.Yes, "revision 3 goes on: revision 4 would uninstall everything",
		},
		"DesiredStands/planned content not yet known is unknown": {DesiredStands, Facts{Seen: true, Planning: "fetching", DesiredNumber: 3}, machine.Unknown, "fetching"},
		"DesiredStands/nothing listed":                           {DesiredStands, awaitsConsent(0), machine.No, "no revision"},
		"DesiredMatchesInputs/somebody has consented": {
			DesiredMatchesInputs,
			Facts{Seen: true, Planned: "b", Desired: "a", DesiredNumber: 3, UninstallConsent: "consent-to-uninstall of revision r-b-4 by anna since noon: it moves"},
			machine.No,
			"revision 3 has a (consent-to-uninstall of revision r-b-4 by anna since noon: it moves)",
		},
		"UninstallAwaitsConsent/it does":     {UninstallAwaitsConsent, awaitsConsent(3), machine.Yes, "would uninstall everything"},
		"UninstallAwaitsConsent/it does not": {UninstallAwaitsConsent, Facts{Seen: true}, machine.No, ""},
		"DesiredMatchesInputs/the same":      {DesiredMatchesInputs, Facts{Seen: true, Planned: "a", Desired: "a", DesiredNumber: 1}, machine.Yes, "planned content"},

		"RolloutGoesOn/what the inputs ask for is on its way": {RolloutGoesOn, Facts{Seen: true, DesiredNumber: 2, CurrentNumber: 1}, machine.No, ""},
		"RolloutGoesOn/nothing is listed":                     {RolloutGoesOn, Facts{Seen: true, Unplannable: true}, machine.No, ""},
		"RolloutGoesOn/it is installed":                       {RolloutGoesOn, Facts{Seen: true, Unplannable: true, DesiredNumber: 2, CurrentNumber: 2}, machine.No, ""},
		"RolloutGoesOn/the inputs are wrong": {
			RolloutGoesOn, Facts{Seen: true, Unplannable: true, Planning: "by tag", DesiredNumber: 2, CurrentNumber: 1}, machine.Yes, "by tag",
		},

		"DesiredIsCurrent/nothing listed":                {DesiredIsCurrent, Facts{Seen: true}, machine.No, ""},
		"DesiredIsCurrent/older current":                 {DesiredIsCurrent, Facts{Seen: true, DesiredNumber: 2, CurrentNumber: 1}, machine.No, ""},
		"DesiredIsCurrent/same":                          {DesiredIsCurrent, Facts{Seen: true, DesiredNumber: 2, CurrentNumber: 2}, machine.Yes, ""},
		"OlderGone/one left":                             {OlderGone, Facts{Seen: true, Older: 1}, machine.No, "left: 1"},
		"OlderGone/one left, which nobody waits for yet": {OlderGone, Facts{Seen: true, Older: 1, Desired: "a"}, machine.No, ""},
		"OlderGone/not seen is unknown":                  {OlderGone, Facts{Seen: true}, machine.Unknown, "not been seen"},
		"OlderGone/none left":                            {OlderGone, Facts{Seen: true, OlderSeen: true}, machine.Yes, ""},
		"RoomLeft/fifteen listed":                        {RoomLeft, Facts{Seen: true, Listed: 15}, machine.Yes, "15 of 16"},
		"RoomLeft/sixteen says what to do":               {RoomLeft, Facts{Seen: true, Listed: 16}, machine.No, "remove one"},

		"RoomLeft/sixteen names those that were given up": {
			RoomLeft, Facts{Seen: true, Listed: 16, CurrentNumber: 2, DesiredNumber: 5, Abandoned: []string{"b-3", "c-4"}}, machine.No, "never became current (capstan recover does): b-3, c-4",
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

		"InputsUnplannable/on its way":   {InputsUnplannable, Facts{Seen: true, Planning: "being fetched"}, machine.No, ""},
		"InputsUnplannable/an error":     {InputsUnplannable, Facts{Seen: true, Planning: "by tag", Unplannable: true}, machine.Yes, "by tag"},
		"PlanIsTerminal/it may heal":     {PlanIsTerminal, Facts{Seen: true, Planning: "away", Unplannable: true}, machine.No, ""},
		"PlanIsTerminal/it does not":     {PlanIsTerminal, Facts{Seen: true, Planning: "by tag", Unplannable: true, PlanTerminal: true}, machine.Yes, "by tag"},
		"NothingIsCurrent/one is":        {NothingIsCurrent, Facts{Seen: true, CurrentNumber: 2}, machine.No, ""},
		"NothingIsCurrent/none has been": {NothingIsCurrent, Facts{Seen: true}, machine.Yes, ""},

		"RetainedMayGo/not looked":     {RetainedMayGo, Facts{}, machine.Unknown, ""},
		"RetainedMayGo/all holds data": {RetainedMayGo, Facts{Retained: Retained{Known: true}}, machine.No, ""},
		"RetainedMayGo/one is empty": {
			RetainedMayGo, Facts{DesiredNumber: 2, CurrentNumber: 2, Retained: Retained{Known: true, MayGo: []string{"a CRD"}}}, machine.Yes, "a CRD",
		},
		"RetainedMayGo/one is empty, and the desired revision is not current": {
			RetainedMayGo, Facts{DesiredNumber: 3, CurrentNumber: 2, Retained: Retained{Known: true, MayGo: []string{"a CRD"}}}, machine.No, "",
		},

		"WorkSucceeds/an error is unknown": {WorkSucceeds, Facts{Then: Then{Failing: true}}, machine.Unknown, ""},
		"WorkSucceeds/no error, after one": {WorkSucceeds, Facts{Then: Then{Event: FailureEstablished}}, machine.Yes, "no error"},

		"EnteredByStall/stalled":     {EnteredByStall, Facts{Then: Then{Event: ProgressStalled}}, machine.Yes, ""},
		"EnteredByStall/an error":    {EnteredByStall, Facts{Then: Then{Event: FailureEstablished}}, machine.No, ""},
		"EnteredByGateLoss/gate":     {EnteredByGateLoss, Facts{Then: Then{Event: GateLost}}, machine.Yes, ""},
		"EnteredByGateLoss/an error": {EnteredByGateLoss, Facts{Then: Then{Event: FailureEstablished}}, machine.No, ""},

		"ProgressIsMade/nothing new":     {ProgressIsMade, stalled(10), machine.No, "waits"},
		"ProgressIsMade/not seen":        {ProgressIsMade, Facts{Seen: true, DesiredNumber: 1, Then: Then{Event: ProgressStalled}}, machine.Unknown, ""},
		"ProgressIsMade/one more object": {ProgressIsMade, stalled(11), machine.Yes, "progress"},
		"ProgressIsMade/the state it came from waits": {
			ProgressIsMade, Facts{Seen: true, Applied: Applied{Known: true}, Then: Then{Resumed: machine.Resumed{Done: machine.SayNo("in use")}}}, machine.No, "in use",
		},
		"ProgressIsMade/it cannot be told what the state it came from waits for": {
			ProgressIsMade,
			Facts{Seen: true, DesiredNumber: 1, Then: Then{Resumed: machine.Resumed{Done: machine.SayUnknown("being fetched")}}},
			machine.Unknown, "being fetched",
		},
		"ProgressIsMade/the state it came from has nothing left to do": {
			ProgressIsMade, Facts{Seen: true, Then: Then{Done: 9, Resumed: machine.Resumed{Done: machine.SayYes("nothing is left")}}}, machine.Yes, "progress",
		},

		"InputChanged/not known": {InputChanged, Facts{Then: Then{Inputs: "x"}}, machine.Unknown, ""},
		"InputChanged/the same":  {InputChanged, Facts{Inputs: "x", Then: Then{Inputs: "x"}}, machine.No, ""},
		"InputChanged/another":   {InputChanged, Facts{Inputs: "y", Then: Then{Inputs: "x"}}, machine.Yes, "an input has changed"},
		"InputChanged/something goes before what the state it came from did": {
			InputChanged,
			Facts{Inputs: "x", Then: Then{Inputs: "x", Resumed: machine.Resumed{Overtaken: machine.SayYes("no revision is listed")}}},
			machine.Yes, "no revision is listed",
		},
		"InputChanged/it cannot be told what goes before": {
			InputChanged, Facts{Inputs: "x", Then: Then{Inputs: "x", Resumed: machine.Resumed{Overtaken: machine.SayUnknown("not seen")}}}, machine.No, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := row.guard.Answer(row.facts)
			if got.Truth != row.want || !strings.Contains(got.Reason, row.says) {
				t.Errorf("answers %s (%q), want %s with %q", got.Truth, got.Reason, row.want, row.says)
			}
		})
	}
}

func TestGuards_on_zero_facts_whoever_asks_about_the_cluster_answers_Unknown(t *testing.T) {
	for _, guard := range []machine.Guard[Facts]{
		ClusterAPIIsOurs, FormerInstallerRuns, ListForAnotherRelease, ListIsOurs, PlatformKnown, DesiredMatchesInputs, DesiredStands, UninstallAwaitsConsent, RolloutGoesOn, DesiredIsCurrent, SpecObserved, OlderGone, RoomLeft,
		RevisionIsApplied, LeavesCRDs, CRDsMeet, OrphansAreGone, RetainedMayGo, ProgressIsMade, InputChanged, InputsUnplannable, PlanIsTerminal, NothingIsCurrent,
	} {
		if got := guard.Answer(Facts{}); got.Truth != machine.Unknown {
			t.Errorf("%s answers %s (%s)", guard.Name, got.Truth, got.Reason)
		}
	}
}

// awaitsConsent is a desired revision of this number beside an emptied list of images.
func awaitsConsent(number int64) Facts {
	return Facts{
		Seen: true, Planned: "bbbbbbbbbbbb", Desired: "aaaaaaaaaaaa", DesiredNumber: number, AwaitsUninstallConsent: "revision 4 would uninstall everything",
	}
}

// stalled is a revision that stood still at 10 objects done.
func stalled(done int) Facts {
	return Facts{
		Seen: true, DesiredNumber: 1, Applied: Applied{Known: true, Done: done, Total: 20, Why: "wave 2/3 waits"},
		Then: Then{Event: ProgressStalled, Done: 10, Resumed: machine.Resumed{Done: machine.SayNo("wave 2/3 waits")}},
	}
}

func TestRecall_copies_how_the_state_was_entered(t *testing.T) {
	var f Facts
	resumed := machine.Resumed{Done: machine.SayYes("nothing is left")}
	Recall(&f, machine.Record{LastEvent: GateLost, Entry: machine.Entry{Inputs: "i", Done: 7}, Failure: &machine.Failure{}}, resumed)
	if f.Then != (Then{Event: GateLost, Resumed: resumed, Inputs: "i", Done: 7, Failing: true}) {
		t.Errorf("got %+v", f.Then)
	}
}
