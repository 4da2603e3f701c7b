package openshiftcontrolplane

import (
	"fmt"
	"strings"

	"github.com/capstan-capi/capstan/machine"
)

type guard = machine.Guard[Facts]

func seen(ask func(Facts) machine.Answer) func(Facts) machine.Answer {
	return func(f Facts) machine.Answer {
		if !f.Seen {
			return machine.SayUnknown("the OpenShiftControlPlane has not been looked at yet")
		}
		return ask(f)
	}
}

// few names some of what is missing.
func few(what []string) string {
	const most = 3
	if more := len(what) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(what[:most], ", "), more)
	}
	return strings.Join(what, ", ")
}

// of answers for a tally: what is there of what is wanted.
func of(t Tally, things string) machine.Answer {
	switch {
	case !t.Known:
		return machine.SayUnknown("it is not known yet how many " + things)
	case t.IsDone():
		return machine.SayYes(fmt.Sprintf("%d of %d %s", t.Done, t.Wanted, things))
	case len(t.Missing) > 0:
		return machine.SayNo(fmt.Sprintf("%d of %d %s, not %s", t.Done, t.Wanted, things, few(t.Missing)))
	}
	return machine.SayNo(fmt.Sprintf("%d of %d %s", t.Done, t.Wanted, things))
}

// IsPaused asks whether people want nothing to be done.
var IsPaused = guard{
	Name: "IsPaused",
	Doc:  "The Cluster is paused, or the OpenShiftControlPlane has annotation cluster.x-k8s.io/paused.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case f.Object.Paused:
			return machine.SayYes(f.Object.String() + " has annotation cluster.x-k8s.io/paused")
		case !f.Cluster.Known:
			return machine.SayUnknown("the Cluster has not been looked at yet")
		case f.Cluster.Paused:
			return machine.SayYes("Cluster " + f.Cluster.Name + " is paused")
		}
		return machine.SayNo("")
	}),
}

// IsDeleting asks whether somebody wants the cluster gone.
var IsDeleting = guard{
	Name: "IsDeleting",
	Doc:  "The OpenShiftControlPlane has been asked to go.",
	Ask: seen(func(f Facts) machine.Answer {
		if f.Object.Deleting {
			return machine.SayYes(f.Object.String() + " is being deleted" + left(f))
		}
		return machine.SayNo("")
	}),
}

// left says what a deletion waits for, as far as it was seen.
func left(f Facts) string {
	switch {
	case len(f.Workers) > 0:
		return ", which waits for workers: " + few(f.Workers)
	case f.Attempt.Known && len(f.Attempt.Missing) > 0:
		return ", which waits for " + few(f.Attempt.Missing)
	}
	return ""
}

// OwnerIsSet asks whether a Cluster owns the OpenShiftControlPlane, which Cluster API's own controller has it do.
var OwnerIsSet = guard{
	Name: "OwnerIsSet",
	Doc:  "A Cluster is an owner of the OpenShiftControlPlane.",
	Ask:  seen(ownerIsSet),
}

func ownerIsSet(f Facts) machine.Answer {
	switch {
	case !f.Cluster.Known:
		return machine.SayUnknown("the owners have not been looked at yet")
	case f.Cluster.Name == "":
		return machine.SayNo("no Cluster refers to " + f.Object.String() + " yet")
	}
	return machine.SayYes("Cluster " + f.Cluster.Name + " owns it")
}

// StageFits asks whether the marks allow the present state. A state that they do not allow was forged, restored or overtaken.
var StageFits = guard{
	Name: "StageFits",
	Doc:  "A Cluster is the owner, the highest of the marks is one that goes with the state, and an attempt is cleared away where a mark says so, or somebody asks for it who was not served yet, and nowhere else.",
	Ask: seen(func(f Facts) machine.Answer {
		bounds, bound := allowed[f.Then.State]
		reached := f.Reached()
		stage := reached.Stage()
		switch owned := ownerIsSet(f); {
		case f.Then.State == "":
			return machine.SayUnknown("the state is not known")
		case owned.Truth != machine.Yes:
			return owned
		case bound && (stage < bounds[0] || stage > bounds[1]):
			return machine.SayNo(fmt.Sprintf("it is in %s, but %s", f.Then.State, stage))
		case bound && reached.Clears() && f.Then.State != Clearing && f.Then.State != Failed:
			return machine.SayNo(fmt.Sprintf("it is in %s, but the attempt is being cleared away", f.Then.State))
		case f.Then.State == Clearing && !reached.Clears() && f.Marks.Stage() != NoStage && !f.Object.AsksForScratch():
			return machine.SayNo("it is in Clearing, but nobody asks for the attempt to be cleared away")
		}
		return machine.SayYes("")
	}),
}

// InputsAreFrozen asks whether it is decided what is installed.
var InputsAreFrozen = reached("InputsAreFrozen", Frozen, "The marks say that the inputs are frozen, or more.")

// IsInitialized asks whether the guest's API has ever answered.
var IsInitialized = reached("IsInitialized", Initialized, "The marks say that the guest's API has answered, or more.")

// IsFinished asks whether the guest does without its bootstrap Machine.
var IsFinished = reached("IsFinished", Finished, "The marks say that the bootstrap is finished.")

func reached(name string, stage Stage, doc string) guard {
	return guard{Name: name, Doc: doc, Ask: seen(func(f Facts) machine.Answer {
		now, why := f.Reached().Stage(), ""
		if now == stage || stage == Frozen && now == NoStage { // one of several questions gives the reason
			why = now.String()
		}
		return machine.Say(now >= stage, why)
	})}
}

// WorkSucceeds asks whether the work meets no error.
var WorkSucceeds = guard{
	Name: "WorkSucceeds",
	Doc:  "The last pass of the work before this one met no error; before a first pass there is none, so that it has to last.",
	Ask: seen(func(f Facts) machine.Answer {
		if f.Then.Failing {
			return machine.SayNo("the work meets an error")
		}
		return machine.SayYes("")
	}),
}
