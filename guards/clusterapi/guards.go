package clusterapi

import (
	"fmt"
	"strings"

	"github.com/capstan-capi/capstan/machine"
)

// The events that lead to Degraded, which its exits tell apart.
const (
	ProgressStalled    machine.Event = "ProgressStalled"
	FailureEstablished machine.Event = "FailureEstablished"
	GateLost           machine.Event = "GateLost"
)

// notLooked is why nothing can be told before the first look.
const notLooked = "the cluster has not been looked at yet"

// seen makes a question one that is Unknown until the cluster was looked at.
func seen(ask func(Facts) machine.Answer) func(Facts) machine.Answer {
	return func(f Facts) machine.Answer {
		if !f.Seen {
			return machine.SayUnknown(notLooked)
		}
		return ask(f)
	}
}

// DesiredMatchesInputs asks whether the desired revision is what the inputs ask for.
var DesiredMatchesInputs = machine.Guard[Facts]{
	Name: "DesiredMatchesInputs",
	Doc:  "The desired revision has the content that images, platform and ClusterAPI spec ask for, none with a higher number was begun, and nobody but this operator has listed it.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case f.DesiredForeign != "":
			return machine.SayNo(strings.TrimSuffix(f.DesiredForeign+"; "+f.Planning, "; "))
		case f.Planned == "":
			return machine.SayUnknown(f.Planning)
		case f.DesiredNumber == 0:
			return machine.SayNo("no revision is listed")
		case f.Desired != f.Planned:
			return machine.SayNo(fmt.Sprintf("the inputs ask for content %s, revision %d has %s", id(f.Planned), f.DesiredNumber, id(f.Desired)) + pinned(f) + consented(f))
		case f.Begun > f.DesiredNumber:
			return machine.SayNo(fmt.Sprintf("revision %d was begun and is not listed any more, so that objects may be as it has them", f.Begun))
		}
		return machine.SayYes(fmt.Sprintf("revision %d has the planned content %s", f.DesiredNumber, id(f.Planned)) + pinned(f))
	}),
}

// DesiredStands asks whether the desired revision is the one to go on with.
var DesiredStands = machine.Guard[Facts]{
	Name: "DesiredStands",
	Doc: "The desired revision has the content that images, platform and ClusterAPI spec ask for, and none with a higher number was begun; " +
		"or they ask for one that would uninstall what the administrator has not consented to. " +
		"One that somebody else has listed does not stand: no inventory of this operator proves its entry, and it has other content than the inputs ask for.",
	Ask: seen(func(f Facts) machine.Answer {
		if f.DesiredNumber > 0 && f.DesiredForeign == "" && f.AwaitsUninstallConsent != "" {
			return machine.SayYes(fmt.Sprintf("revision %d goes on: %s", f.DesiredNumber, f.AwaitsUninstallConsent))
		}
		return DesiredMatchesInputs.Answer(f)
	}),
}

// DesiredIsCurrent asks whether the desired revision has been fully applied before.
var DesiredIsCurrent = machine.Guard[Facts]{
	Name: "DesiredIsCurrent",
	Doc:  "The desired revision is status.currentRevision: it has been fully applied.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case f.CurrentNumber == 0:
			return machine.SayNo("no revision is current")
		case f.DesiredNumber != f.CurrentNumber:
			return machine.SayNo(fmt.Sprintf("revision %d is current", f.CurrentNumber))
		}
		return machine.SayYes("")
	}),
}

// RolloutGoesOn asks whether the desired revision has to be rolled out though the inputs cannot be planned.
var RolloutGoesOn = machine.Guard[Facts]{
	Name: "RolloutGoesOn",
	Doc:  "The inputs cannot be planned, or are for another release's operator, and the desired revision is this operator's and not fully applied yet.",
	Ask: seen(func(f Facts) machine.Answer {
		if (f.Unplannable || f.ListRelease != "") && unfinished(f) {
			return machine.SayYes(fmt.Sprintf("revision %d is not fully applied yet, and the inputs cannot be planned: %s", f.DesiredNumber, f.Planning))
		}
		return machine.SayNo("")
	}),
}

// InputsUnplannable asks whether the inputs cannot be turned into a revision.
var InputsUnplannable = machine.Guard[Facts]{
	Name: "InputsUnplannable",
	Doc:  "The inputs cannot be planned, which is an error and nothing that is on its way.",
	Ask: seen(func(f Facts) machine.Answer {
		return machine.Say(f.Unplannable, unless(!f.Unplannable, f.Planning))
	}),
}

// PlanIsTerminal asks whether only another input heals what is wrong with the inputs.
var PlanIsTerminal = machine.Guard[Facts]{
	Name: "PlanIsTerminal",
	Doc:  "The inputs cannot be planned, and only another input heals that.",
	Ask: seen(func(f Facts) machine.Answer {
		return machine.Say(f.PlanTerminal, unless(!f.PlanTerminal, f.Planning))
	}),
}

// UninstallAwaitsConsent asks whether the inputs ask for what the administrator has to consent to.
var UninstallAwaitsConsent = machine.Guard[Facts]{
	Name: "UninstallAwaitsConsent",
	Doc: "The inputs ask for a revision that would end all that runs, all workloads of a component that stays, or a component while a listed image has no folder with manifests, " +
		"and no act consents to it by its name.",
	Ask: seen(func(f Facts) machine.Answer {
		return machine.Say(f.AwaitsUninstallConsent != "", f.AwaitsUninstallConsent)
	}),
}

// NothingIsCurrent asks whether no revision has ever been fully applied.
var NothingIsCurrent = machine.Guard[Facts]{
	Name: "NothingIsCurrent",
	Doc:  "No revision is status.currentRevision.",
	Ask: seen(func(f Facts) machine.Answer {
		return machine.Say(f.CurrentNumber == 0, "")
	}),
}

// SpecObserved asks whether the status tells which spec it is for.
var SpecObserved = machine.Guard[Facts]{
	Name: "SpecObserved",
	Doc:  "ClusterAPI.status.observedRevisionGeneration is not behind the generation of the spec.",
	Ask: seen(func(f Facts) machine.Answer {
		return machine.Say(f.SpecObserved, unless(f.SpecObserved, "the status does not tell of the newest spec yet"))
	}),
}

// OlderGone asks whether anything is left of older revisions.
var OlderGone = machine.Guard[Facts]{
	Name: "OlderGone",
	Doc:  "No older revision is listed or has an inventory left.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case f.Older > 0 && f.Planned != f.Desired:
			return machine.SayNo("") // it is not what is waited for
		case f.Older > 0:
			return machine.SayNo(fmt.Sprintf("older revisions left: %d", f.Older))
		case !f.OlderSeen:
			return machine.SayUnknown("the inventories of revisions have not been seen yet")
		}
		return machine.SayYes("")
	}),
}

// RoomLeft asks whether one more revision can be listed.
var RoomLeft = machine.Guard[Facts]{
	Name: "RoomLeft",
	Doc:  "Fewer than 16 revisions are listed, or somebody else has listed one of them that is not current and gives way, so one more can be added.",
	Ask: seen(func(f Facts) machine.Answer {
		if f.Listed-f.GivingWay >= MaxRevisions {
			return machine.SayNo(fmt.Sprintf("%d revisions are listed in ClusterAPI.status, and the API allows no more; remove one that never became current%s",
				f.Listed, abandoned(f)))
		}
		return machine.SayYes(fmt.Sprintf("%d of %d revisions are listed", f.Listed, MaxRevisions))
	}),
}

// abandoned names the revisions that were given up before they were fully
// applied. The desired one is none of them: its number must not be used again.
func abandoned(f Facts) string {
	if len(f.Abandoned) == 0 {
		return ""
	}
	return " (capstan recover does): " + strings.Join(f.Abandoned, ", ")
}

// RevisionIsApplied asks whether all waves are applied and all probes pass.
var RevisionIsApplied = machine.Guard[Facts]{
	Name: "RevisionIsApplied",
	Doc:  "Every wave of the desired revision is applied and its probes pass.",
	Ask: func(f Facts) machine.Answer {
		switch {
		case !f.Applied.Known:
			return machine.SayUnknown(f.Applied.Why)
		case f.Applied.Complete:
			return machine.SayYes(fmt.Sprintf("all %d objects of revision %d are applied", f.Applied.Total, f.DesiredNumber))
		}
		return machine.SayNo(f.Applied.Why)
	},
}

// WorkSucceeds asks whether the last attempt met no error. With one it cannot
// be told what a probe that fails means.
var WorkSucceeds = machine.Guard[Facts]{
	Name: "WorkSucceeds",
	Doc:  "The last attempt at the work of this state met no error; with one it cannot be told what a probe that fails means.",
	Ask: func(f Facts) machine.Answer {
		if f.Then.Failing {
			return machine.SayUnknown("")
		}
		return machine.SayYes(unless(f.Then.Event != FailureEstablished, "the last attempt met no error"))
	},
}

// OrphansAreGone asks whether pruning is done.
var OrphansAreGone = machine.Guard[Facts]{
	Name: "OrphansAreGone",
	Doc:  "Nothing is left that only older revisions had; objects retained for their data do not count.",
	Ask: func(f Facts) machine.Answer {
		switch {
		case !f.Orphans.Known:
			return machine.SayUnknown(f.Orphans.Why)
		case f.Orphans.Left > 0:
			return machine.SayNo(f.Orphans.Why)
		}
		return machine.SayYes("nothing is left that only older revisions had")
	},
}

// RetainedMayGo asks whether an object that was kept for its data can be deleted now.
var RetainedMayGo = machine.Guard[Facts]{
	Name: "RetainedMayGo",
	Doc:  "The desired revision is current, and an object that was retained for its data is empty now, or the administrator has consented to lose exactly what it holds.",
	Ask: func(f Facts) machine.Answer {
		switch {
		case !f.Retained.Known:
			return machine.SayUnknown("")
		case len(f.Retained.MayGo) == 0 || f.DesiredNumber != f.CurrentNumber:
			return machine.SayNo("")
		}
		return machine.SayYes("nothing holds back any more: " + strings.Join(f.Retained.MayGo, ", "))
	},
}

// EnteredByStall asks the record whether the present state was entered because there was no progress.
var EnteredByStall = machine.Guard[Facts]{
	Name: "EnteredByStall",
	Doc:  "The machine came here because there was no progress.",
	Ask: func(f Facts) machine.Answer {
		return machine.Say(f.Then.Event == ProgressStalled, "")
	},
}

// EnteredByGateLoss asks the record whether the present state was entered because what is installed stopped working.
var EnteredByGateLoss = machine.Guard[Facts]{
	Name: "EnteredByGateLoss",
	Doc:  "The machine came here because a probe of the installed revision failed.",
	Ask: func(f Facts) machine.Answer {
		return machine.Say(f.Then.Event == GateLost, "")
	},
}

// ProgressIsMade asks whether more is done than when the present state was entered.
var ProgressIsMade = machine.Guard[Facts]{
	Name: "ProgressIsMade",
	Doc:  "More is done than when the machine came here, or the state that it came from has nothing left to do.",
	Ask: seen(func(f Facts) machine.Answer {
		done, known := Progress(f)
		left := f.Then.Resumed.Done
		switch {
		case left.Truth == machine.Yes, known && done > f.Then.Done:
			return machine.SayYes("there is progress again")
		case !known:
			return machine.SayUnknown(left.Reason)
		}
		return machine.SayNo(left.Reason)
	}),
}

// InputChanged asks whether people have changed something since.
var InputChanged = machine.Guard[Facts]{
	Name: "InputChanged",
	Doc: "An input has changed since: images, the release that their list is for, a pin, platform, the infrastructure's name, ClusterAPI spec, release version, TLS profile, annotation retry, or a consent to uninstall that counts. " +
		"Nor is the way the same if an urgent move would leave the state that the machine came from, for what the status of the ClusterAPI lists now.",
	Ask: func(f Facts) machine.Answer {
		switch {
		case f.Inputs == "":
			return machine.SayUnknown("")
		case f.Inputs != f.Then.Inputs:
			return machine.SayYes("an input has changed")
		}
		if overtaken := f.Then.Resumed.Overtaken; overtaken.Truth == machine.Yes {
			return overtaken
		}
		return machine.SayNo("")
	},
}

// Disturbed asks whether the status is another one than an installation leaves.
var Disturbed = machine.Any(machine.Not(DesiredIsCurrent), machine.Not(OlderGone), machine.Not(SpecObserved))

// pinned says by whom the list of images is not what is asked for; empty while it is.
func pinned(f Facts) string {
	if f.Pin == "" {
		return ""
	}
	return " (" + f.Pin + ")"
}

// consented says who has consented to it that the planned content ends what runs, and why; empty where nobody has.
func consented(f Facts) string {
	if f.UninstallConsent == "" {
		return ""
	}
	return " (" + f.UninstallConsent + ")"
}

// unless returns the text where is is false.
func unless(is bool, text string) string {
	if is {
		return ""
	}
	return text
}

// id shortens a content ID as revision names do.
func id(content string) string { return content[:min(len(content), 8)] }
