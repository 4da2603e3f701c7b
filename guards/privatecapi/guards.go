package privatecapi

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/capstan-capi/capstan/machine"
)

type guard = machine.Guard[Facts]

// seen answers Unknown before the first look, and says why where a look was not whole.
func seen(ask func(Facts) machine.Answer) func(Facts) machine.Answer {
	return func(f Facts) machine.Answer {
		if !f.Seen {
			return machine.SayUnknown("the HostedCluster has not been looked at yet")
		}
		answer := ask(f)
		if answer.Truth == machine.Unknown && f.Unseen != "" {
			return machine.SayUnknown(f.Unseen)
		}
		return answer
	}
}

// Deleting asks whether somebody wants the HostedCluster gone.
var Deleting = guard{
	Name: "Deleting",
	Doc:  "The HostedCluster has been asked to go.",
	Ask: seen(func(f Facts) machine.Answer {
		if f.Cluster.Deleting {
			return machine.SayYes(f.Cluster.String() + " is being deleted")
		}
		return machine.SayNo("")
	}),
}

// Locked asks whether a move of the HostedCluster is under way, whoever's it is.
var Locked = guard{
	Name: "Locked",
	Doc:  "The HostedCluster has annotation migration-in-progress, or the one of Capstan that stands beside it.",
	Ask: seen(func(f Facts) machine.Answer {
		switch m := f.Marks; {
		case m.Migrating:
			return machine.SayYes(f.Cluster.String() + " has annotation " + MigrationAnnotation)
		case m.Companion.Present:
			return machine.SayYes(f.Cluster.String() + " has annotation " + CompanionAnnotation)
		}
		return machine.SayNo("")
	}),
}

// LockIsOurs asks whether the lock is of this installation. A lock whose first annotation was taken away is ours all the same,
// and gets it back.
var LockIsOurs = guard{
	Name: "LockIsOurs",
	Doc:  "Annotation capstan.openshift.io/migration names this installation of Capstan.",
	Ask: seen(func(f Facts) machine.Answer {
		switch c := f.Marks.Companion; {
		case !f.Marks.Locked():
			return machine.SayNo(f.Cluster.String() + " is not locked")
		case !c.Present:
			return machine.SayNo("annotation " + MigrationAnnotation + " was set by another than Capstan" + f.lockedBy() + ": it is theirs to take it off")
		case c.Problem != "":
			return machine.SayNo("annotation " + CompanionAnnotation + " cannot be read" + f.lockedBy() + ": " + short(c.Problem))
		case f.Programme.Installation == "":
			return machine.SayUnknown("it is not known yet which installation of Capstan this is")
		case !c.IsOf(f.Programme.Installation):
			return machine.SayNo(fmt.Sprintf("migration %s is of another installation of Capstan than %s%s", short(c.ID), short(f.Programme.Installation), f.lockedBy()))
		}
		return machine.SayYes("migration " + short(f.Marks.Companion.ID) + " is ours")
	}),
}

func (f Facts) lockedBy() string {
	if f.Cluster.LockedBy == "" {
		return ""
	}
	return " (set by field manager " + short(f.Cluster.LockedBy) + ")"
}

// LockIsWhole asks whether the operators see the lock, too.
var LockIsWhole = guard{
	Name: "LockIsWhole",
	Doc:  "Both annotations of the lock are there.",
	Ask: seen(func(f Facts) machine.Answer {
		switch m := f.Marks; {
		case !m.Migrating:
			return machine.SayNo("annotation " + MigrationAnnotation + " is not there yet")
		case !m.Companion.Present:
			return machine.SayNo("annotation " + CompanionAnnotation + " is not there yet")
		}
		return machine.SayYes("")
	}),
}

// IsCommitted asks whether there is no way back.
var IsCommitted = guard{
	Name: "Committed",
	Doc:  "The stage of the migration is committed, from which there is no way back.",
	Ask: seen(func(f Facts) machine.Answer {
		if stage := f.Marks.Companion.Stage; stage != Committed {
			return machine.SayNo("the stage of the migration is " + stage.text())
		}
		return machine.SayYes("the migration is committed")
	}),
}

// MarkedFailed asks whether a move was undone and nobody has asked for another one.
var MarkedFailed = guard{
	Name: "MarkedFailed",
	Doc:  "The HostedCluster has annotation migration-failed.",
	Ask: seen(func(f Facts) machine.Answer {
		if f.Marks.Failed == "" {
			return machine.SayNo("")
		}
		return machine.SayYes(f.failedText())
	}),
}

// RetryIsAsked asks whether nobody holds a failure against the HostedCluster any more.
var RetryIsAsked = guard{
	Name: "RetryIsAsked",
	Doc:  "The HostedCluster does not have annotation migration-failed, or not any more.",
	Ask: seen(func(f Facts) machine.Answer {
		if f.Marks.Failed == "" {
			return machine.SayYes("annotation " + FailedAnnotation + " is gone")
		}
		return machine.SayNo(f.failedText())
	}),
}

func (f Facts) failedText() string {
	return fmt.Sprintf("annotation %s says %s: take it off when another try is wanted", FailedAnnotation, short(string(f.Marks.Failed)))
}

// OwnedByLegacy asks whether the old operator reconciles.
var OwnedByLegacy = ownedBy("OwnedByLegacy", Legacy, "The old operator reconciles the HostedCluster: it has scope legacy or a failed move, and neither lock nor private types.")

// OwnedByNew asks whether the new operator reconciles.
var OwnedByNew = ownedBy("OwnedByNew", New, "The new operator reconciles the HostedCluster: it has private types, and neither lock nor scope legacy.")

func ownedBy(name string, who Reconciler, doc string) guard {
	return guard{Name: name, Doc: doc, Ask: seen(func(f Facts) machine.Answer {
		by := f.Marks.Owner().By
		if by != who {
			return machine.SayNo(f.Cluster.String() + " is not reconciled by " + who.text())
		}
		return machine.SayYes(f.Cluster.String() + " is reconciled by " + by.text())
	})}
}

func (r Reconciler) text() string {
	switch r {
	case Machine:
		return "nobody but its migration"
	case Legacy:
		return "the old operator"
	case New:
		return "the new operator"
	}
	return "nobody"
}

// Consistent asks whether marks, fence and objects say the same.
var Consistent = guard{
	Name: "Consistent",
	Doc:  "The HostedCluster is not of both operators and does not have the finalizer of moves, no fence stands in the namespace of its control plane, and no object of the other side is there than of the one that its marks name, or would.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case f.Marks.Legacy && f.Marks.Private:
			return machine.SayNo(fmt.Sprintf("%s has both %s %s and %s", f.Cluster, ScopeAnnotation, ScopeLegacy, PrivateTypesAnnotation))
		}
		switch left := TracesLeft.Answer(f); left.Truth {
		case machine.Yes:
			return machine.SayNo(left.Reason)
		case machine.Unknown:
			return left
		}
		due, known := f.due()
		if !known {
			return machine.SayUnknown(cmp.Or(f.Programme.Refusal(), "it is not known yet when the programme was enabled"))
		}
		other, name := f.Private, ToPrivate
		if due == ToPrivate {
			other, name = f.Standard, ToStandard
		}
		switch {
		case !other.Known:
			return machine.SayUnknown(fmt.Sprintf("the %s objects in namespace %s have not been listed yet", name, f.Cluster.ControlPlane))
		case other.Objects > 0:
			return machine.SayNo(fmt.Sprintf("namespace %s has %d %s objects of Cluster API, and %s is of the other side", f.Cluster.ControlPlane, other.Objects, name, f.Cluster))
		}
		return machine.SayYes("")
	}),
}

// TracesLeft asks whether a move that is over, or whose lock was taken away, still keeps others out.
var TracesLeft = guard{
	Name: "TracesLeft",
	Doc:  "The HostedCluster has the finalizer of moves, or a fence stands in the namespace of its control plane; without a lock neither is needed.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case f.Cluster.Bound:
			return machine.SayYes(fmt.Sprintf("%s has finalizer %s without a migration", f.Cluster, Finalizer))
		case !f.Fence.Known:
			return machine.SayUnknown("it is not known yet whether a fence stands in namespace " + f.Cluster.ControlPlane)
		case f.Fence.Label != NoFence:
			return machine.SayYes(fmt.Sprintf("namespace %s has label %s %s without a migration", f.Cluster.ControlPlane, FenceLabel, f.Fence.Label))
		}
		return machine.SayNo("")
	}),
}

// StandardFound asks whether the old operator's objects are there, whatever the marks say.
var StandardFound = guard{
	Name: "StandardFound",
	Doc:  "Standard objects of Cluster API lie in the namespace of the control plane, as after an old backup was put back.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case !f.Standard.Known:
			return machine.SayUnknown("the standard objects in namespace " + f.Cluster.ControlPlane + " have not been counted yet")
		case f.Standard.Objects > 0:
			return machine.SayYes(fmt.Sprintf("namespace %s has %d standard objects of Cluster API", f.Cluster.ControlPlane, f.Standard.Objects))
		}
		return machine.SayNo("")
	}),
}

// due is the side that the HostedCluster is on by its marks, or by its age where it has none: what is older than the programme
// is of the old operator, and so is what was put back from a backup, whose age nobody knows. It is not known where the programme is gone while others have private types: that does not switch them off.
func (f Facts) due() (Direction, bool) {
	switch {
	case f.Marks.Private:
		return ToPrivate, true
	case f.Marks.Legacy, f.Marks.Failed != "":
		return ToStandard, true
	case !f.Programme.Known, f.Programme.Enabled.IsZero() && f.Programme.InUse > 0:
		return "", false
	case f.Marks.Restored, f.Programme.Enabled.IsZero(), !f.Cluster.Created.After(f.Programme.Enabled):
		return ToStandard, true
	}
	return ToPrivate, true
}

// MarkFor is the mark that a HostedCluster without one gets: of the old operator, ToStandard, where it was created up to the
// enablement of the programme or was put back from a backup, and of the new one otherwise. known is false while that cannot be told, or where it has one.
func MarkFor(f Facts) (due Direction, known bool) {
	if !f.Seen || f.Marks.Locked() || f.Marks.Legacy || f.Marks.Private || f.Marks.Failed != "" || Consistent.Answer(f).Truth != machine.Yes {
		return "", false
	}
	return f.due()
}

// SideFor is the side that a HostedCluster is of that contradicts itself, by its objects: that of whichever side alone has any. Where
// neither has, there is nothing to move, and the new operator gets it, unless nobody has enabled the programme. known is false while
// that cannot be told, or where both sides have objects.
func SideFor(f Facts) (side Direction, known bool) {
	if f.Marks.Locked() || !f.Standard.Known || !f.Private.Known {
		return "", false
	}
	switch standard, private := f.Standard.Objects > 0, f.Private.Objects > 0; {
	case standard && private:
		return "", false
	case standard:
		return ToStandard, true
	case private, f.Marks.Private:
		return ToPrivate, true
	case !f.Programme.Known, f.Programme.Enabled.IsZero() && f.Programme.InUse > 0:
		return "", false
	case f.Programme.Enabled.IsZero():
		return ToStandard, true
	}
	return ToPrivate, true
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

// ChecksPassed asks whether nothing speaks against the move.
var ChecksPassed = guard{
	Name: "ChecksPassed",
	Doc:  "CRDs, versions, shim, rights and images are there, nothing is terminating, no copy is left, and no webhook of Cluster API is served by what is drained.",
	Ask: seen(func(f Facts) machine.Answer {
		switch c := f.Checks; {
		case len(c.Refused) > 0:
			return machine.SayNo(list(c.Refused))
		case !c.Known:
			return machine.SayUnknown(f.Cluster.String() + " has not been checked yet")
		}
		return machine.SayYes("nothing speaks against moving " + f.Cluster.String())
	}),
}

// FenceHolds asks whether both sides are kept as they are, whoever writes.
var FenceHolds = guard{
	Name: "FenceHolds",
	Doc:  "The namespace of the control plane has both fences, which name this move, and a write that a component would make is denied on each side, by the name of the fence, or on the way back by whomever. Where there is no namespace, nothing has to be fenced.",
	Ask: seen(func(f Facts) machine.Answer {
		switch fence := f.Fence; {
		case !fence.Known:
			return machine.SayUnknown("it is not known yet whether a fence stands in namespace " + f.Cluster.ControlPlane)
		case fence.NoNamespace:
			return machine.SayYes("there is no namespace " + f.Cluster.ControlPlane)
		case fence.Label != BothSidesAreShut:
			return machine.SayNo(fmt.Sprintf("namespace %s does not have label %s %s yet", f.Cluster.ControlPlane, FenceLabel, BothSidesAreShut))
		case fence.Other:
			return machine.SayNo(f.otherText())
		case len(fence.Open) > 0:
			return machine.SayNo("the fence does not hold: " + list(fence.Open))
		case !fence.Probed:
			return machine.SayUnknown("it has not been tried yet whether the fence holds")
		}
		return machine.SayYes("writes to both sides are denied in namespace " + f.Cluster.ControlPlane)
	}),
}

func (f Facts) behindText() string {
	return fmt.Sprintf("label %s of namespace %s does not name the present stage of this move yet", MoveLabel, f.Cluster.ControlPlane)
}

func (f Facts) otherText() string {
	return fmt.Sprintf("label %s of namespace %s does not name this move", MoveLabel, f.Cluster.ControlPlane)
}

func (s Stage) text() string {
	if s == NoStage {
		return "none"
	}
	return string(s)
}

func short(text string) string { return machine.Shorten(text, maxQuoted) }

// maxListed bounds what a reason lists, in bytes.
const maxListed = 512

func list(some []string) string { return machine.Shorten(strings.Join(some, "; "), maxListed) }
