package bootimage

import (
	"fmt"

	"github.com/capstan-capi/capstan/machine"
)

// ProgressStalled is the event of a deadline, UpgradingStub the state in which others' doing may be awaited, and Cloning the one
// in which it never is.
const (
	ProgressStalled machine.Event = "ProgressStalled"
	UpgradingStub   machine.State = "UpgradingStub"
	Cloning         machine.State = "Cloning"
)

// maxQuoted bounds what a reason takes from an object, in bytes.
const maxQuoted = 256

type guard = machine.Guard[Facts]

func seen(ask func(Facts) machine.Answer) func(Facts) machine.Answer {
	return func(f Facts) machine.Answer {
		if !f.Seen {
			return machine.SayUnknown("the target has not been looked at yet")
		}
		return ask(f)
	}
}

// Enrolled asks whether the administrator wants the target's boot image moved.
var Enrolled = guard{
	Name: "Enrolled",
	Doc:  "The resolved configuration selects the target, an annotation of the MachineConfiguration does, or the twin that it has taken over from is enrolled and no annotation says None.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case !f.Enrolment.Known:
			return machine.SayUnknown("nobody can tell yet whether " + f.Object.String() + " is enrolled")
		case f.Enrolment.Is:
			return machine.SayYes(f.Object.String() + " is enrolled" + by(f.Enrolment.By))
		case f.Enrolment.OtherCluster != "":
			return machine.SayNo(fmt.Sprintf("%s is of Cluster %s and not of this one, whose boot images are moved alone", f.Object, short(f.Enrolment.OtherCluster)))
		case f.Object.API == ClusterAPI:
			return machine.SayNo(f.Object.String() + " is not enrolled: annotations boot-images-machinesets and boot-images-machinedeployments of MachineConfiguration cluster say which are")
		}
		return machine.SayNo(f.Object.String() + " is not enrolled: spec.managedBootImages of MachineConfiguration cluster says which are")
	}),
}

// GateIsOpen asks whether the machine bootgate lets images be moved.
var GateIsOpen = guard{
	Name: "GateIsOpen",
	Doc:  "The machine bootgate is Open, by a pass of this process.",
	Ask: func(f Facts) machine.Answer {
		switch {
		case !f.Gate.Known:
			return machine.SayUnknown(orElse(f.Gate.Why, "nobody can tell yet whether boot images may be moved"))
		case !f.Gate.Open:
			return machine.SayNo(orElse(f.Gate.Why, "boot images may not be moved: capstan status boot-images says why"))
		}
		return machine.SayYes("boot images may be moved")
	},
}

// open asks only while the gate is open: what is judged otherwise is another release's.
func open(ask func(Facts) machine.Answer) func(Facts) machine.Answer {
	return seen(func(f Facts) machine.Answer {
		if gate := GateIsOpen.Answer(f); gate.Truth != machine.Yes {
			return machine.SayUnknown(gate.Reason)
		}
		return ask(f)
	})
}

// IsValid asks whether the target can be understood.
var IsValid = guard{
	Name: "IsValid",
	Doc:  "The target says what its image is, in a form that its platform has.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case !f.Target.Read:
			return machine.SayUnknown(f.Object.String() + " has not been read yet")
		case f.Target.Problem != "":
			return machine.SayNo(f.Object.String() + ": " + machine.Shorten(f.Target.Problem, maxQuoted) + ": correct it")
		}
		return machine.SayYes(f.Object.String() + " can be read")
	}),
}

// IsAsWanted asks whether nothing is left to do.
var IsAsWanted = guard{
	Name: "IsAsWanted",
	Doc:  "The target has the wanted image, and its stub is not older than Ignition's spec 3. No if no image is known for it, or if it cannot be read.",
	Ask: open(func(f Facts) machine.Answer {
		switch valid := IsValid.Answer(f); {
		case valid.Truth != machine.Yes:
			return valid
		case !f.Verdict.Known:
			return machine.SayUnknown("it is not known yet which image is wanted")
		case f.Verdict.Wanted == "":
			return machine.SayNo("no image is known for " + f.Object.String())
		case !f.Verdict.Same:
			return machine.SayNo(fmt.Sprintf("%s has image %s, and %s is wanted", f.Object, short(f.Target.Image), short(f.Verdict.Wanted)))
		}
		if ready := StubIsReady.Answer(f); ready.Truth != machine.Yes {
			return ready
		}
		return machine.SayYes(fmt.Sprintf("%s has the wanted image %s", f.Object, short(f.Verdict.Wanted)))
	}),
}

// MayBeWritten asks whether the image may be changed, or at least the stub.
var MayBeWritten = guard{
	Name: "MayBeWritten",
	Doc:  "There is no reason to skip the target, or its image is the wanted one and only its stub is old.",
	Ask: open(func(f Facts) machine.Answer {
		switch valid := IsValid.Answer(f); {
		case valid.Truth != machine.Yes:
			return machine.SayUnknown(valid.Reason)
		case !f.Verdict.Known:
			return machine.SayUnknown("it is not known yet which image is wanted")
		}
		why, text, _ := Skipped(f)
		switch {
		case why == "" && f.Verdict.Wanted == "":
			return machine.SayNo("no image is known for " + f.Object.String())
		case why == "":
			return machine.SayYes("nothing keeps " + f.Object.String() + " from having it")
		case f.Verdict.Same && !f.Stub.Known:
			return StubIsReady.Answer(f)
		case f.Verdict.Same && f.Stub.Old:
			return machine.SayYes("the image of " + f.Object.String() + " is the wanted one, and only its stub is old")
		}
		return machine.SayNo(text)
	}),
}

// AttemptsLeft asks whether the image may be tried again.
var AttemptsLeft = guard{
	Name: "AttemptsLeft",
	Doc:  "Fewer than three attempts at the wanted image are remembered.",
	Ask:  seen(func(f Facts) machine.Answer { return f.attemptsLeft(f.Attempts.Made) }),
}

func (f Facts) attemptsLeft(made int) machine.Answer {
	switch a := f.Attempts; {
	case !a.Known:
		return machine.SayUnknown("it is not known yet how often " + f.Object.String() + " was changed")
	case made < MaxAttempts:
		return machine.SayYes(fmt.Sprintf("attempt %d of %d", made+1, MaxAttempts))
	default:
		text := fmt.Sprintf("%s was given image %s %d times, and it did not stay", f.Object, short(f.Verdict.Wanted), made)
		if a.LastWriter != "" {
			text += "; " + short(a.LastWriter) + " has written it last"
		}
		if a.StubUpgraded != "" {
			text += "; Secret " + short(a.StubUpgraded) + " was upgraded meanwhile, which older images cannot read"
		}
		text += "; have it no longer changed back, then: "
		if a.RetriesUsed {
			return machine.SayNo(text + "opt it out and in again, which forgets all attempts (annotation retry has had as many values as count until then)")
		}
		return machine.SayNo(text + retry(f) + " (any value that it did not have before)")
	}
}

// PlanStands asks whether what was planned on entering UpgradingStub is still what is to be done.
var PlanStands = guard{
	Name: "PlanStands",
	Doc:  "The gate is open; the target can be read, has the image that it had when the plan was made, and is not as wanted; the planned image is the wanted one and may be written; without the plan's own, attempts are left; the Secret of its stub is as it was then, or of spec 3.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case !f.Plan.Known:
			return machine.SayUnknown("the plan for " + f.Object.String() + " is not known yet")
		case f.Plan.None:
			return machine.SayNo("there is no plan for " + f.Object.String())
		}
		made := f.Attempts.Made
		if f.Attempts.Own {
			made--
		}
		held := machine.All(GateIsOpen, IsValid, planned, notAsWanted, MayBeWritten,
			guard{Ask: func(f Facts) machine.Answer { return f.attemptsLeft(made) }}, secretIsPlanned).Answer(f)
		if held.Truth == machine.Yes {
			held.Reason = "the plan for " + f.Object.String() + " stands"
		}
		return held
	}),
}

var planned = guard{Ask: func(f Facts) machine.Answer {
	switch {
	case !f.Verdict.Known || !f.Target.Read:
		return machine.SayUnknown("it is not known yet which image is wanted")
	case f.Verdict.Wanted != f.Plan.Wanted:
		return machine.SayNo(fmt.Sprintf("image %s is wanted by now, not %s", short(f.Verdict.Wanted), short(f.Plan.Wanted)))
	case f.Target.Image != f.Plan.Old:
		return machine.SayNo(fmt.Sprintf("%s has image %s by now, not %s", f.Object, short(f.Target.Image), short(f.Plan.Old)))
	}
	return machine.SayYes("")
}}

var notAsWanted = guard{Ask: func(f Facts) machine.Answer {
	is := IsAsWanted.Answer(f)
	if is.Truth == machine.Yes {
		return machine.SayNo(is.Reason)
	}
	return machine.Not(IsAsWanted).Answer(f)
}}

var secretIsPlanned = guard{Ask: func(f Facts) machine.Answer {
	switch {
	case !f.Stub.Known:
		return StubIsReady.Answer(f)
	case f.Stub.Old && f.Stub.SecretVersion != f.Plan.SecretVersion:
		return machine.SayNo("somebody has changed Secret " + short(f.Stub.Secret) + " since")
	}
	return machine.SayYes("")
}}

// StubIsReady asks whether the wanted image could read the stub of the target.
var StubIsReady = guard{
	Name: "StubIsReady",
	Doc:  "The stub that the target's machines start from is of Ignition's spec 3, or a bootstrap provider makes it.",
	Ask: seen(func(f Facts) machine.Answer {
		switch s := f.Stub; {
		case !s.Known:
			return machine.SayUnknown(orElse(machine.Shorten(s.Unread, maxQuoted), "the stub of "+f.Object.String()+" has not been read yet"))
		case s.Old && s.Awaits != "":
			return machine.SayNo(fmt.Sprintf("Secret %s is of spec %s until it follows Secret %s", short(s.Secret), short(s.Spec), short(s.Awaits)))
		case s.Old:
			return machine.SayNo(fmt.Sprintf("the stub in Secret %s is of spec %s, older than 3", short(s.Secret), short(s.Spec)))
		}
		return machine.SayYes("the stub is ready")
	}),
}

// AttemptIsStored asks whether what is to be written counts by now, whatever becomes of the operator.
var AttemptIsStored = guard{
	Name: "AttemptIsStored",
	Doc:  "The attempt at the wanted image is stored. Yes where only the stub was old.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case !f.Attempts.Known:
			return machine.SayUnknown("it is not known yet how often " + f.Object.String() + " was changed")
		case f.Verdict.Same:
			return machine.SayYes("the image of " + f.Object.String() + " is the wanted one, and only its stub was old")
		case !f.Attempts.Own:
			return machine.SayNo("the attempt at " + f.Object.String() + " is not stored yet: nothing of it is sent before")
		}
		return machine.SayYes("the attempt at " + f.Object.String() + " is stored")
	}),
}

// TemplateIsReady asks whether the template to point to is there.
var TemplateIsReady = guard{
	Name: "TemplateIsReady",
	Doc:  "The clone of the infrastructure template with the wanted image exists, is as it should be, and is not being deleted by the machine bootgate. Yes for targets of the Machine API, which have none.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case f.Object.API == MachineAPI:
			return machine.SayYes(f.Object.String() + " needs no template")
		case f.Object.API == "" || !f.Template.Known:
			return machine.SayUnknown("the template for " + f.Object.String() + " has not been looked for yet")
		case f.Template.Retiring:
			return machine.SayNo("template " + f.Template.Name + " is being deleted, since nothing needed it: it is made anew after that")
		case !f.Template.Ready:
			return machine.SayNo("template " + f.Template.Name + " does not exist yet")
		}
		return machine.SayYes("template " + f.Template.Name + " is ready")
	}),
}

// WriteIsSeen asks whether what is seen comes after the last write.
var WriteIsSeen = guard{
	Name: "WriteIsSeen",
	Doc:  "What is seen of the target is later than the last write to it, by a read if the answer was lost.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case !f.Write.Known:
			return machine.SayUnknown("it is not known yet whether the write to " + f.Object.String() + " has arrived")
		case !f.Write.Seen:
			return machine.SayNo("the write to " + f.Object.String() + " is not seen yet")
		}
		return machine.SayYes("the write to " + f.Object.String() + " has arrived")
	}),
}

// CauseIsGone asks whether what has led to Failed is over.
var CauseIsGone = guard{
	Name: "CauseIsGone",
	Doc:  "What failed has passed when it was tried again; after a stall, what was waited for is there, or is to be done here and not by others.",
	Ask: seen(func(f Facts) machine.Answer {
		done := f.Then.Resumed.Done
		switch {
		case f.Then.Failing:
			return machine.SayNo("")
		case f.Then.Event != ProgressStalled:
			return machine.SayYes("what failed has passed when it was tried again")
		case done.Truth == machine.Yes:
			return machine.SayYes("what was waited for is there")
		case f.Then.From == UpgradingStub && f.Stub.Known && f.Stub.Old && f.Stub.Awaits == "":
			return machine.SayYes("the stub is not for others to upgrade")
		case f.Then.From == Cloning && f.Template.Known && !f.Template.Ready:
			return machine.SayYes("the template is not for others to make")
		case f.Then.From == Cloning && TemplateIsReady.Answer(f).Truth == machine.Yes && AttemptIsStored.Answer(f).Truth == machine.No:
			return machine.SayYes("the attempt is not for others to store")
		}
		return done
	}),
}

// InputChanged asks whether anything has changed that people can heal a failure by.
var InputChanged = guard{
	Name: "InputChanged",
	Doc:  "The verdict, the wanted image, the Secret, the templates, or the target's fields and annotations that matter have changed since.",
	Ask: seen(func(f Facts) machine.Answer {
		switch now := Inputs(f); {
		case now == "":
			return machine.SayUnknown("")
		case now != f.Then.Inputs:
			return machine.SayYes("what " + f.Object.String() + " depends on has changed")
		}
		return machine.SayNo("")
	}),
}

func by(what string) string {
	if what == "" {
		return ""
	}
	return " by " + short(what)
}

func short(text string) string { return machine.Shorten(text, maxQuoted) }

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
