package privatecapi

import (
	"fmt"

	"github.com/capstan-capi/capstan/machine"
)

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
