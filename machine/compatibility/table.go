// Package compatibility is the machine of a CompatibilityRequirement: its states, its moves and
// what it tells people. Everything that may happen is in this one table; the looking and doing are
// in phases/compatibility, the questions in guards/compatibility.
package compatibility

import (
	"slices"
	"time"

	guards "github.com/capstan-capi/capstan/guards/compatibility"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/compatibility"
)

// The states, by the names that users, diagrams, logs and metrics show.
const (
	Arming     machine.State = "Arming"
	Met        machine.State = "Met"
	Unmet      machine.State = "Unmet"
	Open                     = phases.Open
	Refused    machine.State = "Refused"
	Conflicted machine.State = "Conflicted"
	Degraded   machine.State = "Degraded"
	Releasing  machine.State = "Releasing"
)

// Controller is the part of the machine that has conditions of its own.
const Controller = phases.Controller

const (
	// patience is how long work may stand still, or an error may last, before people are told that something is wrong.
	patience = 5 * time.Minute
	// takenOver is how long every API server may take to act on webhook configurations that were written.
	takenOver = 2 * time.Second
	// outage is how long what is enforced may stop writes while the checker is away.
	outage = 15 * time.Minute
	// checkerGone is the event after an outage.
	checkerGone machine.Event = "CheckerGone"
)

// How the part reads on conditions.
var (
	working  = machine.Reading{Progressing: true, Reason: machine.Progressing}
	awaiting = machine.Reading{Progressing: true, Degraded: true, Reason: machine.WaitingOnExternal}
	retrying = machine.Reading{Progressing: true, Reason: machine.EphemeralError}
	degraded = machine.Reading{Progressing: true, Degraded: true, Reason: machine.EphemeralError}
	terminal = machine.Reading{Degraded: true, Reason: machine.NonRetryableError}
	keeping  = machine.Trouble{Ephemeral: retrying, Terminal: retrying, Patience: patience, Overdue: degraded, Alert: keepingFails}
	failing  = machine.Trouble{Ephemeral: retrying, Terminal: terminal}
)

// Table is the machine.
var Table = machine.Table[guards.Facts, *phases.Pass]{
	Name:     "compatibility",
	Doc:      "Keeps a CompatibilityRequirement: has webhooks refuse, or warn of, what breaks it, and tells whether the live CRD meets it. The entry of its CRD in configuration capstan-crds, which all requirements share, is written by a controller beside the machine.",
	Start:    Arming,
	Parts:    []string{Controller},
	Progress: guards.Progress,
	Inputs:   guards.Inputs,
	Recall:   guards.Recall,

	States: []machine.StateRow[*phases.Pass]{
		{
			Name: Arming, Work: phases.KeepHooks, Part: Controller, Reads: working,
			Doc: "The webhooks of the requirement are being put in place.",
		},
		{
			Name: Met, Rest: true, Work: phases.KeepHooks, Part: Controller,
			Doc: "The requirement is in force, and the live CRD meets it.",
		},
		{
			Name: Unmet, Rest: true, Work: phases.KeepHooks, Part: Controller, Alert: isUnmet,
			Doc: "The requirement is in force, and the live CRD does not meet it, or does not exist.",
		},
		{
			Name: Open, Rest: true, Alarm: true, Work: phases.OpenHooks, Part: Controller, Reads: awaiting,
			Trouble: machine.Trouble{Ephemeral: awaiting, Terminal: awaiting}, Alert: isOpen,
			Doc: "The checker has been away for too long, so nothing is refused for this requirement until it is back.",
		},
		{
			Name: Refused, Rest: true, Work: phases.RearmHooks, Part: Controller, Trouble: keeping,
			Doc: "The requirement's spec cannot be used; what was enforced before stays enforced.",
		},
		{
			Name: Conflicted, Rest: true, Work: phases.KeepHooks, Part: Controller,
			Doc: "A webhook configuration of somebody else has the requirement's name; it is left alone.",
		},
		{
			Name: Degraded, Rest: true, Alarm: true, Work: machine.Resume[*phases.Pass](), Part: Controller, Reads: degraded,
			Trouble: machine.Trouble{Ephemeral: degraded, Terminal: terminal}, Alert: isDegraded,
			Doc: "The requirement cannot be put or kept in force; it is tried again by itself.",
		},
		{
			Name: Releasing, Rest: true, Work: phases.RemoveHooks, Part: Controller, Trouble: keeping,
			Doc: "The requirement is being deleted; nothing is refused for it, and its webhook configurations go.",
		},
	},

	Moves: []machine.Move[guards.Facts, *phases.Pass]{
		{
			On: "RequirementMet", From: in(Arming, Unmet), To: Met, For: takenOver,
			If:  machine.All(guards.HooksReady, guards.CRDMeets),
			Doc: "Every API server has had the time to take the webhooks over, and the live CRD has all that the requirement needs.",
		},
		{
			On: "RequirementUnmet", From: in(Arming, Met), To: Unmet, For: takenOver,
			If:  machine.All(guards.HooksReady, machine.Not(guards.CRDMeets)),
			Doc: "Every API server has had the time to take the webhooks over, and the live CRD lacks something that the requirement needs, or does not exist.",
		},
		{
			On: "HooksLost", From: in(Met, Unmet), To: Arming, If: machine.Not(guards.HooksReady),
			Doc: "A webhook configuration is not as it should be, as when somebody has edited or deleted it or the requirement's spec is new.",
		},
		{
			On: "NameTaken", From: in(Arming), To: Conflicted,
			If:  machine.All(machine.Not(guards.HooksReady), machine.Not(guards.NameFree)),
			Doc: "A webhook configuration of somebody else has the name that the requirement's own needs.",
		},
		{
			On: "NameFreed", From: in(Conflicted), To: Arming, If: guards.NameFree,
			Doc: "The webhook configuration of somebody else is gone.",
		},
		{
			On: "SpecRefused", From: in(Arming, Met, Unmet, Conflicted, Degraded), To: Refused, Urgent: true,
			If:  machine.All(machine.Not(guards.SpecUsable), machine.Not(guards.Deleting)),
			Doc: "The requirement's data does not decode, names another CRD than before, or has a schema that does not compile.",
		},
		{
			On: "SpecMended", From: in(Refused), To: Arming, If: guards.SpecUsable,
			Doc: "The requirement's spec can be used.",
		},
		{
			On: checkerGone, From: in(Arming, Met, Unmet, Conflicted, Degraded), To: Open, Urgent: true, For: outage,
			If:  machine.All(machine.Not(guards.CheckerStays), guards.SpecUsable, machine.Not(guards.Deleting)),
			Doc: "No replica of the checker has been ready for a minute on end in 15 minutes, and what it would refuse has been refused for want of an answer.",
		},
		{
			On: checkerGone, From: in(Refused), To: Open, Urgent: true, For: outage,
			If:  machine.All(machine.Not(guards.CheckerStays), machine.Not(guards.SpecUsable), machine.Not(guards.Deleting)),
			Doc: "No replica of the checker has been ready for a minute on end in 15 minutes, and what it would refuse has been refused for want of an answer.",
		},
		{
			On: "CheckerBack", From: in(Open), To: Arming, If: guards.CheckerStays,
			Doc: "A replica of the checker has been ready again for a minute.",
		},
		{
			On: "DeletionRequested", From: in(Arming, Met, Unmet, Open, Refused, Conflicted, Degraded), To: Releasing, Urgent: true,
			If:  guards.Deleting,
			Doc: "Somebody has deleted the requirement, and something else holds it.",
		},
		{
			On: "DeletionUndone", From: in(Releasing), To: Arming, If: machine.Not(guards.Deleting),
			Doc: "The requirement is not being deleted: it was made anew, or restored.",
		},
		{
			On: guards.ProgressStalled, From: in(Arming), To: Degraded, Stalled: patience,
			Doc: "No progress for five minutes; the time counts from the last progress, not from the beginning.",
		},
		{
			On: "FailureEstablished", From: in(Arming, Met, Unmet, Conflicted), To: Degraded, Failing: patience, Trouble: failing,
			Doc: "The work has met errors for five minutes, or one that trying again at once cannot heal.",
		},
		{
			On: "WorkSucceeded", From: in(Degraded), To: Arming,
			If:  machine.All(guards.WorkSucceeds, machine.Not(guards.EnteredByStall), machine.Not(guards.InputChanged)),
			Doc: "The work that met errors has succeeded.",
		},
		{
			On: "ProgressResumed", From: in(Degraded), To: Arming,
			If:  machine.All(guards.EnteredByStall, guards.ProgressIsMade, guards.WorkSucceeds, machine.Not(guards.InputChanged)),
			Doc: "What stood still makes progress again.",
		},
		{
			On: "InputChanged", From: in(Degraded), To: Arming, If: guards.InputChanged,
			Doc: "The requirement's spec has changed, or the requirement was made anew.",
		},
	},
}

// OpeningAfter is the table with another patience with a checker that is away; 0 for one that never ends.
func OpeningAfter(away time.Duration) machine.Table[guards.Facts, *phases.Pass] {
	t := Table
	t.Moves = slices.Clone(t.Moves)
	for i := range t.Moves {
		if t.Moves[i].On == checkerGone {
			t.Moves[i].For = away
		}
	}
	if away == 0 {
		t.Moves = slices.DeleteFunc(t.Moves, func(m machine.Move[guards.Facts, *phases.Pass]) bool { return m.On == checkerGone })
	}
	return t
}

func in(states ...machine.State) []machine.State { return states }
