package privatecapi

import (
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// moves are those of the table.
var moves = []move{
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
		Doc: "Nothing is locked, and marks, fence and objects contradict each other.",
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
	{
		On: "TurnCame", From: in(guards.Eligible, guards.Private), To: guards.Checking, If: guards.TurnIsOurs,
		Doc: "The HostedCluster is to be moved, and it is its turn.",
	},
	{
		On: "RetryAllowed", From: in(guards.Failed), To: guards.Classifying,
		If:  machine.Any(guards.Locked, machine.Not(guards.MarkedFailed)),
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
		Doc: "Marks, fence and objects say the same, or somebody has locked the HostedCluster.",
	},

	// The way there.
	{
		On: "ChecksPassed", From: in(guards.Checking), To: guards.Locking, If: guards.ChecksPassed,
		Doc: "Nothing speaks against the move.",
	},
	{
		On: "LockTaken", From: in(guards.Locking), To: guards.Pausing, For: spreading,
		If:  machine.All(guards.LockIsOurs, guards.LockIsWhole, guards.FenceHolds),
		Doc: "The HostedCluster is locked, and every API server has had the time to learn of the fence, which denies writes.",
	},
	{
		On: "SourcePaused", From: in(guards.Pausing), To: guards.Draining, If: guards.SourcePaused,
		Doc: "Every Cluster of the source is paused.",
	},
	{
		On: "PodsGone", From: in(guards.Draining), To: guards.Snapshotting, If: guards.PodsGone,
		Doc: "Nothing runs any more that reconciles Cluster API for the HostedCluster.",
	},
	{
		On: "SnapshotTaken", From: in(guards.Snapshotting), To: guards.Copying, If: guards.SnapshotTaken,
		Doc: "It is noted what the source is.",
	},
	{
		On: "CopiesExist", From: in(guards.Copying), To: guards.CopyingStatus, If: guards.CopiesExist,
		Doc: "Every object of the source has its copy.",
	},
	{
		On: "StatusesCopied", From: in(guards.CopyingStatus), To: guards.Rewiring, If: guards.StatusesCopied,
		Doc: "Every copy has the status of its original.",
	},
	{
		On: "DependentsHeld", From: in(guards.Rewiring), To: guards.Equipping, If: guards.DependentsHeld,
		Doc: "Everything that belongs to an original belongs to its copy, too.",
	},
	{
		On: "WorkloadsEquipped", From: in(guards.Equipping), To: guards.Starting, If: guards.WorkloadsEquipped,
		Doc: "The components would speak to the target.",
	},
	{
		On: "WorkloadsAvailable", From: in(guards.Starting), To: guards.Comparing, If: guards.WorkloadsAvailable,
		Doc: "The components run.",
	},
	{
		On: "SidesEqual", From: in(guards.Comparing), To: guards.Unpausing, If: guards.SidesEqual,
		Doc: "The copies say what their originals say.",
	},
	{
		On: "TargetUnpaused", From: in(guards.Unpausing), To: guards.Observing, If: guards.TargetUnpaused,
		Doc: "The target is let go.",
	},
	{
		On: "HealthHeld", From: in(guards.Observing), To: guards.Committing, If: guards.TargetHealthy, For: watching,
		Doc: "For half a minute the target has done as well as the source did.",
	},
	{
		On: "CommitSeen", From: in(guards.Committing, guards.CommitBlocked), To: guards.RemovingSource, If: guards.IsCommitted,
		Doc: "The move is committed.",
	},
	{
		On: "SourceGone", From: in(guards.RemovingSource, guards.CleanupBlocked), To: guards.Unlocking, If: guards.Settled,
		Doc: "Nothing of the source is left, and the components are as the target needs them.",
	},
	{
		On: "LockGone", From: in(guards.Unlocking, guards.UnlockBlocked), To: guards.Classifying, If: machine.Not(guards.Locked),
		Doc: "The HostedCluster is free.",
	},

	// The way back.
	{
		On: "TargetPaused", From: in(guards.Repausing), To: guards.DrainingBack, If: guards.TargetPaused,
		Doc: "Every Cluster of the target is paused, if there is any.",
	},
	{
		On: "PodsGone", From: in(guards.DrainingBack), To: guards.CopyingBack, If: guards.PodsGone,
		Doc: "Nothing runs any more that reconciles Cluster API for the HostedCluster.",
	},
	{
		On: "SourceCaughtUp", From: in(guards.CopyingBack), To: guards.DroppingCopies, If: guards.SourceCaughtUp,
		Doc: "The source has all that the target did.",
	},
	{
		On: "CopiesGone", From: in(guards.DroppingCopies), To: guards.Restoring, If: guards.CopiesGone,
		Doc: "No copy is left.",
	},
	{
		On: "SourceRestored", From: in(guards.Restoring, guards.RestoreBlocked), To: guards.Unlocking, If: guards.Settled,
		Doc: "Components and Clusters are as they were before the move.",
	},
	{
		On: "RollbackResumed", From: in(guards.RollbackBlocked), To: guards.Repausing, If: guards.CauseIsGone,
		Doc: "What stood in the way is gone: the move is undone from the beginning of the way back.",
	},
}

// limits are the moves of the table that lead off the way.
var limits = []move{
	{
		On: "StageDiffers", From: everyWay, To: guards.Classifying, Urgent: true, If: machine.Not(guards.StageFits),
		Doc: "The stage is not one that allows this state, the lock was taken away, or it is no more the turn of a HostedCluster that is not locked yet.",
	},
	{
		On: guards.DeletionAsked, From: in(guards.Locking), To: guards.Unlocking, Urgent: true, If: machine.All(guards.StageFits, guards.Deleting),
		Doc: "Somebody deletes the HostedCluster, which has not begun to move.",
	},
	{
		On: guards.DeletionAsked, From: undoable, To: guards.Repausing, Urgent: true, If: machine.All(guards.StageFits, guards.Deleting),
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

func failing(from []machine.State, to machine.State, doc string) move {
	return move{On: guards.FailureEstablished, From: from, To: to, Failing: patience, Doc: doc}
}

func stalled(from []machine.State, limit time.Duration, to machine.State, doc string) move {
	return move{On: guards.ProgressStalled, From: from, To: to, Stalled: limit, Doc: doc}
}

func in(states ...machine.State) []machine.State { return states }
