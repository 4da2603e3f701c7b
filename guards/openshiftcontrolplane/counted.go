package openshiftcontrolplane

import (
	"fmt"

	"github.com/capstan-capi/capstan/machine"
)

// MachinesAreReady asks whether all control-plane Machines say that they are. It moves nothing, and is told.
var MachinesAreReady = counts("MachinesAreReady", "Every control-plane Machine has condition Ready True.", func(f Facts) machine.Answer {
	return allOf(f.Counts.Ready, f.Counts.Replicas, "are ready")
})

// MachinesAreUpToDate asks whether all control-plane Machines are as the spec wants them. It moves nothing, and is told.
var MachinesAreUpToDate = counts("MachinesAreUpToDate", "Every control-plane Machine has condition UpToDate True.", func(f Facts) machine.Answer {
	return allOf(f.Counts.UpToDate, f.Counts.Replicas, "are up to date")
})

// IsScalingUp asks whether there are fewer control-plane Machines than asked for. It moves nothing, and is told.
var IsScalingUp = counts("IsScalingUp", "There are fewer control-plane Machines than asked for.", func(f Facts) machine.Answer {
	return scales(f.Counts.Replicas < f.wanted(), f)
})

// IsScalingDown asks whether there are more control-plane Machines than asked for. It moves nothing, and is told.
var IsScalingDown = counts("IsScalingDown", "There are more control-plane Machines than asked for; none is while the object is being deleted.", func(f Facts) machine.Answer {
	return scales(f.Counts.Replicas > f.wanted(), f)
})

func counts(name, doc string, ask func(Facts) machine.Answer) guard {
	return guard{Name: name, Doc: doc, Ask: seen(func(f Facts) machine.Answer {
		if !f.Counts.Known {
			return machine.SayUnknown("the Machines have not been counted yet")
		}
		return ask(f)
	})}
}

// allOf answers for all of a number of Machines. Of none nothing can be said.
func allOf(those, all int, are string) machine.Answer {
	if all == 0 {
		return machine.SayUnknown("there are no control-plane Machines")
	}
	return machine.Say(those >= all, fmt.Sprintf("%d of %d control-plane Machines %s", those, all, are))
}

func scales(does bool, f Facts) machine.Answer {
	if !does {
		return machine.SayNo("")
	}
	return machine.SayYes(fmt.Sprintf("there are %d control-plane Machines, and %d are wanted", f.Counts.Replicas, f.wanted()))
}

// wanted is how many control-plane Machines there should be.
func (f Facts) wanted() int {
	if f.Object.Deleting {
		return 0
	}
	return f.Object.Replicas
}
