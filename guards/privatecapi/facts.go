// Package privatecapi holds the facts that the machine privatecapi decides on, and the questions it
// asks of them. It says who reconciles a HostedCluster. Nothing here looks, waits or remembers.
package privatecapi

import (
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// Facts is what one look at a HostedCluster and at the namespace of its control plane has shown. Zero values mean "not seen".
type Facts struct {
	// Seen says that the HostedCluster was looked at.
	Seen bool `yaml:"seen"`
	// Unseen says what could not be looked at this time, and why; empty where all was. What it would have shown is not known.
	Unseen    string    `yaml:"unseen"`
	Cluster   Cluster   `yaml:"cluster"`
	Marks     Marks     `yaml:"marks"`
	Programme Programme `yaml:"programme"`
	Turn      Turn      `yaml:"turn"`
	Checks    Checks    `yaml:"checks"`
	Fence     Fenced    `yaml:"fence"`
	// Standard and Private are the objects of Cluster API on each side, in the namespace of the control plane.
	Standard  Side      `yaml:"standard"`
	Private   Side      `yaml:"private"`
	Pods      Pods      `yaml:"pods"`
	Workloads Workloads `yaml:"workloads"`
	// Snapshot is the count and the hash of the fenced source, in the journal.
	Snapshot Tally `yaml:"snapshot"`
	// Copies are the objects of the target, Statuses those of them with the status and the managedFields of the source, and
	// Dependents the objects of other groups that are owned by the target as well,
	// and those of the source that say which their copies are.
	Copies     Tally `yaml:"copies"`
	Statuses   Tally `yaml:"statuses"`
	Dependents Tally `yaml:"dependents"`
	// Comparison is of both sides in standard text, Health of the target against the source.
	Comparison Tally `yaml:"comparison"`
	Health     Tally `yaml:"health"`
	// Removed are the objects of the source that are gone after a commit.
	Removed Tally `yaml:"removed"`
	// Delta is what the target did since it ran and the source has by now, Dropped what is gone of the target, with owners back.
	Delta   Tally `yaml:"delta"`
	Dropped Tally `yaml:"dropped"`
	// Undo counts what has been taken off again of the marks that undoing needs: replicas, templates, prior pauses.
	Undo Tally `yaml:"undo"`
	// Outages are those of the API server that have ended while the instance was in its present state. Unreachable says that one has
	// ended in the two minutes before now.
	Outages     int  `yaml:"outages"`
	Unreachable bool `yaml:"unreachable"`
	// Then is what the record remembers of how the present state was entered.
	Then Then `yaml:"-"`
}

// Cluster names a HostedCluster.
type Cluster struct {
	Namespace string    `yaml:"namespace"`
	Name      string    `yaml:"name"`
	UID       string    `yaml:"uid"`
	Created   time.Time `yaml:"created"`
	Deleting  bool      `yaml:"deleting"`
	// Bound says that it has our Finalizer.
	Bound bool `yaml:"bound"`
	// ControlPlane is the namespace of its control plane.
	ControlPlane string `yaml:"controlPlane"`
	// SharedWith names another HostedCluster whose control plane has the same namespace, empty for none. Then nobody can tell whose
	// objects lie there, and nothing is written there.
	SharedWith string `yaml:"sharedWith"`
	// LockedBy names the field managers that have set the lock, empty where nobody says.
	LockedBy string `yaml:"lockedBy"`
}

func (c Cluster) String() string {
	if c.Namespace == "" {
		return "HostedCluster " + c.Name
	}
	return "HostedCluster " + c.Namespace + "/" + c.Name
}

// Programme is what holds for all HostedClusters. Known is false until its ConfigMap and the HostedClusters were read.
type Programme struct {
	Known bool `yaml:"known"`
	// Installation tells the locks of this operator from those of others.
	Installation string `yaml:"installation"`
	// Enabled is when its ConfigMap was created: what is older is of the old operator. Zero while there is none.
	Enabled time.Time `yaml:"enabled"`
	// Paused says that no move is to begin.
	Paused bool `yaml:"paused"`
	// LockedElsewhere names another HostedCluster that is locked, empty for none.
	LockedElsewhere string `yaml:"lockedElsewhere"`
	// OldOperatorNeeded says that the machine legacyoperator is Needed: the old operator is kept.
	OldOperatorNeeded bool `yaml:"oldOperatorNeeded"`
	// InUse is how many HostedClusters have private types. NoImage says that the operator is given no image with the proxy.
	InUse   int  `yaml:"inUse"`
	NoImage bool `yaml:"noImage"`
}

// Turn is which HostedCluster may be moved next. Known is false until all were looked at.
type Turn struct {
	Known bool `yaml:"known"`
	Ours  bool `yaml:"ours"`
	// Of names it, empty if there is none.
	Of string `yaml:"of"`
}

// Checks is what was asked before anything is locked. Known is false until all of it was.
type Checks struct {
	Known   bool     `yaml:"known"`
	Refused []string `yaml:"refused"`
}

// Fenced is what is denied in the namespace of the control plane.
type Fenced struct {
	// Known says that its label was read, or what watches show of that.
	Known bool  `yaml:"known"`
	Label Fence `yaml:"label"`
	// Other says that it names another move than the one that is under way, or none, and Behind that it names another stage of it:
	// copies of the present one are denied then.
	Other  bool `yaml:"other"`
	Behind bool `yaml:"behind"`
	// NoNamespace says that there is none: nobody can write there, and there is nothing to fence.
	NoNamespace bool `yaml:"noNamespace"`
	// Probed says that writes were tried as a component would; Open says which were let through, or denied by another than the fence.
	Probed bool     `yaml:"probed"`
	Open   []string `yaml:"open"`
}

// Side is the objects of one side in the namespace of the control plane, what is terminating included. Known is false until
// all kinds were listed.
type Side struct {
	Known   bool `yaml:"known"`
	Objects int  `yaml:"objects"`
	// Terminating are those of them that are being deleted, Strangers those of the target that are nobody's copy, as long as it has
	// never run: they are not of the move, which leaves them.
	Terminating int `yaml:"terminating"`
	Strangers   int `yaml:"strangers"`
	// Paused says that every Cluster of it is paused, Restored that none has a pause of ours. Of no Cluster both are so.
	Paused   bool `yaml:"paused"`
	Restored bool `yaml:"restored"`
}

// Pods are those of components that reconcile Cluster API.
type Pods struct {
	Known bool     `yaml:"known"`
	Left  []string `yaml:"left"`
}

// Workloads are the Deployments of components.
type Workloads struct {
	Known bool `yaml:"known"`
	// ScaledUp names those that have replicas.
	ScaledUp []string `yaml:"scaledUp"`
	// Equipped tells of those that have what the target asks of them: its sidecars, or none. Available tells of those that are.
	Equipped  Tally `yaml:"equipped"`
	Available Tally `yaml:"available"`
	// Standard and Private say that they are as the side alone needs them, with the replicas that they had before.
	Standard bool `yaml:"standard"`
	Private  bool `yaml:"private"`
}

// Tally is how far something has come that is counted. Known is false until it was counted.
type Tally struct {
	Known  bool `yaml:"known"`
	Done   int  `yaml:"done"`
	Wanted int  `yaml:"wanted"`
	// Missing says what is not done, or not as it should be; there may be more of it.
	Missing []string `yaml:"missing"`
}

// IsDone says that nothing is left to do.
func (t Tally) IsDone() bool { return t.Known && t.Done >= t.Wanted && len(t.Missing) == 0 }

// Then is how things stood when the present state was entered, and what the moves of the state that it resumes answer.
type Then struct {
	// State is the present state, or the one that it resumes; Present is the present one in both cases.
	State, Present machine.State
	From           machine.State
	Event          machine.Event
	Done           int
	Failing        bool
	Resumed        machine.Resumed
	// BackFrom and BackBy are the state that the way back began in, and the event that led there, whatever has happened on that way since.
	BackFrom machine.State
	BackBy   machine.Event
}

// Direction is where the move leads that is locked, or that would be made next.
func (f Facts) Direction() Direction {
	switch {
	case f.Marks.Companion.Direction != "":
		return f.Marks.Companion.Direction
	case f.Marks.Owner().By == New:
		return ToStandard
	}
	return ToPrivate
}

// Source is the side that the objects are moved from, Target the one that they are moved to.
func (f Facts) Source() Side {
	if f.Direction() == ToStandard {
		return f.Private
	}
	return f.Standard
}

// Target is the side that the objects are moved to.
func (f Facts) Target() Side {
	if f.Direction() == ToStandard {
		return f.Standard
	}
	return f.Private
}
