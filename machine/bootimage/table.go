// Package bootimage is the machine of a target, whose boot image is moved to that of the release: its
// states, its moves and what it tells people. Everything that may happen is in this one table; the
// looking and doing are in phases/bootimage, the questions in guards/bootimage.
package bootimage

import (
	"time"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/bootimage"
)

// The states, by the names that users, diagrams, logs and metrics show.
const (
	Unenrolled    machine.State = "Unenrolled"
	Excluded      machine.State = "Excluded"
	Deciding      machine.State = "Deciding"
	UpgradingStub               = guards.UpgradingStub
	Cloning                     = guards.Cloning
	Settling      machine.State = "Settling"
	Current       machine.State = "Current"
	Skipped                     = phases.Skipped
	HotLoop                     = phases.HotLoop
	Failed                      = phases.Failed
)

// Controller is the part of the machine that has conditions of its own.
const Controller = phases.Controller

// patience is how long work may stand still, or an error may last, before people are told that something is wrong.
const patience = 5 * time.Minute

// How the part reads on conditions.
var (
	working  = machine.Reading{Progressing: true, Reason: machine.Progressing}
	resting  = machine.Reading{Reason: machine.WaitingOnExternal}
	retrying = machine.Reading{Progressing: true, Reason: machine.EphemeralError}
	degraded = machine.Reading{Progressing: true, Degraded: true, Reason: machine.EphemeralError}
	terminal = machine.Reading{Degraded: true, Reason: machine.NonRetryableError}
	failing  = machine.Trouble{Ephemeral: retrying, Terminal: terminal}
	reading  = machine.Trouble{Ephemeral: retrying, Terminal: retrying, Patience: patience, Overdue: degraded, Alert: readingFails}
)

// Table is the machine.
var Table = machine.Table[guards.Facts, *phases.Pass]{
	Name:     "bootimage",
	Doc:      "Moves the boot image of a MachineSet, a MachineDeployment or the ControlPlaneMachineSet to that of the release, so that new machines start from it, and makes the Ignition stub readable for it before. Machines that run are never touched; what is opted out keeps its last image.",
	Start:    Unenrolled,
	Parts:    []string{Controller},
	Progress: guards.Progress,
	Inputs:   guards.Inputs,
	Recall:   guards.Recall,

	States: []machine.StateRow[*phases.Pass]{
		{
			Name: Unenrolled, Rest: true, Work: phases.ForgetAttempts, Part: Controller, Trouble: reading,
			Doc: "Nobody has asked for the target's boot image to be moved; it stays as it is, and attempts at it are forgotten.",
		},
		{
			Name: Excluded, Rest: true, Part: Controller,
			Doc: "The target is enrolled and somebody else has the say over it, or it makes no machines that start from a boot image of the release; it is not touched.",
		},
		{
			Name: Deciding, Rest: true, Work: phases.JudgeTarget, Part: Controller, Reads: resting,
			Doc: "It is waited until boot images may be moved and it is known what the target needs.",
		},
		{
			Name: UpgradingStub, Work: phases.UpgradeStub, Part: Controller, Reads: working,
			Doc: "The target is to have the wanted image; the Ignition stub of its machines is made readable for that, if it is older.",
		},
		{
			Name: Cloning, Work: phases.CloneTemplate, Part: Controller, Reads: working,
			Doc: "The stub can be read by the wanted image. The attempt is stored, together with those of other targets, and the target is looked at again then; a target of the Cluster API gets a template with the image.",
		},
		{
			Name: Settling, Work: phases.AwaitWrite, Part: Controller, Reads: working,
			Doc: "The wanted image has been written, and it is waited until that is seen.",
		},
		{
			Name: Current, Rest: true, Work: phases.ReadStub, Part: Controller, Trouble: reading,
			Doc: "The target has the wanted image, and its stub can be read by that.",
		},
		{
			Name: Skipped, Rest: true, Work: phases.ReadStub, Part: Controller, Trouble: reading,
			Doc: "The target has another image than the wanted one, which is not replaced for the reason that is told; it is an administrator's to change that.",
		},
		{
			Name: HotLoop, Rest: true, Alarm: true, Work: phases.ReadStub, Part: Controller, Reads: terminal, Trouble: reading, Alert: isHot,
			Doc: "The target was given the wanted image three times and did not keep it; it is left alone until somebody asks for another attempt, another image is wanted, or a day has passed.",
		},
		{
			Name: Failed, Rest: true, Alarm: true, Work: machine.Resume[*phases.Pass](), Part: Controller, Reads: degraded,
			Trouble: machine.Trouble{Ephemeral: degraded, Terminal: terminal}, Alert: hasFailed,
			Doc: "The target's boot image cannot be moved; writes are tried every two minutes as dry runs, and it goes on by itself once they pass or an input changes.",
		},
	},

	Moves: []machine.Move[guards.Facts, *phases.Pass]{
		{
			On: "Enrolled", From: in(Unenrolled), To: Deciding, If: guards.Enrolled,
			Doc: "The administrator has opted the target in.",
		},
		{
			On: "Released", From: in(Excluded, Deciding, UpgradingStub, Cloning, Settling, Current, Skipped, HotLoop, Failed), To: Unenrolled, Urgent: true,
			If:  machine.Not(guards.Enrolled),
			Doc: "The administrator has opted the target out. It keeps its last image.",
		},
		{
			On: "Barred", From: in(Deciding, UpgradingStub, Cloning, Settling, Current, Skipped, HotLoop, Failed), To: Excluded, Urgent: true,
			If:  machine.All(guards.Enrolled, machine.Not(guards.Touchable)),
			Doc: "Somebody else has the say over the target by now, or it makes no machines that start from a boot image of the release.",
		},
		{
			On: "BarLifted", From: in(Excluded), To: Deciding, If: guards.Touchable,
			Doc: "Nobody else has the say over the target any more.",
		},
		{
			On: "AsWanted", From: in(Deciding), To: Current,
			If:  machine.All(guards.GateIsOpen, guards.IsAsWanted),
			Doc: "The target has the wanted image and its stub can be read by that, so nothing is written.",
		},
		{
			On: "NotOurs", From: in(Deciding), To: Skipped,
			If:  machine.All(guards.GateIsOpen, machine.Not(guards.IsAsWanted), machine.Not(guards.MayBeWritten)),
			Doc: "The target's image is not replaced, for the reason that is told.",
		},
		{
			On: "Contested", From: in(Deciding), To: HotLoop,
			If:  machine.All(guards.GateIsOpen, machine.Not(guards.IsAsWanted), guards.MayBeWritten, machine.Not(guards.AttemptsLeft)),
			Doc: "The target was given the wanted image three times, and somebody has changed it back each time.",
		},
		{
			On: "Outdated", From: in(Deciding), To: UpgradingStub,
			If: machine.All(guards.GateIsOpen, machine.Not(guards.IsAsWanted), guards.MayBeWritten, guards.AttemptsLeft), Do: phases.MakePlan,
			Doc: "The target has an older image or an older stub, so a plan is made for it.",
		},
		{
			On: "StubReady", From: in(UpgradingStub), To: Cloning,
			If: machine.All(guards.PlanStands, guards.StubIsReady), Do: phases.TellUpgrade,
			Doc: "The wanted image can read the stub.",
		},
		{
			On: "StubLost", From: in(Cloning), To: UpgradingStub,
			If:  machine.All(guards.PlanStands, machine.Not(guards.StubIsReady)),
			Doc: "The stub is seen as it was when the plan was made, as by a cache that is behind. One that somebody has put back is another version of its Secret, and ends the plan.",
		},
		{
			On: "Written", From: in(Cloning), To: Settling,
			If: machine.All(guards.PlanStands, guards.StubIsReady, guards.AttemptIsStored, guards.TemplateIsReady), Do: phases.WriteImage,
			Doc: "All is ready and the attempt is stored, and the wanted image is written.",
		},
		{
			On: "PlanChanged", From: in(UpgradingStub, Cloning), To: Deciding, If: machine.Not(guards.PlanStands),
			Doc: "The target, its Secret or what is wanted of it is not what it was when the plan was made, so it is decided anew.",
		},
		{
			On: "Settled", From: in(Settling), To: Current,
			If:  machine.All(guards.GateIsOpen, guards.IsAsWanted),
			Doc: "The target is seen with the wanted image.",
		},
		{
			On: "Undone", From: in(Settling), To: Deciding,
			If:  machine.All(guards.GateIsOpen, machine.Not(guards.IsAsWanted), guards.WriteIsSeen),
			Doc: "The write has arrived, and somebody has changed the target since, or another image is wanted.",
		},
		{
			On: "GateClosed", From: in(Settling), To: Deciding, If: machine.Not(guards.GateIsOpen),
			Doc: "Boot images may not be moved for now, so nothing is judged.",
		},
		{
			On: "Changed", From: in(Current), To: Deciding, If: machine.Not(guards.IsAsWanted),
			Doc: "Another image is wanted, or somebody has changed the target or its stub.",
		},
		{
			On: "Reconsidered", From: in(Skipped), To: Deciding,
			If:  machine.Any(guards.IsAsWanted, guards.MayBeWritten, machine.Not(guards.IsValid)),
			Doc: "The reason for which the target was skipped is gone, or it cannot be read any more.",
		},
		{
			On: "GaveWay", From: in(HotLoop), To: Deciding,
			If:  machine.Any(guards.IsAsWanted, guards.AttemptsLeft, machine.Not(guards.MayBeWritten)),
			Doc: "The target has the wanted image, attempts were forgotten, or the image may not be replaced any more.",
		},
		{
			On: "FailureEstablished", From: in(Deciding, UpgradingStub, Cloning, Settling), To: Failed, Failing: patience, Trouble: failing,
			Doc: "The work has met errors for five minutes, or one that trying again at once cannot heal: the target cannot be read, its stub cannot be upgraded or is that of something which is not moved (StubShared), another template has the name of the clone, or a write is refused as invalid.",
		},
		{
			On: guards.ProgressStalled, From: in(UpgradingStub, Cloning, Settling), To: Failed, Stalled: patience,
			Doc: "No progress for five minutes; the time counts from the last progress, not from the beginning.",
		},
		{
			On: "Recovered", From: in(Failed), To: Deciding,
			If:  machine.Any(guards.CauseIsGone, guards.InputChanged),
			Doc: "What failed has passed when it was tried again, what was waited for is there, or an input has changed.",
		},
	},

	Notices: []machine.Notice[*phases.Pass]{{
		Name: "skipped", Count: (*phases.Pass).SkipsCounted, Alert: isSkipped,
		Doc: "The target is Skipped for a reason that an administrator can end. What nobody expects to move is not counted, such as what asks for a securityType.",
	}},
}

func in(states ...machine.State) []machine.State { return states }
