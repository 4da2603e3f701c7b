package compatibility

import (
	"fmt"
	"strings"

	"github.com/capstan-capi/capstan/machine"
)

// maxListed bounds what a reason lists, in bytes.
const maxListed = 512

// The events whose names questions ask for.
const (
	ProgressStalled machine.Event = "ProgressStalled"
)

type guard = machine.Guard[Facts]

func seen(ask func(Facts) machine.Answer) func(Facts) machine.Answer {
	return func(f Facts) machine.Answer {
		if !f.Seen {
			return machine.SayUnknown("the requirement has not been looked at yet")
		}
		return ask(f)
	}
}

// Deleting asks whether the requirement has been asked to go.
var Deleting = guard{
	Name: "Deleting",
	Doc:  "The requirement has a deletion timestamp.",
	Ask: seen(func(f Facts) machine.Answer {
		if f.Deleting {
			return machine.SayYes("the requirement is being deleted")
		}
		return machine.SayNo("")
	}),
}

// SpecUsable asks whether the requirement can be judged.
var SpecUsable = guard{
	Name: "SpecUsable",
	Doc:  "The requirement's data decodes, names the same CRD as before, and the schemas of its selected versions compile.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case !f.Spec.Known:
			return machine.SayUnknown(f.Spec.Unread)
		case f.Spec.Problem != "":
			return machine.SayNo(f.Spec.Problem)
		}
		return machine.SayYes("the spec can be judged")
	}),
}

// HooksReady asks whether what enforces the requirement is in force.
var HooksReady = guard{
	Name: "HooksReady",
	Doc:  "The requirement's webhook configurations are as wanted, its CRD is in the right entry of configuration capstan-crds, each has a CA bundle, and each that denies has failurePolicy Fail. A pass before has told of this generation of the requirement.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case len(f.Hooks.Missing) > 0:
			return machine.SayNo(list(f.Hooks.Missing))
		case f.Hooks.New:
			return machine.SayNo(fmt.Sprintf("generation %d of the spec is new", f.Generation))
		case !f.Hooks.Known:
			return machine.SayUnknown("")
		}
		return machine.SayYes("the webhooks are in force")
	}),
}

// NameFree asks whether nobody else has the name of a webhook configuration that is wanted.
var NameFree = guard{
	Name: "NameFree",
	Doc:  "No webhook configuration of somebody else, or that all requirements share, has a name that the requirement needs.",
	Ask: seen(func(f Facts) machine.Answer {
		if len(f.Hooks.Taken) > 0 {
			return machine.SayNo(list(f.Hooks.Taken) + " is not this requirement's and has its name: rename the requirement, or remove it")
		}
		return machine.SayYes("the name is free")
	}),
}

// CheckerStays asks whether somebody answers the webhooks, and has for long enough.
var CheckerStays = guard{
	Name: "CheckerStays",
	Doc:  "An EndpointSlice of Service capstan-webhooks has had a ready endpoint for a minute. Until then it is unknown: a checker that comes and goes ends no outage.",
	Ask: func(f Facts) machine.Answer {
		switch {
		case !f.CheckerSeen:
			return machine.SayUnknown("the checker has not been looked for yet")
		case !f.CheckerReady:
			return machine.SayNo("no replica of Deployment capstan-webhooks is ready")
		case !f.CheckerStays:
			return machine.SayUnknown("")
		}
		return machine.SayYes("the checker is ready")
	},
}

// CRDMeets asks whether the live definition has what is needed.
var CRDMeets = guard{
	Name: "CRDMeets",
	Doc:  "The live CRD has all that the requirement needs; No if there is none.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case !f.CRD.Seen:
			return machine.SayUnknown(f.CRD.Unread)
		case f.CRD.Absent:
			return machine.SayNo("CRD " + f.CRD.Name + " does not exist")
		case len(f.CRD.Missing) > 0:
			return machine.SayNo(list(f.CRD.Missing))
		}
		return machine.SayYes("CRD " + f.CRD.Name + " has what is needed")
	}),
}

// WorkSucceeds asks whether the last attempt met no error.
var WorkSucceeds = guard{
	Name: "WorkSucceeds",
	Doc:  "The last attempt at the work met no error.",
	Ask: func(f Facts) machine.Answer {
		if f.Then.Failing {
			return machine.SayNo("")
		}
		return machine.SayYes("the last attempt met no error")
	},
}

// EnteredByStall asks the record whether the present state was entered because there was no progress.
var EnteredByStall = guard{
	Name: "EnteredByStall",
	Doc:  "The machine came here because there was no progress.",
	Ask:  func(f Facts) machine.Answer { return machine.Say(f.Then.Event == ProgressStalled, "") },
}

// ProgressIsMade asks whether more is done than when the present state was entered.
var ProgressIsMade = guard{
	Name: "ProgressIsMade",
	Doc:  "More is done than when the machine came here, or nothing is left to do.",
	Ask: seen(func(f Facts) machine.Answer {
		done, known := Progress(f)
		switch {
		case !known:
			return machine.SayUnknown("")
		case done > f.Then.Done, len(f.Hooks.Missing) == 0 && f.CRD.Seen:
			return machine.SayYes("there is progress again")
		}
		return machine.SayNo(list(f.Hooks.Missing))
	}),
}

// InputChanged asks whether the requirement is another one, or another generation, than when the state was entered.
var InputChanged = guard{
	Name: "InputChanged",
	Doc:  "The requirement's spec has changed since, or the requirement was made anew.",
	Ask: seen(func(f Facts) machine.Answer {
		if Inputs(f) != f.Then.Inputs {
			return machine.SayYes("the requirement has changed")
		}
		return machine.SayNo("")
	}),
}

func list(some []string) string { return machine.Shorten(strings.Join(some, "; "), maxListed) }
