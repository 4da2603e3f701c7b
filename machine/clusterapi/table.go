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
	AwaitingCRDs   machine.State = "AwaitingCRDs"
	Applying       machine.State = "Applying"
	Pruning        machine.State = "Pruning"
	Installed      machine.State = "Installed"
	Degraded       machine.State = "Degraded"
	MaxRevisions   machine.State = "MaxRevisions"
	Paused         machine.State = "Paused"
)

// The parts of the machine that have conditions of their own.
const (
	RevisionController  = phases.RevisionController
	InstallerController = phases.InstallerController
)

// Available is the condition that tells whether what is installed works.
const Available = InstallerController + "Available"

// patience is how long work may stand still, an error may last or a probe may
// fail before people are told that something is wrong.
const patience = 5 * time.Minute

// hiccup is how long a definition that others install may not be as it is needed before that is waited for.
const hiccup = 30 * time.Second

// othersPatience is how long the operator waits for what an upgrade of the cluster does in minutes: the operator of the
// new release comes, and an installer of the release before goes.
const othersPatience = 10 * time.Minute

// How the parts read on conditions.
var (
	working  = machine.Reading{Progressing: true, Reason: machine.Progressing}
	waiting  = machine.Reading{Progressing: true, Reason: machine.WaitingOnExternal}
	retrying = machine.Reading{Progressing: true, Reason: machine.EphemeralError}
	degraded = machine.Reading{Progressing: true, Degraded: true, Reason: machine.EphemeralError}
	terminal = machine.Reading{Degraded: true, Reason: machine.NonRetryableError}
	resuming = machine.Trouble{Ephemeral: degraded, Terminal: terminal}
	keeping  = machine.Trouble{Ephemeral: retrying, Terminal: retrying, Patience: patience, Overdue: degraded, Alert: keepingFails}
	paused   = machine.Reading{Reason: machine.WaitingOnExternal}
	failing  = machine.Trouble{Ephemeral: retrying, Terminal: terminal}
)

// Table is the machine.
var Table = machine.Table[guards.Facts, *phases.Pass]{
	Name:     "clusterapi",
	Doc:      "Installs Cluster API from the release's provider images, upgrades it and keeps it as it should be. The current revision, if it is known and its images are at hand and render to what is listed, is kept applied in every state but Paused; of a revision that this release has listed also the components whose images are at hand, while those of others are not. A CustomResourceDefinition that the ClusterAPI lists as unmanaged is let go of in each of these states, whatever revisions have. An object that an act leaves alone is not written, created or deleted in any state, nor is what it would go with; in the revision that is installed it is no lost gate, and in another one its wave waits unless it is as wanted, its number apart.",
	Start:    WaitingOnInfra,
	Parts:    []string{RevisionController, InstallerController},
	Progress: guards.Progress,
	Inputs:   guards.Inputs,
	Recall:   guards.Recall,

	States: []machine.StateRow[*phases.Pass]{
		{
			Name: WaitingOnInfra, Rest: true, Work: phases.KeepCurrent,
			Part: RevisionController, Reads: waiting, Trouble: keeping, Alert: waitsLong,
			Doc: "The cluster has not yet said what platform it runs on, there is no ClusterAPI object to write to, the installer that OpenShift shipped before still runs, or the list of images is for the operator of another release. What this operator has installed is kept.",
		},
		{
			Name: Planning, Work: phases.PlanRevision,
			Part: RevisionController, Reads: working,
			Doc: "The inputs are being turned into a revision; a new one is listed if their content differs from the desired one's. Images that are known to bring nothing for the platform are not fetched.",
		},
		{
			Name: AwaitingCRDs, Work: phases.AwaitCRDs,
			Part: InstallerController, Reads: waiting,
			Doc: "The desired revision needs CustomResourceDefinitions that others install. What it requires of them is applied, and nothing else of it but waves that were entered before; what is installed is kept until they are as they are needed.",
		},
		{
			Name: Applying, Work: phases.ApplyRevision,
			Part: InstallerController, Reads: working,
			Doc: "The desired revision is applied wave by wave; a wave starts when the one before it is applied and its probes pass.",
		},
		{
			Name: Pruning, Work: phases.PruneOrphans,
			Part: InstallerController, Reads: working,
			Doc: "The desired revision is fully applied; what only older revisions had is deleted. What holds users' data is retained, unless it is empty or the administrator has consented to lose exactly what it holds, which is listed anew right before.",
		},
		{
			Name: Installed, Rest: true, Work: phases.KeepApplied,
			Part: InstallerController,
			Doc:  "The desired revision is installed; drift is repaired here and deleted objects are recreated.",
		},
		{
			Name: Degraded, Rest: true, Alarm: true, Work: machine.Resume[*phases.Pass](),
			Reads: degraded, Trouble: resuming, Alert: isDegraded,
			Doc: "Something has been wrong for five minutes, or met an error that trying again at once cannot heal. What was at work goes on, deletions included, and the current revision stays applied.",
		},
		{
			Name: MaxRevisions, Rest: true, Alarm: true, Work: phases.KeepCurrent,
			Part: RevisionController, Reads: terminal, Trouble: keeping, Alert: listIsFull,
			Doc: "A new revision is needed and 16 are listed already. An administrator has to remove one that never became current.",
		},
		{
			Name: Paused, Rest: true, Quiet: true, Work: phases.WatchOnly,
			Part: InstallerController, Reads: paused, Alert: isPaused,
			Doc: "An administrator has paused the machine for a time. It looks, and tells what differs and what is wanted by now, and writes nothing but that; what was asked to go before goes on going.",
		},
	},

	Moves: []machine.Move[guards.Facts, *phases.Pass]{
		{
			On: "InfrastructureKnown", From: in(WaitingOnInfra), To: Planning,
			If:  machine.All(guards.ClusterAPIIsOurs, guards.PlatformKnown, guards.ListIsOurs),
			Doc: "The platform is known, there is a ClusterAPI object that nobody else installs by, and the list of images is for this operator, so planning can begin.",
		},
		{
			On: "ClusterAPILost", From: in(Planning, AwaitingCRDs, Applying, Pruning, Installed, Degraded, MaxRevisions), To: WaitingOnInfra, Urgent: true,
			If:  machine.All(machine.Not(guards.PauseStands), machine.Not(guards.ClusterAPIIsOurs)),
			Doc: "Somebody deleted the ClusterAPI object, or the installer that OpenShift shipped before runs, which writes to it too. Nothing is uninstalled; what the operator knows to be its own is kept until the object is there again and the other installer has ended.",
		},
		{
			On: guards.PauseAsked, From: in(WaitingOnInfra, Planning, AwaitingCRDs, Applying, Pruning, Installed, Degraded, MaxRevisions), To: Paused, Urgent: true,
			If:  guards.PauseStands,
			Doc: "An administrator asks for a pause. A pass that is under way comes to its end; after that nothing is written.",
		},
		{
			On: "PauseEnded", From: in(Paused), To: WaitingOnInfra,
			If:  machine.Not(guards.PauseStands),
			Doc: "The pause has ended by time, was taken back, does not count any more, or is gone with the ClusterAPI. The way is taken again from the beginning, where every row is right in any world; nothing is written before Planning has looked.",
		},
		{
			On: "RevisionPublished", From: in(Planning), To: Applying,
			If:  machine.All(guards.DesiredStands, guards.SpecObserved, machine.Not(guards.DesiredIsCurrent), machine.Not(guards.LeavesCRDs)),
			Doc: "The planned content is listed as the desired revision, or the listed one goes on because consent is awaited, and it has not been fully applied yet.",
		},
		{
			On: "RequirementsPublished", From: in(Planning), To: AwaitingCRDs,
			If:  machine.All(guards.DesiredStands, guards.SpecObserved, machine.Not(guards.DesiredIsCurrent), guards.LeavesCRDs),
			Doc: "The desired revision, which has not been fully applied yet, needs CustomResourceDefinitions that others install.",
		},
		{
			On: "CRDsReady", From: in(AwaitingCRDs), To: Applying,
			If:  guards.CRDsMeet,
			Doc: "The CustomResourceDefinitions that others install are as the desired revision needs them, so its other waves may follow.",
		},
		{
			On: "CRDsLost", From: in(Applying), To: AwaitingCRDs, For: hiccup,
			If:  machine.Not(guards.CRDsMeet),
			Doc: "A CustomResourceDefinition that others install is not as the desired revision needs it any more, for half a minute. No further wave is entered meanwhile.",
		},
		{
			On: "NothingToDo", From: in(Planning), To: Installed,
			If:  machine.All(guards.DesiredStands, guards.SpecObserved, guards.DesiredIsCurrent, guards.OlderGone),
			Doc: "The planned content is installed already, or what is installed stays because consent is awaited, and nothing older is left, so nothing is written.",
		},
		{
			On: "PruneUnfinished", From: in(Planning), To: Pruning,
			If:  machine.All(guards.DesiredStands, guards.SpecObserved, guards.DesiredIsCurrent, machine.Not(guards.OlderGone)),
			Doc: "The planned content is installed, or what is installed stays because consent is awaited, but something is left of what was before it.",
		},
		{
			On: "RolloutGoesOn", From: in(Planning), To: Applying, Urgent: true,
			If:  machine.All(machine.Not(guards.PauseStands), guards.ClusterAPIIsOurs, guards.RolloutGoesOn, machine.Not(guards.LeavesCRDs)),
			Doc: "The inputs cannot be planned, which does not stop the rollout of the desired revision.",
		},
		{
			On: "RequirementsStand", From: in(Planning), To: AwaitingCRDs, Urgent: true,
			If:  machine.All(machine.Not(guards.PauseStands), guards.ClusterAPIIsOurs, guards.RolloutGoesOn, guards.LeavesCRDs),
			Doc: "The inputs cannot be planned, which does not stop the rollout of the desired revision; it needs CustomResourceDefinitions that others install.",
		},
		{
			On: "ListReplaced", From: in(Planning), To: WaitingOnInfra, Urgent: true,
			If:  machine.All(machine.Not(guards.PauseStands), guards.ClusterAPIIsOurs, machine.Not(guards.RolloutGoesOn), guards.ListForAnotherRelease),
			Doc: "The list of images is for the operator of another release. What is installed is kept until that operator comes.",
		},
		{
			On: "RevisionLimitReached", From: in(Planning), To: MaxRevisions,
			If:  machine.All(machine.Not(guards.DesiredStands), machine.Not(guards.RoomLeft)),
			Doc: "A new revision is needed and the list of revisions is full.",
		},
		{
			On: "RevisionApplied", From: in(Applying), To: Pruning,
			If: machine.All(guards.CRDsMeet, guards.RevisionIsApplied), Do: phases.RecordCurrent,
			Doc: "Every object of the desired revision is applied and every probe passes.",
		},
		{
			On: "ContentChanged", From: in(AwaitingCRDs, Applying, Installed), To: Planning, Urgent: true,
			If:  machine.All(machine.Not(guards.PauseStands), guards.ClusterAPIIsOurs, machine.Not(guards.DesiredStands)),
			Doc: "The inputs ask for other content than the desired revision has and no consent is awaited; the newest intent always wins, also over a rollout that is stuck.",
		},
		{
			On: "ContentChanged", From: in(Pruning), To: Planning, Urgent: true,
			If:  machine.All(machine.Not(guards.PauseStands), guards.ClusterAPIIsOurs, guards.DesiredIsCurrent, machine.Not(guards.DesiredStands)),
			Doc: "The inputs ask for other content than the desired revision has and no consent is awaited; what is left to prune is pruned after it.",
		},
		{
			On: "CurrentLost", From: in(Pruning), To: Planning, Urgent: true,
			If:  machine.All(machine.Not(guards.PauseStands), guards.ClusterAPIIsOurs, machine.Not(guards.DesiredIsCurrent)),
			Doc: "The desired revision is not the current one, so its gates have to be passed first; nothing is pruned for it.",
		},
		{
			On: "OrphansGone", From: in(Pruning), To: Installed,
			If: machine.All(guards.DesiredIsCurrent, guards.OrphansAreGone), Do: phases.TrimRevisions,
			Doc: "Nothing is left that only older revisions had.",
		},
		{
			On: "ListDisturbed", From: in(Installed), To: Planning, Urgent: true,
			If:  machine.All(machine.Not(guards.PauseStands), guards.ClusterAPIIsOurs, guards.DesiredStands, guards.Disturbed),
			Doc: "The status of the ClusterAPI is not what it is after an installation: the current revision was taken out, older ones were put in, or a spec with the same content is new. Planning leads on from there, without a write to an object that is right.",
		},
		{
			On: "RetainedReleasable", From: in(Installed), To: Pruning,
			If:  guards.RetainedMayGo,
			Doc: "An object that was retained for the data in it is empty now, or the administrator has consented, by capstan consent, to lose exactly what it holds.",
		},
		{
			On: "RetainedReleasable", From: in(Degraded), To: Pruning, Urgent: true,
			If:  machine.All(machine.Not(guards.PauseStands), guards.ClusterAPIIsOurs, machine.Not(guards.InputChanged), guards.RetainedMayGo),
			Doc: "An object that was retained for the data in it is empty now, or the administrator has consented, by capstan consent, to lose exactly what it holds; that does not wait until the trouble is over.",
		},
		{
			On: guards.ProgressStalled, From: in(Planning, AwaitingCRDs, Applying, Pruning), To: Degraded, Stalled: patience,
			Doc: "No progress for five minutes; the time counts from the last progress, not from the beginning.",
		},
		{
			On: guards.FailureEstablished, From: in(Planning, AwaitingCRDs, Applying, Pruning, Installed), To: Degraded, Failing: patience, Trouble: failing,
			Doc: "The work has met errors for five minutes, or one that trying again at once cannot heal.",
		},
		{
			On: guards.GateLost, From: in(Installed), To: Degraded, For: patience, Takes: []string{Available}, Alert: isUnavailable,
			If:  machine.All(machine.Not(guards.RevisionIsApplied), machine.Not(guards.RetainedMayGo), guards.WorkSucceeds),
			Doc: "A probe of the installed revision has failed for five minutes, as in a crash loop, so InstallerControllerAvailable is False until the probes pass. A hiccup does not count, nor does an object that cannot be put right.",
		},
		{
			On: "WorkSucceeded", From: in(Degraded), To: Planning,
			If:  machine.All(guards.WorkSucceeds, machine.Not(guards.EnteredByStall), machine.Not(guards.EnteredByGateLoss)),
			Doc: "The work that met errors has succeeded, so the way is taken again from planning.",
		},
		{
			On: "ProgressResumed", From: in(Degraded), To: Planning,
			If:  machine.All(guards.EnteredByStall, machine.Not(guards.EnteredByGateLoss), guards.ProgressIsMade, guards.WorkSucceeds),
			Doc: "What stood still makes progress again, so the way is taken again from planning.",
		},
		{
			On: "GateRegained", From: in(Degraded), To: Planning,
			If:  machine.All(guards.EnteredByGateLoss, guards.RevisionIsApplied, guards.WorkSucceeds),
			Doc: "The probes of the installed revision pass again.",
		},
		{
			On: "InputChanged", From: in(Degraded), To: Planning, Urgent: true,
			If:  machine.All(machine.Not(guards.PauseStands), guards.ClusterAPIIsOurs, guards.InputChanged),
			Doc: "An input has changed, or the status of the ClusterAPI lists something else than it did, so the way is taken again from planning.",
		},
		{
			On: "RoomMade", From: in(MaxRevisions), To: Planning,
			If:  machine.Any(guards.RoomLeft, guards.DesiredMatchesInputs),
			Doc: "A listed revision was removed, or the inputs ask again for what the desired revision has.",
		},
	},

	Asides: []machine.Aside[guards.Facts]{
		{
			Part: RevisionController, If: guards.PauseStands, Reads: paused,
			Doc: "An administrator has paused the machine, so nothing new is listed.",
		},
		{
			Part: RevisionController, If: guards.FormerInstallerRuns, For: othersPatience, Reads: degraded, Alert: formerRuns,
			Doc: "The installer that OpenShift shipped before has run beside this operator for ten minutes, so an administrator has to end it: capstan takeover.",
		},
		{
			Part: RevisionController, If: guards.ListForAnotherRelease, For: othersPatience, Reads: degraded, Alert: listIsOthers,
			Doc: "The list of images has been for another release for ten minutes, and the operator of that release has not come.",
		},
		{
			Part: RevisionController, If: guards.ListForAnotherRelease, Reads: waiting,
			Doc: "The list of images is for another release, and the machine goes on with the revision that it has until the operator of that release comes.",
		},
		{
			Part: RevisionController, If: guards.PlanIsTerminal, Reads: terminal, Alert: inputsAreWrong,
			Doc: "The inputs cannot be planned until one of them is changed, and the machine goes on with the revision that it has.",
		},
		{
			Part: RevisionController, If: guards.InputsUnplannable, For: patience, Reads: degraded, Alert: inputsAreOut,
			Doc: "The inputs cannot be planned for five minutes, and the machine goes on with the revision that it has.",
		},
		{
			Part: RevisionController, If: guards.InputsUnplannable, Reads: retrying,
			Doc: "The inputs cannot be planned at the moment, and the machine goes on with the revision that it has.",
		},
		{
			Part: RevisionController, If: guards.UninstallAwaitsConsent, Reads: terminal, Alert: uninstallIsAsked,
			Doc: "The inputs ask for a revision that would end what runs, and the administrator has not consented to that, so the machine goes on with the revision that it has.",
		},
		{
			Part: InstallerController, If: guards.NothingIsCurrent, Reads: machine.Reading{Reason: machine.Uninitialized},
			Doc: "Nothing has been installed yet.",
		},
	},

	Notices: notices,
}

func in(states ...machine.State) []machine.State { return states }
