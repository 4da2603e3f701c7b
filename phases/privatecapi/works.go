package privatecapi

import (
	"context"
	"fmt"
	"slices"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// Works is what the machine's work is done with, in one pass. Each work is safe to repeat, and each of its writes has a
// precondition. An API server that does not answer is no error of a work: it ends as one does that has to look again, so that an
// outage gives no move up.
type Works interface {
	// Facts are what the pass has seen.
	Facts() guards.Facts
	// Unseen is why the look at the namespace of the control plane was not whole, nil where it was. Then no work does anything.
	Unseen() error
	// LockedFor is for how long a move of ours has locked the HostedCluster, zero where none has.
	LockedFor() time.Duration

	// Classify marks a HostedCluster that has no mark, see [guards.MarkFor].
	Classify(context.Context) (machine.Result, error)
	InspectSides(context.Context) (machine.Result, error)
	CountStandard(context.Context) (machine.Result, error)

	// RunChecks fails only where something could not be asked, and never for good: what it refuses is a fact.
	RunChecks(context.Context) (machine.Result, error)
	TakeLock(context.Context) (machine.Result, error)
	PauseSource(context.Context) (machine.Result, error)
	ScaleDown(context.Context) (machine.Result, error)
	ScaleDownAgain(context.Context) (machine.Result, error)
	TakeSnapshot(context.Context) (machine.Result, error)
	CreateCopies(context.Context) (machine.Result, error)
	CopyStatuses(context.Context) (machine.Result, error)
	AddSecondOwners(context.Context) (machine.Result, error)
	SetSidecars(context.Context) (machine.Result, error)
	ScaleUp(context.Context) (machine.Result, error)
	CompareSides(context.Context) (machine.Result, error)
	UnpauseTarget(context.Context) (machine.Result, error)
	ObserveHealth(context.Context) (machine.Result, error)
	WriteCommit(context.Context) (machine.Result, error)
	RemoveSource(context.Context) (machine.Result, error)
	ReleaseLock(context.Context) (machine.Result, error)

	// RepauseTarget gets the reason from [guards.ReasonFor], for a stage that has none yet.
	RepauseTarget(context.Context) (machine.Result, error)
	CopyDelta(context.Context) (machine.Result, error)
	RemoveCopies(context.Context) (machine.Result, error)
	RestoreWorkloads(context.Context) (machine.Result, error)
}

// Snapshot is a HostedCluster after a pass.
type Snapshot = machine.Snapshot[guards.Facts, Works]

// again is after how long a work is tried whose stage nobody can tell.
const again = time.Second

// work is an action of some states. Where the pass has not seen all, it does nothing, and neither where nobody can tell that the stage
// fits one of them. One that writes to the namespace of a control plane fails where that is not of this HostedCluster alone.
func work(name, doc string, run func(Works, context.Context) (machine.Result, error), writes []string, of ...machine.State) machine.Action[Works] {
	inside := slices.ContainsFunc(writes, func(what string) bool { return !slices.Contains(writesCluster, what) })
	return machine.Action[Works]{
		Name: name, Writes: writes, Doc: doc,
		Run: func(ctx context.Context, w Works) (machine.Result, error) {
			if unseen := w.Unseen(); unseen != nil {
				return unsure(unseen)
			}
			if facts := w.Facts(); !slices.ContainsFunc(of, func(s machine.State) bool { return guards.Fits(s, facts).Truth == machine.Yes }) {
				return machine.Result{LookAgain: again}, nil
			}
			if c := w.Facts().Cluster; inside && c.SharedWith != "" {
				return machine.Result{}, fmt.Errorf("namespace %s is that of the control plane of %s too: nothing is written there", c.ControlPlane, c.SharedWith)
			}
			return run(w, ctx)
		},
	}
}

// moving is the action of some states of a move that is locked: whatever it writes, it may have to lock the HostedCluster again first.
func moving(name, doc string, run func(Works, context.Context) (machine.Result, error), writes []string, of ...machine.State) machine.Action[Works] {
	if !slices.Contains(writes, writesCluster[0]) {
		writes = slices.Concat(writes, writesCluster)
	}
	return work(name, doc, run, writes, of...)
}

// unsure is what comes of a work whose pass could not see all. It fails with that, unless the API server has no answer at the moment.
func unsure(unseen error) (machine.Result, error) {
	if isAway(unseen) {
		return machine.Result{Did: machine.Shorten(unseen.Error(), maxUnseen), LookAgain: again}, nil
	}
	return machine.Result{}, unseen
}

// What the works write, by kind.
var (
	writesCluster    = []string{"HostedCluster"}
	writesFence      = []string{"Namespace"}
	writesLock       = []string{"Lease", "HostedCluster", "Namespace"}
	writesObjects    = []string{"objects of Cluster API"}
	writesStatus     = []string{"status of objects of Cluster API"}
	writesWorkloads  = []string{"Deployment"}
	writesJournal    = []string{"ConfigMap"}
	writesDependents = []string{"ownerReferences of dependents"}
)

// The works of states at rest.
var (
	Classify = work("Classify", "sets the mark of the old operator on a HostedCluster without any that was created up to the enablement of the programme or put back from a backup, and the mark of the new one on a later one.",
		Works.Classify, writesCluster, guards.Classifying)
	InspectSides = work("InspectSides", "looks at both sides. Only private objects, or none where the programme is enabled: leaves the mark of private types alone. Only standard ones: leaves scope legacy alone. Objects on both sides: sets migration-failed. Of one side alone, puts back the components and the marks that a move has left on them and on objects, and takes off the fence, and then the finalizer. Deletes nothing.",
		Works.InspectSides, slices.Concat([]string{"HostedCluster", "Namespace"}, writesWorkloads, writesObjects), guards.Ambiguous)
)

// CountStandard is the work of a HostedCluster at rest with private types, which no error of a look keeps from it.
var CountStandard = machine.Action[Works]{
	Name: "CountStandard", Run: func(ctx context.Context, w Works) (machine.Result, error) { return w.CountStandard(ctx) },
	Doc: "has the standard objects in the namespace of the control plane counted every ten minutes, and tells in an Event of components whose proxy is not as this release makes it.",
}

// The works on the way.
var (
	RunChecks = work("RunChecks", "asks for the CRDs, a version that both sides serve, the shim, the rights of the machine and of the components, images with the proxy, and that nothing is terminating or has the marks of a move, no copy is left, the namespace is no other HostedCluster's, no component is in the network of its host, no newer release has moved one, what belongs to the objects can be listed, and no webhook of Cluster API is served by what is drained. Writes nothing but an Event of a refusal.",
		Works.RunChecks, nil, guards.Checking)
	TakeLock = moving("TakeLock", "takes the Lease of the programme, unless it is held for another HostedCluster that is there, and is locked, has held it for less than five minutes, or is seen to have taken it less than fifteen seconds ago; then locks the HostedCluster in one write, with what says whose the lock is, and a finalizer; then begins the journal; then has both fences put on the namespace of its control plane, in the name of this move and its stage.",
		Works.TakeLock, slices.Concat(writesLock, writesJournal), guards.Locking)
	PauseSource = moving("PauseSource", "notes on each Cluster of the source how it was paused, and pauses it.",
		Works.PauseSource, writesObjects, guards.Pausing)
	ScaleDown = moving("ScaleDown", "notes in the journal the replicas of components that run still and were scaled since it began, then on each component those that it has, and sets them to 0, whatever scales the others first.",
		Works.ScaleDown, slices.Concat(writesWorkloads, writesJournal), guards.Draining)
	TakeSnapshot = moving("TakeSnapshot", "counts and hashes the fenced source, hashes the pod templates of the components, and keeps that in the journal.",
		Works.TakeSnapshot, writesJournal, guards.Snapshotting)
	CreateCopies = moving("CreateCopies", "creates a copy of each object of the source on the other side, owners first, with the UIDs of the copies in the owner references, paused, with where it comes from, and with the move and the stage that have made it, which the fence asks for. What lies in no namespace is copied once, and stays on both sides. Refuses a source that is not what was counted, and a target with an object that is nobody's copy, or without a kind of the source.",
		Works.CreateCopies, writesObjects, guards.Copying)
	CopyStatuses = moving("CopyStatuses", "gives each copy the status of its original, and last its managedFields.",
		Works.CopyStatuses, slices.Concat(writesObjects, writesStatus), guards.CopyingStatus)
	AddSecondOwners = moving("AddSecondOwners", "adds the copy as a second owner to whatever of other groups its original owns, such as Secrets, and moves the controller flag; notes on each original which its copy is, and before all that in the journal of which kinds something belongs to the originals.",
		Works.AddSecondOwners, slices.Concat(writesDependents, writesObjects, writesJournal), guards.Rewiring)
	SetSidecars = moving("SetSidecars", "notes the pod templates of the components, and gives them the proxy for private types, or takes it away; the autoscaler stays at 0.",
		Works.SetSidecars, writesWorkloads, guards.Equipping)
	ScaleUp = moving("ScaleUp", "says beside the lock that the components are started, and then gives them the replicas that they had before, all but the autoscaler.",
		Works.ScaleUp, writesWorkloads, guards.Starting)
	CompareSides = moving("CompareSides", "compares both sides in standard text, also as a component's account reads the target through a proxy.",
		Works.CompareSides, nil, guards.Comparing)
	UnpauseTarget = moving("UnpauseTarget", "writes the stage live, then takes the fence off the target, and gives its Clusters the pause that the source had before.",
		Works.UnpauseTarget, slices.Concat([]string{"HostedCluster", "Namespace"}, writesObjects), guards.Unpausing)
	ObserveHealth = moving("ObserveHealth", "compares the health of the target with what it was at the source.",
		Works.ObserveHealth, nil, guards.Observing)
	WriteCommit = moving("WriteCommit", "equips the components that are not, and then sets the mark of the target, unless the source has changed since it was counted or was not copied, takes off that of the source and migration-failed, and writes the stage committed, in one write: from there is no way back. Refuses while something of the source is terminating whose copy is not, or whose Cluster has no copy.",
		Works.WriteCommit, slices.Concat(writesWorkloads, writesCluster), guards.Committing)
	RemoveSource = moving("RemoveSource", "puts the fence back that somebody has taken away; equips the components that are not; then takes the objects of the source out of all owner references, takes off their finalizers, and deletes them by UID, leaving what they own; then takes off the marks of undoing, and gives the autoscaler its replicas. Refuses a source that was never copied, or whose Cluster has no copy. Deletes: objects of the source.",
		Works.RemoveSource, slices.Concat(writesFence, writesObjects, writesDependents, writesWorkloads), guards.RemovingSource)
	ReleaseLock = moving("ReleaseLock", "takes off the fence, then in one write the lock, what stands beside it, the finalizer and the request, and sets migration-failed after a failed move or a revert; then gives the Lease back.",
		Works.ReleaseLock, writesLock, guards.Unlocking)
)

// The works on the way back.
var (
	RepauseTarget = moving("RepauseTarget", "first writes the stage undoing in place of live, or of an undone while the fence still says live, and undone in place of moving, with the reason, which is that of the state that the way back began in, or that the API server was away in the two minutes before, after which a commit that is under way fails; then has both fences put up and the target paused.",
		Works.RepauseTarget, slices.Concat([]string{"HostedCluster", "Namespace"}, writesObjects), guards.Repausing)
	ScaleDownAgain = moving("ScaleDownAgain", "puts the fence back that somebody has taken away; notes on each component the replicas that it has, and sets them to 0, whatever scales the others first.",
		Works.ScaleDownAgain, slices.Concat(writesFence, writesWorkloads), guards.DrainingBack)
	CopyDelta = moving("CopyDelta", "while the stage is undoing, brings to the source what was born, gone or changed at the target since it ran, the owners of dependents too, deletes there what is terminating at the target, finalizers on, and then writes the stage undone. Refuses a source that was never copied, or whose Cluster has no copy. Deletes: objects of the source that the target deleted.",
		Works.CopyDelta, slices.Concat(writesObjects, writesStatus, writesDependents, writesCluster), guards.CopyingBack)
	RemoveCopies = moving("RemoveCopies", "puts the fence back that somebody has taken away; takes the copies out of all owner references, brings to the source what was written to one late, takes off their finalizers, and deletes them by UID and version, leaving what they own, and what was never a copy. Refuses an object without a counterpart at the source, where the target ran. Deletes: objects of the target.",
		Works.RemoveCopies, slices.Concat(writesFence, writesObjects, writesStatus, writesDependents), guards.DroppingCopies)
	RestoreWorkloads = moving("RestoreWorkloads", "puts the fence back that somebody has taken away; gives the components the pod templates and replicas that they had before, but no template that the journal does not know and none that somebody has changed since, with the proxy or without as the source needs it, and the Clusters of the source their pause, and takes off the marks of undoing. Writes nothing while one component would get the proxy without an image.",
		Works.RestoreWorkloads, slices.Concat(writesFence, writesWorkloads, writesObjects), guards.Restoring)
)
