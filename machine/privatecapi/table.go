// Package privatecapi is the machine of a HostedCluster, whose Cluster API objects move to a group of
// their own: its states, its moves and what it tells people. Everything that may happen is in this one
// table; the looking and doing are in phases/privatecapi, the questions in guards/privatecapi.
package privatecapi

import (
	"slices"
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
	Doc:      "Moves the Cluster API objects of a HostedCluster from the standard groups to private ones, or back where somebody asks for it, one HostedCluster at a time. The hosted API and its workloads keep running; no Machine and nothing in a cloud is created, deleted or replaced. While a HostedCluster moves, its data plane is not scaled and not repaired. How far a move has come is its stage, in annotation capstan.openshift.io/migration: it is written before what it allows, and no work is done that it does not allow. From stage committed there is no way back; what goes wrong before is undone.",
	Start:    guards.Classifying,
	Progress: guards.Progress,
	Recall:   guards.Recall,

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
			Name: guards.Private, Rest: true,
			Doc: "The HostedCluster has private types, and the new operator reconciles it.",
		},
		{
			Name: guards.Failed, Rest: true, Alarm: true, Alert: hasFailed,
			Doc: "A move was undone, and everything is as it was before; annotation migration-failed says why. Taking that off asks for another try. After a move back that somebody asked for, it says reverted.",
		},
		{
			Name: guards.Held, Rest: true, Alarm: true, Alert: isHeld,
			Doc: "Another than this installation of Capstan has locked the HostedCluster; nothing of it is written until the lock is gone.",
		},
		{
			Name: guards.Ambiguous, Rest: true, Alarm: true, Work: phases.InspectSides, Trouble: marking, Alert: isAmbiguous,
			Doc: "Marks, fence and objects contradict each other without a lock. What one side alone explains is put right; where both sides have objects, nothing is deleted and somebody has to look.",
		},

		{
			Name: guards.Checking, Work: phases.RunChecks,
			Doc: "It is being checked whether anything speaks against moving the HostedCluster. Nothing is locked yet; what speaks against it is told, and the next one has its turn.",
		},
		{
			Name: guards.Locking, Work: phases.TakeLock,
			Doc: "The HostedCluster is being locked for its operators, and both sides for everybody who would write Cluster API objects.",
		},
		{
			Name: guards.Pausing, Work: phases.PauseSource,
			Doc: "The Clusters of the source are being paused.",
		},
		{
			Name: guards.Draining, Work: phases.ScaleDown,
			Doc: "The components of Cluster API are being stopped, whatever scales them first. From here on the data plane is not scaled.",
		},
		{
			Name: guards.Snapshotting, Work: phases.TakeSnapshot,
			Doc: "The source stands still, and what is in it is being counted and hashed.",
		},
		{
			Name: guards.Copying, Work: phases.CreateCopies,
			Doc: "Every object of the source is being copied to the other side, owners first.",
		},
		{
			Name: guards.CopyingStatus, Work: phases.CopyStatuses,
			Doc: "The copies are being given the status of their originals.",
		},
		{
			Name: guards.Rewiring, Work: phases.AddSecondOwners,
			Doc: "What belongs to the originals, such as Secrets, is being given the copies as second owners, so that nothing of it is collected with the originals.",
		},
		{
			Name: guards.Equipping, Work: phases.SetSidecars,
			Doc: "The components are being given what they need for the other side: the proxy beside each, or none.",
		},
		{
			Name: guards.Starting, Work: phases.ScaleUp,
			Doc: "The components are being started on the copies, which are still paused; the autoscaler is not.",
		},
		{
			Name: guards.Comparing, Work: phases.CompareSides,
			Doc: "Both sides are being compared, also through the eyes of a component.",
		},
		{
			Name: guards.Unpausing, Work: phases.UnpauseTarget,
			Doc: "The target is being let go: from here on its components act, and what they do is brought back if the move is undone.",
		},
		{
			Name: guards.Observing, Work: phases.ObserveHealth,
			Doc: "It is being watched whether the target does as well as the source did.",
		},
		{
			Name: guards.Committing, Work: phases.WriteCommit,
			Doc: "The move is being committed. The answer to that may be lost, so that there is only one way from here: forward.",
		},
		{
			Name: guards.RemovingSource, Work: phases.RemoveSource,
			Doc: "The move is committed. The objects of the source are being deleted, without anything that belongs to them, and the autoscaler is started.",
		},
		{
			Name: guards.Unlocking, Work: phases.ReleaseLock,
			Doc: "The move is over, or was undone; fence and lock are being taken off.",
		},

		{
			Name: guards.Repausing, Work: phases.RepauseTarget,
			Doc: "The move is being undone. A commit that is under way is made to fail, and the target is being paused.",
		},
		{
			Name: guards.DrainingBack, Work: phases.ScaleDownAgain,
			Doc: "The components are being stopped on the way back.",
		},
		{
			Name: guards.CopyingBack, Work: phases.CopyDelta,
			Doc: "What the target did since it was let go is being brought back to the source. What it was deleting is deleted there.",
		},
		{
			Name: guards.DroppingCopies, Work: phases.RemoveCopies,
			Doc: "The copies are being deleted, without anything that belongs to them.",
		},
		{
			Name: guards.Restoring, Work: phases.RestoreWorkloads,
			Doc: "Components and Clusters are being put back as they were before the move.",
		},

		{
			Name: guards.CommitBlocked, Rest: true, Alarm: true, Work: machine.Resume[phases.Works](), Alert: commitIsBlocked,
			Doc: "The move cannot be committed, and it may have been; it is tried again by itself.",
		},
		{
			Name: guards.CleanupBlocked, Rest: true, Alarm: true, Work: machine.Resume[phases.Works](), Alert: cleanupIsBlocked,
			Doc: "The move is committed, and the objects of the source cannot be removed; it is tried again by itself.",
		},
		{
			Name: guards.UnlockBlocked, Rest: true, Alarm: true, Work: machine.Resume[phases.Works](), Alert: unlockIsBlocked,
			Doc: "The move is over, and fence or lock cannot be taken off; it is tried again by itself.",
		},
		{
			Name: guards.RestoreBlocked, Rest: true, Alarm: true, Work: machine.Resume[phases.Works](), Alert: restoreIsBlocked,
			Doc: "The move was undone, and components or Clusters cannot be put back as they were; it is tried again by itself.",
		},
		{
			Name: guards.RollbackBlocked, Rest: true, Alarm: true, Work: machine.Resume[phases.Works](), Alert: rollbackIsBlocked,
			Doc: "The move cannot be undone; it is tried again by itself, and begun anew once what stood in the way is gone.",
		},
	},

	Moves: slices.Concat(moves, limits),
}
