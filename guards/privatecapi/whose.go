package privatecapi

import (
	"cmp"
	"fmt"

	"github.com/capstan-capi/capstan/machine"
)

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
