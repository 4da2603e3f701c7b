// Package clusterapi is the machine that installs, upgrades and keeps Cluster
// API: its states, its moves and what it tells people. Everything that may
// happen is in this one table; the looking and doing are in phases/clusterapi,
// the questions in guards/clusterapi.
package clusterapi

import (
	"time"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// The states, by the names that users, diagrams, logs and metrics show.
const (
	WaitingOnInfra machine.State = "WaitingOnInfra"
	Planning       machine.State = "Planning"
	Applying       machine.State = "Applying"
	Pruning        machine.State = "Pruning"
	Installed      machine.State = "Installed"
	Degraded       machine.State = "Degraded"
	MaxRevisions   machine.State = "MaxRevisions"
)

// patience is how long work may stand still, an error may last or a probe may
// fail before people are told that something is wrong.
const patience = 5 * time.Minute

// Table is the machine.
var Table = machine.Table[guards.Facts, *phases.Pass]{
	Name:     "clusterapi",
	Doc:      "Installs Cluster API from the release's provider images, upgrades it and keeps it as it should be. In every state that has a current revision that revision is kept applied.",
	Start:    WaitingOnInfra,
	Progress: guards.Progress,
	Inputs:   guards.Inputs,
	Recall:   guards.Recall,

	States: []machine.StateRow[*phases.Pass]{
		{
			Name: WaitingOnInfra, Rest: true, Work: phases.KeepCurrent,
			Doc: "The cluster has not yet said what platform it runs on, or there is no ClusterAPI object to write to.",
		},
		{
			Name: Planning, Work: phases.PlanRevision,
			Doc: "The provider images are fetched and rendered; a new revision is listed if their content differs from the newest one.",
		},
		{
			Name: Applying, Work: phases.ApplyRevision,
			Doc: "The newest revision is applied wave by wave; a wave starts when the one before it is applied and its probes pass.",
		},
		{
			Name: Pruning, Work: phases.PruneOrphans,
			Doc: "The newest revision is fully applied; what only older revisions had is deleted, except what holds users' data.",
		},
		{
			Name: Installed, Rest: true, Work: phases.KeepApplied,
			Doc: "The wanted revision is installed; drift is repaired here and deleted objects are recreated.",
		},
		{
			Name: Degraded, Rest: true, Alarm: true, Work: phases.RetryWork,
			Doc: "Something has been wrong for five minutes, or is wrong for good. The last good revision stays applied and what can be retried is retried.",
		},
		{
			Name: MaxRevisions, Rest: true, Alarm: true, Work: phases.KeepCurrent,
			Doc: "A new revision is needed and 16 are listed already. An administrator has to remove one that never became current.",
		},
	},

	Moves: []machine.Move[guards.Facts, *phases.Pass]{
		{
			On: "InfrastructureKnown", From: in(WaitingOnInfra), To: Planning,
			If:  machine.All(guards.ClusterAPIExists, guards.PlatformKnown),
			Doc: "The platform is known and there is a ClusterAPI object, so planning can begin.",
		},
		{
			On: "RevisionPublished", From: in(Planning), To: Applying,
			If:  machine.All(guards.LatestIsWanted, machine.Not(guards.LatestIsCurrent)),
			Doc: "The wanted content is listed as the newest revision and has not been fully applied yet.",
		},
		{
			On: "NothingToDo", From: in(Planning), To: Installed,
			If:  machine.All(guards.LatestIsWanted, guards.LatestIsCurrent, guards.OlderGone),
			Doc: "The wanted content is installed already and nothing older is left, so nothing is written.",
		},
		{
			On: "PruneUnfinished", From: in(Planning), To: Pruning,
			If:  machine.All(guards.LatestIsWanted, guards.LatestIsCurrent, machine.Not(guards.OlderGone)),
			Doc: "The wanted content is installed, but an earlier run did not finish removing what was before it.",
		},
		{
			On: "RevisionLimitReached", From: in(Planning), To: MaxRevisions,
			If:  machine.All(machine.Not(guards.LatestIsWanted), machine.Not(guards.RoomLeft)),
			Doc: "A new revision is needed and the list of revisions is full.",
		},
		{
			On: "RevisionApplied", From: in(Applying), To: Pruning,
			If: guards.RevisionIsApplied, Do: phases.RecordCurrent,
			Doc: "Every object of the newest revision is applied and every probe passes.",
		},
		{
			On: "ContentChanged", From: in(Applying, Pruning, Installed), To: Planning, Urgent: true,
			If:  machine.Not(guards.LatestIsWanted),
			Doc: "The inputs ask for other content than the newest revision has; the newest intent always wins, also over a rollout that is stuck.",
		},
		{
			On: "OrphansGone", From: in(Pruning), To: Installed,
			If: guards.OrphansAreGone, Do: phases.TrimRevisions,
			Doc: "Nothing is left that only older revisions had.",
		},
		{
			On: guards.ProgressStalled, From: in(Planning, Applying, Pruning), To: Degraded, Stalled: patience,
			Doc: "Nothing has come forward for five minutes; the time counts from the last progress, not from the beginning.",
		},
		{
			On: guards.FailureEstablished, From: in(Planning, Applying, Pruning, Installed), To: Degraded, Failing: patience,
			Doc: "The work has met errors for five minutes, or one that trying again cannot heal.",
		},
		{
			On: guards.GateLost, From: in(Installed), To: Degraded, For: patience,
			If:  machine.All(machine.Not(guards.RevisionIsApplied), guards.WorkSucceeds),
			Doc: "A probe of the installed revision has failed for five minutes, as in a crash loop; a hiccup does not count, nor does an object that cannot be put right.",
		},
		{
			On: "Recovered", From: in(Degraded), To: Planning,
			If:  machine.Any(guards.CauseIsGone, guards.InputChanged),
			Doc: "The cause is gone, or an input has changed, so the way is taken again from planning.",
		},
		{
			On: "RoomMade", From: in(MaxRevisions), To: Planning,
			If:  machine.Any(guards.RoomLeft, guards.LatestIsWanted),
			Doc: "A listed revision was removed, or the inputs ask again for what the newest revision has.",
		},
	},
}

func in(states ...machine.State) []machine.State { return states }
