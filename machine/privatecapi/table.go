// Package privatecapi is the machine of a HostedCluster, whose Cluster API objects move to a group of
// their own: its states, its moves and what it tells people. Everything that may happen is in this one
// table; the looking and doing are in phases/privatecapi, the questions in guards/privatecapi.
package privatecapi

import (
	"fmt"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

const (
	// patience is how long errors of a move may last.
	patience = 2 * time.Minute
	// spreading is how long every API server may take to learn of the fence.
	spreading = 5 * time.Second
	// watching is how long the target has to be healthy before there is no way back.
	watching = 30 * time.Second
	// remaining is how long a finalizer or a fence may stay without a lock: watches show one after the other that they went together.
	remaining = 10 * time.Second
	// overdue is how long an error may last at rest before somebody is called.
	overdue = 5 * time.Minute
)

var marking = machine.Trouble{
	Ephemeral: machine.Reading{Progressing: true, Reason: machine.EphemeralError},
	Terminal:  machine.Reading{Progressing: true, Reason: machine.EphemeralError},
	Patience:  overdue,
	Overdue:   machine.Reading{Degraded: true, Reason: machine.EphemeralError},
	Alert:     markingFails,
}

type move = machine.Move[guards.Facts, phases.Works]

// Table is the machine.
var Table = machine.Table[guards.Facts, phases.Works]{
	Name:     "privatecapi",
	Doc:      "Moves the Cluster API objects of a HostedCluster from the standard groups to private ones, or back where somebody asks for it, one HostedCluster at a time. The hosted API and its workloads keep running; no Machine and nothing in a cloud is created, deleted or replaced. While a HostedCluster moves, its data plane is not scaled and not repaired. How far a move has come is its stage, in annotation capstan.openshift.io/migration: it is written before what it allows, and no work is done that it does not allow. A lock of ours whose first annotation was taken away gets it back before anything else is written. Where something in the namespace of the control plane cannot be looked at, nothing is written, while limits and a deletion count; the way back of a move whose target never ran has to see only what that has touched. An API server that does not answer is no error of a work, and an outage that ends counts as progress, ten times a state at most. In a namespace that is another HostedCluster's too nothing is written: the work fails. From stage committed there is no way back; what goes wrong before is undone.",
	Start:    guards.Classifying,
	Progress: guards.Progress,
	Recall:   guards.Recall,
	Notices:  notices,

	States: []machine.StateRow[phases.Works]{
		{
			Name: guards.Classifying, Rest: true, Work: phases.Classify, Trouble: marking,
			Doc: "It is being found out whose the HostedCluster is, and whether a move of it was interrupted.",
		},
		{
			Name: guards.Eligible, Rest: true,
			Doc: "The HostedCluster is of the old operator and waits for its turn to be moved.",
		},
		{
			Name: guards.Private, Rest: true, Work: phases.CountStandard,
			Doc: "The HostedCluster has private types, and the new operator reconciles it.",
		},
		{
			Name: guards.Failed, Rest: true, Alarm: true, Alert: hasFailed,
			Doc: "A move was undone, and everything is as it was before; annotation migration-failed says why. Taking that off asks for another try. After a move back that somebody asked for, it says reverted.",
		},
		{
			Name: guards.Held, Rest: true, Alarm: true, Alert: isHeld,
			Doc: "Another than this installation of Capstan has locked the HostedCluster; until the lock is gone nothing of it is written but condition PrivateCAPIMigrated, which says so.",
		},
		{
			Name: guards.Ambiguous, Rest: true, Alarm: true, Work: phases.InspectSides, Trouble: marking, Alert: isAmbiguous,
			Doc: "Marks, finalizer, fence and objects contradict each other without a lock. What one side alone explains is put right; where both sides have objects, nothing is deleted and somebody has to look.",
		},

		way(guards.Checking, phases.RunChecks,
			"It is being checked whether anything speaks against moving the HostedCluster. Nothing is locked yet; what speaks against it is told, and the next one has its turn."),
		way(guards.Locking, phases.TakeLock,
			"The HostedCluster is being locked for its operators, and both sides for everybody who would write Cluster API objects."),
		way(guards.Pausing, phases.PauseSource,
			"The Clusters of the source are being paused."),
		way(guards.Draining, phases.ScaleDown,
			"The components of Cluster API are being stopped, whatever scales them first. From here on the data plane is not scaled."),
		way(guards.Snapshotting, phases.TakeSnapshot,
			"The source stands still, and what is in it is being counted and hashed."),
		way(guards.Copying, phases.CreateCopies,
			"Every object of the source is being copied to the other side, owners first."),
		way(guards.CopyingStatus, phases.CopyStatuses,
			"The copies are being given the status of their originals."),
		way(guards.Rewiring, phases.AddSecondOwners,
			"What belongs to the originals, such as Secrets, is being given the copies as second owners, so that nothing of it is collected with the originals."),
		way(guards.Equipping, phases.SetSidecars,
			"The components are being given what they need for the other side: the proxy beside each, or none."),
		way(guards.Starting, phases.ScaleUp,
			"The components are being started on the copies, which are still paused; the autoscaler is not."),
		way(guards.Comparing, phases.CompareSides,
			"Both sides are being compared, also through the eyes of a component."),
		way(guards.Unpausing, phases.UnpauseTarget,
			"The target is being let go: from here on its components act, and what they do is brought back if the move is undone."),
		way(guards.Observing, phases.ObserveHealth,
			"It is being watched whether the target does as well as the source did."),
		way(guards.Committing, phases.WriteCommit,
			"The move is being committed. The answer to that may be lost, so that there is only one way from here: forward."),
		way(guards.RemovingSource, phases.RemoveSource,
			"The move is committed. The objects of the source are being deleted, without anything that belongs to them, and the autoscaler is started."),
		way(guards.Unlocking, phases.ReleaseLock,
			"The move is over, or was undone; fence and lock are being taken off."),

		way(guards.Repausing, phases.RepauseTarget,
			"The move is being undone. A commit that is under way is made to fail, and the target is being paused."),
		way(guards.DrainingBack, phases.ScaleDownAgain,
			"The components are being stopped on the way back."),
		way(guards.CopyingBack, phases.CopyDelta,
			"What the target did since it was let go is being brought back to the source. What it was deleting is deleted there."),
		way(guards.DroppingCopies, phases.RemoveCopies,
			"The copies are being deleted, without anything that belongs to them."),
		way(guards.Restoring, phases.RestoreWorkloads,
			"Components and Clusters are being put back as they were before the move."),

		stopped(guards.CommitBlocked, commitIsBlocked,
			"The move cannot be committed, and it may have been; it is tried again by itself."),
		stopped(guards.CleanupBlocked, cleanupIsBlocked,
			"The move is committed, and the objects of the source cannot be removed; it is tried again by itself."),
		stopped(guards.UnlockBlocked, unlockIsBlocked,
			"The move is over, and fence or lock cannot be taken off; it is tried again by itself."),
		stopped(guards.RestoreBlocked, restoreIsBlocked,
			"The move was undone, and components or Clusters cannot be put back as they were; it is tried again by itself."),
		stopped(guards.RollbackBlocked, rollbackIsBlocked,
			"The move cannot be undone; it is tried again by itself, and begun anew once what stood in the way is gone."),
	},

	Moves: []move{
		// Whose is it?
		{
			On: "ForeignLock", From: in(guards.Classifying), To: guards.Held,
			If:  machine.All(guards.Locked, machine.Not(guards.LockIsOurs)),
			Doc: "The HostedCluster is locked, and not by this installation of Capstan.",
		},
		{
			On: guards.InterruptedEarly, From: in(guards.Classifying), To: guards.Repausing,
			If:  machine.All(guards.Locked, guards.LockIsOurs, machine.Not(guards.IsCommitted)),
			Doc: "A move of ours was interrupted before it was committed, and nobody knows any more where: it is undone.",
		},
		{
			On: "InterruptedLate", From: in(guards.Classifying), To: guards.RemovingSource,
			If:  machine.All(guards.Locked, guards.LockIsOurs, guards.IsCommitted),
			Doc: "A move of ours was interrupted after it was committed: it goes on.",
		},
		{
			On: "ContradictionFound", From: in(guards.Classifying), To: guards.Ambiguous,
			If:  machine.All(machine.Not(guards.Locked), machine.Not(guards.Consistent)),
			Doc: "Nothing is locked, and marks, finalizer, fence and objects contradict each other.",
		},
		{
			On: "FailureMarked", From: in(guards.Classifying), To: guards.Failed,
			If:  machine.All(machine.Not(guards.Locked), guards.Consistent, guards.MarkedFailed),
			Doc: "A move was undone before, and nobody has asked for another try.",
		},
		{
			On: "LegacyFound", From: in(guards.Classifying), To: guards.Eligible,
			If:  machine.All(machine.Not(guards.Locked), guards.Consistent, machine.Not(guards.MarkedFailed), guards.OwnedByLegacy),
			Doc: "The old operator reconciles the HostedCluster.",
		},
		{
			On: "PrivateFound", From: in(guards.Classifying), To: guards.Private,
			If: machine.All(machine.Not(guards.Locked), guards.Consistent, machine.Not(guards.MarkedFailed), machine.Not(guards.OwnedByLegacy),
				guards.OwnedByNew),
			Doc: "The new operator reconciles the HostedCluster.",
		},
		{
			On: "OwnerChanged", From: in(guards.Eligible), To: guards.Classifying, Urgent: true,
			If:  machine.Any(guards.Locked, guards.MarkedFailed, machine.Not(guards.OwnedByLegacy)),
			Doc: "Somebody has locked the HostedCluster, or changed its marks.",
		},
		{
			On: "OwnerChanged", From: in(guards.Private), To: guards.Classifying, Urgent: true,
			If:  machine.Any(guards.Locked, guards.MarkedFailed, machine.Not(guards.OwnedByNew)),
			Doc: "Somebody has locked the HostedCluster, or changed its marks.",
		},
		remains(guards.Eligible, machine.Not(guards.MarkedFailed), guards.OwnedByLegacy),
		remains(guards.Private, machine.Not(guards.MarkedFailed), guards.OwnedByNew),
		remains(guards.Failed),
		{
			On: "StandardFound", From: in(guards.Private), To: guards.Classifying, Urgent: true, For: remaining,
			If: machine.All(machine.Not(guards.MarkedFailed), guards.OwnedByNew, machine.Not(guards.Locked), machine.Not(guards.TracesLeft),
				guards.StandardFound),
			Doc: "Standard objects have come to a HostedCluster that has private types.",
		},
		step("TurnCame", in(guards.Eligible, guards.Private), guards.Checking, guards.TurnIsOurs,
			"The HostedCluster is to be moved, and it is its turn."),
		{
			On: "RetryAllowed", From: in(guards.Failed), To: guards.Classifying,
			If:  machine.Any(guards.Locked, guards.RetryIsAsked),
			Doc: "Somebody has taken annotation migration-failed off, or locked the HostedCluster.",
		},
		{
			On: "LockChanged", From: in(guards.Held), To: guards.Classifying,
			If:  machine.Any(guards.LockIsOurs, machine.Not(guards.Locked)),
			Doc: "The lock is gone, or it is one of ours.",
		},
		{
			On: "ContradictionGone", From: in(guards.Ambiguous), To: guards.Classifying,
			If:  machine.Any(guards.Locked, guards.Consistent),
			Doc: "Marks, finalizer, fence and objects say the same, or somebody has locked the HostedCluster.",
		},

		// The way there.
		step("ChecksPassed", in(guards.Checking), guards.Locking, guards.ChecksPassed,
			"Nothing speaks against the move."),
		{
			On: "LockTaken", From: in(guards.Locking), To: guards.Pausing, For: spreading,
			If:  machine.All(guards.LockIsOurs, guards.LockIsWhole, guards.FenceHolds, guards.SidesReady),
			Doc: "The HostedCluster is locked, and every API server has had the time to learn of the fence, which denies writes; nothing of the source is terminating, and nothing is at the target.",
		},
		step("SourcePaused", in(guards.Pausing), guards.Draining, guards.SourcePaused,
			"Every Cluster of the source is paused."),
		step("PodsGone", in(guards.Draining), guards.Snapshotting, guards.PodsGone,
			"Nothing runs any more that reconciles Cluster API for the HostedCluster."),
		step("SnapshotTaken", in(guards.Snapshotting), guards.Copying, guards.SnapshotTaken,
			"It is noted what the source is."),
		step("CopiesExist", in(guards.Copying), guards.CopyingStatus, guards.CopiesExist,
			"Every object of the source has its copy."),
		step("StatusesCopied", in(guards.CopyingStatus), guards.Rewiring, guards.StatusesCopied,
			"Every copy has the status of its original."),
		step("DependentsHeld", in(guards.Rewiring), guards.Equipping, guards.DependentsHeld,
			"Everything that belongs to an original belongs to its copy, too."),
		step("WorkloadsEquipped", in(guards.Equipping), guards.Starting, guards.WorkloadsEquipped,
			"The components would speak to the target."),
		step("WorkloadsAvailable", in(guards.Starting), guards.Comparing, guards.WorkloadsAvailable,
			"The components run."),
		step("SidesEqual", in(guards.Comparing), guards.Unpausing, guards.SidesEqual,
			"The copies say what their originals say."),
		step("TargetUnpaused", in(guards.Unpausing), guards.Observing, guards.TargetUnpaused,
			"The target is let go."),
		{
			On: "HealthHeld", From: in(guards.Observing), To: guards.Committing, For: watching, If: guards.TargetHealthy,
			Doc: "For half a minute the target has done as well as the source did.",
		},
		step("CommitSeen", in(guards.Committing, guards.CommitBlocked), guards.RemovingSource, guards.IsCommitted,
			"The move is committed."),
		step("SourceGone", in(guards.RemovingSource, guards.CleanupBlocked), guards.Unlocking, guards.Settled,
			"Nothing of the source is left, and the components are as the target needs them."),
		step("LockGone", in(guards.Unlocking, guards.UnlockBlocked), guards.Classifying, machine.Not(guards.Locked),
			"The HostedCluster is free."),

		// The way back.
		{
			On: "TargetPaused", From: in(guards.Repausing), To: guards.DrainingBack, For: spreading,
			If:  machine.All(guards.TargetPaused, guards.FenceHolds),
			Doc: "No commit can arrive any more, every Cluster of the target is paused, if there is any, and every API server has had the time to learn of the fence, which denies writes.",
		},
		step("PodsGone", in(guards.DrainingBack), guards.CopyingBack, guards.PodsGone,
			"Nothing runs any more that reconciles Cluster API for the HostedCluster."),
		step("SourceCaughtUp", in(guards.CopyingBack), guards.DroppingCopies, guards.SourceCaughtUp,
			"The source has all that the target did."),
		step("CopiesGone", in(guards.DroppingCopies), guards.Restoring, guards.CopiesGone,
			"No copy is left."),
		step("SourceRestored", in(guards.Restoring, guards.RestoreBlocked), guards.Unlocking, guards.Settled,
			"Components and Clusters are as they were before the move."),
		step("RollbackResumed", in(guards.RollbackBlocked), guards.Repausing, guards.CauseIsGone,
			"What stood in the way is gone: the move is undone from the beginning of the way back."),

		// What leads off the way.
		{
			On: "StageDiffers", From: everyWay, To: guards.Classifying, Urgent: true, If: guards.StageIsKnownToDiffer,
			Doc: "The stage is not one that allows this state, lock or fence was taken away, the source was let go, or it is no more the turn of a HostedCluster that is not locked yet.",
		},
		{
			On: guards.DeletionAsked, From: in(guards.Locking), To: guards.Unlocking, Urgent: true, If: machine.All(machine.Not(guards.StageIsKnownToDiffer), guards.Deleting),
			Doc: "Somebody deletes the HostedCluster, which has not begun to move.",
		},
		{
			On: guards.DeletionAsked, From: undoable, To: guards.Repausing, Urgent: true, If: machine.All(machine.Not(guards.StageIsKnownToDiffer), guards.Deleting),
			Doc: "Somebody deletes the HostedCluster: the move is undone, so that the operator that it was of can take it down.",
		},

		failing(in(guards.Checking), guards.Classifying, "What had to be asked could not be, for two minutes: the next HostedCluster has its turn."),
		failing(in(guards.Locking), guards.Unlocking, "The lock could not be taken for two minutes, or for a reason that trying again at once cannot heal: it is taken off again."),
		failing(undoable, guards.Repausing, "The work has met errors for two minutes, or one that trying again at once cannot heal: the move is undone."),
		failing(in(guards.Committing), guards.CommitBlocked, "The commit has met errors for two minutes, or one that trying again at once cannot heal."),
		failing(in(guards.RemovingSource), guards.CleanupBlocked, "The removal has met errors for two minutes, or one that trying again at once cannot heal."),
		failing(in(guards.Unlocking), guards.UnlockBlocked, "The unlocking has met errors for two minutes, or one that trying again at once cannot heal."),
		failing(rollback, guards.RollbackBlocked, "The way back has met errors for two minutes, or one that trying again at once cannot heal."),
		failing(in(guards.Restoring), guards.RestoreBlocked, "The restoring has met errors for two minutes, or one that trying again at once cannot heal."),

		stalled(in(guards.Checking), time.Minute, guards.Classifying, "Something has spoken against the move for a minute: the next HostedCluster has its turn."),
		stalled(in(guards.Locking), time.Minute, guards.Unlocking, "The lock could not be taken within a minute: it is taken off again."),
		stalled(in(guards.Unpausing), 30*time.Second, guards.Repausing, "No progress for half a minute: the move is undone."),
		stalled(in(guards.Pausing, guards.Comparing), time.Minute, guards.Repausing, "No progress for a minute: the move is undone."),
		stalled(in(guards.Snapshotting, guards.Copying, guards.CopyingStatus, guards.Rewiring, guards.Equipping), 2*time.Minute, guards.Repausing,
			"No progress for two minutes, which count from the last object that was done: the move is undone."),
		stalled(in(guards.Draining, guards.Observing), 5*time.Minute, guards.Repausing, "No progress for five minutes: the move is undone."),
		stalled(in(guards.Starting), 10*time.Minute, guards.Repausing, "The components did not become available within ten minutes: the move is undone."),
		stalled(in(guards.Committing), 10*time.Minute, guards.CommitBlocked, "The commit was not seen within ten minutes."),
		stalled(in(guards.RemovingSource), 10*time.Minute, guards.CleanupBlocked, "No object of the source went for ten minutes."),
		stalled(in(guards.Unlocking), 10*time.Minute, guards.UnlockBlocked, "The lock was not gone within ten minutes."),
		stalled(rollback, 15*time.Minute, guards.RollbackBlocked, "No progress on the way back for fifteen minutes."),
		stalled(in(guards.Restoring), 15*time.Minute, guards.RestoreBlocked, "No progress in restoring for fifteen minutes."),
	},
}

// undoable are the states on the way whose move is undone where something goes wrong, and rollback those on the way back. everyWay
// are all states that ask for a stage.
var (
	undoable = in(guards.Pausing, guards.Draining, guards.Snapshotting, guards.Copying, guards.CopyingStatus, guards.Rewiring,
		guards.Equipping, guards.Starting, guards.Comparing, guards.Unpausing, guards.Observing)
	rollback = in(guards.Repausing, guards.DrainingBack, guards.CopyingBack, guards.DroppingCopies)
	everyWay = append(append(in(guards.Checking, guards.Locking, guards.Committing, guards.RemovingSource, guards.Unlocking,
		guards.Restoring, guards.CommitBlocked, guards.CleanupBlocked, guards.UnlockBlocked, guards.RestoreBlocked, guards.RollbackBlocked),
		undoable...), rollback...)
)

// way is a state on the way, and stopped one that resumes the state before.
func way(name machine.State, work machine.Action[phases.Works], doc string) machine.StateRow[phases.Works] {
	if reason := guards.ReasonFor(name, guards.ProgressStalled, false); reason != guards.AmbiguousState {
		doc += fmt.Sprintf(" A move that fails here is told as %s.", reason)
	}
	return machine.StateRow[phases.Works]{Name: name, Work: work, Doc: doc}
}

func stopped(name machine.State, alert machine.Alert, doc string) machine.StateRow[phases.Works] {
	return machine.StateRow[phases.Works]{Name: name, Rest: true, Alarm: true, Work: machine.Resume[phases.Works](), Alert: alert, Doc: doc}
}

func step(on machine.Event, from []machine.State, to machine.State, guard machine.Guard[guards.Facts], doc string) move {
	return move{On: on, From: from, To: to, If: guard, Doc: doc}
}

// remains leads from a state at rest, as long as it is that of the marks, to where what a move has left behind is put right.
func remains(from machine.State, fits ...machine.Guard[guards.Facts]) move {
	return move{
		On: "TracesFound", From: in(from), To: guards.Classifying, Urgent: true, For: remaining,
		If:  machine.All(append(fits, machine.Not(guards.Locked), guards.TracesLeft)...),
		Doc: "The finalizer of a move or a fence is left without a lock, and keeps others out.",
	}
}

func failing(from []machine.State, to machine.State, doc string) move {
	return move{On: guards.FailureEstablished, From: from, To: to, Failing: patience, Doc: doc}
}

func stalled(from []machine.State, limit time.Duration, to machine.State, doc string) move {
	return move{On: guards.ProgressStalled, From: from, To: to, Stalled: limit, Doc: doc}
}

func in(states ...machine.State) []machine.State { return states }
