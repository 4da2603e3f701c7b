// Package legacyoperator is the machine of HyperShift's old operator, which is retired once no
// HostedCluster needs it: its states, its moves and what it tells people. Everything that may happen is
// in this one table; the looking and doing are in phases/legacyoperator, the questions in guards/legacyoperator.
package legacyoperator

import (
	"time"

	guards "github.com/capstan-capi/capstan/guards/legacyoperator"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/legacyoperator"
)

// The states, by the names that users, diagrams, logs and metrics show.
const (
	Needed         machine.State = "Needed"
	Removing       machine.State = "Removing"
	Removed        machine.State = "Removed"
	RemovalBlocked machine.State = "RemovalBlocked"
)

const (
	// patience is how long errors of the removal may last.
	patience = 2 * time.Minute
	// limit is how long the removal may stand still, and how long errors in keeping may last before somebody is called.
	limit = 5 * time.Minute
)

var (
	removalIsBlocked = machine.Alert{
		Name: "CapstanLegacyOperatorRemovalBlocked", Severity: machine.Warning, After: time.Hour,
		Summary: "HyperShift's old operator is not needed any more, and cannot be removed",
	}
	keepingFails = machine.Alert{
		Name: "CapstanLegacyOperatorFailing", Severity: machine.Warning, After: 10 * time.Minute,
		Summary: "HyperShift's old operator is needed, and Capstan cannot have it run",
	}
	keeping = machine.Trouble{
		Ephemeral: machine.Reading{Progressing: true, Reason: machine.EphemeralError},
		Terminal:  machine.Reading{Progressing: true, Reason: machine.EphemeralError},
		Patience:  limit,
		Overdue:   machine.Reading{Degraded: true, Reason: machine.EphemeralError},
		Alert:     keepingFails,
	}
)

// Table is the machine.
var Table = machine.Table[guards.Facts, phases.Works]{
	Name:  "legacyoperator",
	Doc:   "Retires HyperShift's old operator once every HostedCluster has private Cluster API types and the time of retention is over, and has it back as soon as one needs it.",
	Start: Needed,

	States: []machine.StateRow[phases.Works]{
		{
			Name: Needed, Rest: true, Work: phases.KeepOperator, Trouble: keeping,
			Doc: "The old operator is kept: a HostedCluster is its own, moves, or has a failed move, or the time of retention is not over. While it is kept a HostedCluster can be moved back.",
		},
		{
			Name: Removing, Work: phases.RemoveOperator,
			Doc: "Nobody needs the old operator, and it is being removed.",
		},
		{
			Name: Removed, Rest: true,
			Doc: "The old operator has neither replicas nor pods; its Deployment stays, and one that somebody starts again is left alone. No HostedCluster can be moved back.",
		},
		{
			Name: RemovalBlocked, Rest: true, Alarm: true, Work: machine.Resume[phases.Works](), Alert: removalIsBlocked,
			Doc: "The old operator cannot be removed; it is tried again by itself. Nothing depends on it.",
		},
	},

	Moves: []machine.Move[guards.Facts, phases.Works]{
		{
			On: "NobodyNeeds", From: in(Needed), To: Removing, If: machine.All(guards.AllPrivate, guards.RetentionOver),
			Doc: "Every HostedCluster has private types, and the time of retention is over.",
		},
		{
			On: "OperatorGone", From: in(Removing, RemovalBlocked), To: Removed, If: guards.OperatorGone,
			Doc: "Nothing of the old operator is left.",
		},
		{
			On: "NeededAgain", From: in(Removing, RemovalBlocked, Removed), To: Needed, Urgent: true, If: machine.Not(guards.AllPrivate),
			Doc: "A HostedCluster is not the new operator's alone, as one that was restored or has a failed move.",
		},
		{
			On: "ProgressStalled", From: in(Removing), To: RemovalBlocked, Stalled: limit,
			Doc: "The old operator was not gone within five minutes.",
		},
		{
			On: "FailureEstablished", From: in(Removing), To: RemovalBlocked, Failing: patience,
			Doc: "The removal has met errors for two minutes, or one that trying again at once cannot heal.",
		},
	},
}

func in(states ...machine.State) []machine.State { return states }
