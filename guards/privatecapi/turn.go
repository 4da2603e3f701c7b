package privatecapi

import (
	"cmp"
	"slices"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// Waiting is a HostedCluster that would take its turn, see [Wants]: when it was refused last, zero for never, and when it was
// created.
type Waiting struct {
	Key              machine.Key
	Refused, Created time.Time
}

// GaveUpEarly says that a HostedCluster was given up before it had begun to move: its checks could not be made, or it could not be locked.
func GaveUpEarly(t Then) bool {
	early := t.Present == Classifying && t.From == Checking || t.Present == Unlocking && t.From == Locking
	return early && (t.Event == ProgressStalled || t.Event == FailureEstablished)
}

const (
	// leaseFor is after how long without a lock a Lease is free whose holder has not given it back.
	leaseFor = 5 * time.Minute
	// lockingFor is longer than whoever has just taken the Lease needs to lock, whatever its clock says.
	lockingFor = 15 * time.Second
)

// Lease is what is known of the Lease of the programme that is held for another HostedCluster: whether that is gone, or locked, when
// the Lease was renewed by the clock of who did, zero where nobody can read that, and for how long it has been seen as it is.
type Lease struct {
	HolderGone, HolderLocked bool
	Renewed                  time.Time
	Seen                     time.Duration
}

// IsFree says that whoever holds the Lease is gone, or has had it for a while without a lock. One that was renewed far ahead of now was
// renewed by no clock that anybody goes by. A clock that differs proves nothing: the Lease has to have stood for a while, too.
func (l Lease) IsFree(now time.Time) bool {
	return l.HolderGone || !l.HolderLocked && now.Sub(l.Renewed).Abs() >= leaseFor && l.Seen >= lockingFor
}

// Next is whose turn it is: of those that wait the one that was refused least recently, and of these the oldest; empty if none
// waits.
func Next(waiting []Waiting) machine.Key {
	if len(waiting) == 0 {
		return ""
	}
	return slices.MinFunc(waiting, func(a, b Waiting) int {
		return cmp.Or(a.Refused.Compare(b.Refused), a.Created.Compare(b.Created), cmp.Compare(a.Key, b.Key))
	}).Key
}

// TurnIsOurs asks whether this HostedCluster may be moved, and now.
var TurnIsOurs = guard{
	Name: "TurnIsOurs",
	Doc:  "It is reconciled by the old operator and has no failed move, or it is reconciled by the new one, somebody has asked for it to be moved back, and the old operator is still needed. The programme is enabled, no HostedCluster is locked, nothing is paused, it is not being deleted, and it comes first: least recently refused, then oldest.",
	Ask: seen(func(f Facts) machine.Answer {
		if wants := f.wantsToMove(); wants.Truth != machine.Yes {
			return wants
		}
		switch p := f.Programme; {
		case f.Cluster.Deleting:
			return machine.SayNo(f.Cluster.String() + " is being deleted")
		case f.Marks.Locked():
			return machine.SayNo(f.Cluster.String() + " is locked")
		case f.Marks.Paused:
			return machine.SayNo(f.Cluster.String() + " has annotation " + PausedAnnotation)
		case !p.Known:
			return machine.SayUnknown("ConfigMap " + ProgrammeName + " and the other HostedClusters have not been looked at yet")
		case p.Enabled.IsZero():
			return machine.SayNo("nobody has enabled the programme: there is no ConfigMap " + ProgrammeName)
		case p.Paused:
			return machine.SayNo("the programme is paused by ConfigMap " + ProgrammeName)
		case p.LockedElsewhere != "":
			return machine.SayNo("HostedCluster " + short(p.LockedElsewhere) + " is locked: one is moved at a time")
		case !f.Turn.Known:
			return machine.SayUnknown("it is not known yet which HostedCluster comes next")
		case !f.Turn.Ours:
			return machine.SayNo("HostedCluster " + short(f.Turn.Of) + " comes first")
		}
		return machine.SayYes(f.Cluster.String() + " is next")
	}),
}

// Wants says that a HostedCluster would take its turn as soon as it comes, by what is known of itself. See [Next].
func Wants(f Facts) bool {
	return f.Seen && !f.Cluster.Deleting && !f.Marks.Locked() && !f.Marks.Paused && f.wantsToMove().Truth == machine.Yes
}

func (f Facts) wantsToMove() machine.Answer {
	switch by := f.Marks.Owner().By; {
	case by == Legacy && f.Marks.Failed != "":
		return machine.SayNo(MarkedFailed.Answer(f).Reason)
	case by == Legacy:
		return machine.SayYes("")
	case by != New:
		return machine.SayNo(f.Cluster.String() + " is reconciled by " + by.text())
	case !f.Marks.Revert:
		return machine.SayNo(f.Cluster.String() + " has private types, and nobody asks for it to be moved back")
	case !f.Programme.Known:
		return machine.SayUnknown("it is not known yet whether the old operator is still there")
	case !f.Programme.OldOperatorNeeded:
		return machine.SayNo("the old operator is not kept any more, so " + f.Cluster.String() + " cannot be moved back")
	}
	return machine.SayYes("")
}
