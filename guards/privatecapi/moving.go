package privatecapi

import (
	"fmt"

	"github.com/capstan-capi/capstan/machine"
)

// tallied is a question whether something that is counted is done.
func tallied(name, doc, what string, of func(Facts) Tally) guard {
	return guard{Name: name, Doc: doc, Ask: seen(func(f Facts) machine.Answer {
		switch t := of(f); {
		case !t.Known && len(t.Missing) == 0:
			return machine.SayUnknown("it is not known yet whether " + what)
		case !t.Known:
			return machine.SayUnknown(list(t.Missing))
		case !t.IsDone() && len(t.Missing) > 0:
			return machine.SayNo(fmt.Sprintf("%d of %d: %s", t.Done, t.Wanted, list(t.Missing)))
		case !t.IsDone():
			return machine.SayNo(fmt.Sprintf("%d of %d, until %s", t.Done, t.Wanted, what))
		}
		return machine.SayYes(what)
	})}
}

// SourcePaused asks whether every Cluster of the source is paused.
var SourcePaused = guard{
	Name: "SourcePaused",
	Doc:  "Every Cluster of the source is paused.",
	Ask: seen(func(f Facts) machine.Answer {
		switch source := f.Source(); {
		case !source.Known:
			return machine.SayUnknown("namespace " + f.Cluster.ControlPlane + " has not been looked at yet")
		case !source.Paused:
			return machine.SayNo("a Cluster of the source is not paused yet")
		}
		return machine.SayYes("the source is paused")
	}),
}

// TargetPaused asks whether the target is stopped for good. That its Clusters are paused is not enough: as long as the stage says
// that they may run, a commit that is under way could still arrive.
var TargetPaused = guard{
	Name: "TargetPaused",
	Doc:  "The stage is undoing or undone, both fences stand and name this stage of the move, and every Cluster of the target is paused.",
	Ask: seen(func(f Facts) machine.Answer {
		switch stage := f.Marks.Companion.Stage; {
		case stage != Undoing && stage != Undone:
			return machine.SayNo("the stage of the migration is " + stage.text())
		case !f.Fence.Known || !f.Target().Known:
			return machine.SayUnknown("namespace " + f.Cluster.ControlPlane + " has not been looked at yet")
		case f.Fence.NoNamespace:
			return machine.SayYes("there is no namespace " + f.Cluster.ControlPlane)
		case f.Fence.Label != BothSidesAreShut:
			return machine.SayNo(fmt.Sprintf("namespace %s does not have label %s %s yet", f.Cluster.ControlPlane, FenceLabel, BothSidesAreShut))
		case f.Fence.Other, f.Fence.Behind:
			return machine.SayNo(f.behindText())
		case !f.Target().Paused:
			return machine.SayNo("a Cluster of the target is not paused yet")
		}
		return machine.SayYes("the target is paused")
	}),
}

// PodsGone asks whether nothing runs that reconciles Cluster API for the HostedCluster.
var PodsGone = guard{
	Name: "PodsGone",
	Doc:  "The components of Cluster API and whatever scales them have no replicas, and their pods are gone.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case !f.Workloads.Known || !f.Pods.Known:
			return machine.SayUnknown("the components in namespace " + f.Cluster.ControlPlane + " have not been looked at yet")
		case len(f.Workloads.ScaledUp) > 0:
			return machine.SayNo("still with replicas: " + list(f.Workloads.ScaledUp))
		case len(f.Pods.Left) > 0:
			return machine.SayNo("pods that still run: " + list(f.Pods.Left))
		}
		return machine.SayYes("no component of Cluster API runs")
	}),
}

// SidesReady asks whether the source can be copied as it is, and to where nothing is. It is asked under the fence: what the checks have
// seen may have changed before it stood.
var SidesReady = guard{
	Name: "SidesReady",
	Doc:  "Nothing of the source is terminating, and the target has no object.",
	Ask: seen(func(f Facts) machine.Answer {
		switch source, target := f.Source(), f.Target(); {
		case !source.Known || !target.Known:
			return machine.SayUnknown("namespace " + f.Cluster.ControlPlane + " has not been looked at yet")
		case source.Terminating > 0:
			return machine.SayNo(fmt.Sprintf("%d objects of the source are terminating", source.Terminating))
		case target.Objects > 0:
			return machine.SayNo(fmt.Sprintf("%d objects are at the target already", target.Objects))
		}
		return machine.SayYes("")
	}),
}

// SnapshotTaken asks whether the journal has what the source was.
var SnapshotTaken = tallied("SnapshotTaken", "The counts and the hash of the fenced source are in the journal, and the source is still like that.",
	"the snapshot is taken", func(f Facts) Tally { return f.Snapshot })

// CopiesExist asks whether every object of the source has its copy.
var CopiesExist = tallied("CopiesExist", "Every object of the source has its copy on the other side.",
	"every object has its copy", func(f Facts) Tally { return f.Copies })

// StatusesCopied asks whether every copy has the status of its original.
var StatusesCopied = tallied("StatusesCopied", "Every copy has the status and the managedFields of its original.",
	"every copy has its status", func(f Facts) Tally { return f.Statuses })

// DependentsHeld asks whether the garbage collector would take nothing away.
var DependentsHeld = tallied("DependentsHeld", "Everything of other groups that an object of the source owns has its copy as a second owner, and each object of the source says which its copy is.",
	"every dependent has its second owner", func(f Facts) Tally { return f.Dependents })

// WorkloadsEquipped asks whether the components would speak to the target.
var WorkloadsEquipped = tallied("WorkloadsEquipped", "The pod templates of the components have what the target needs of them: the proxy beside each for private types, and none for standard ones.",
	"every component is equipped", func(f Facts) Tally { return f.Workloads.Equipped })

// equipped is a question that nobody answers with Yes while a component would speak to the source.
func equipped(g guard) guard {
	ask := g.Ask
	g.Ask = func(f Facts) machine.Answer {
		if speaks := WorkloadsEquipped.Answer(f); speaks.Truth != machine.Yes {
			return speaks
		}
		return ask(f)
	}
	return g
}

// WorkloadsAvailable asks whether the components run again.
var WorkloadsAvailable = equipped(tallied("WorkloadsAvailable", "The components are equipped for the target, have the replicas that they had before and are available, all but the autoscaler.",
	"every component is available", func(f Facts) Tally { return f.Workloads.Available }))

// SidesEqual asks whether the copies say what their originals say.
var SidesEqual = equipped(tallied("SidesEqual", "The components are equipped for the target, and in standard text both sides are equal, also as a component reads the target.",
	"both sides are equal", func(f Facts) Tally { return f.Comparison }))

// TargetUnpaused asks whether the target is let go.
var TargetUnpaused = guard{
	Name: "TargetUnpaused",
	Doc:  "The stage is live, the fence is off the target and names this stage of the move, and its Clusters have the pause that the source had before.",
	Ask: seen(func(f Facts) machine.Answer {
		switch {
		case f.Marks.Companion.Stage != Live:
			return machine.SayNo("the stage of the migration is " + f.Marks.Companion.Stage.text())
		case !f.Fence.Known || !f.Target().Known:
			return machine.SayUnknown("namespace " + f.Cluster.ControlPlane + " has not been looked at yet")
		case f.Fence.NoNamespace:
			return machine.SayYes("there is no namespace " + f.Cluster.ControlPlane)
		case f.Fence.Label != SourceFence(f.Direction()):
			return machine.SayNo("the fence of namespace " + f.Cluster.ControlPlane + " is not off the target yet")
		case f.Fence.Other, f.Fence.Behind:
			return machine.SayNo(f.behindText())
		case !f.Target().Restored:
			return machine.SayNo("a Cluster of the target is still paused by the migration")
		}
		return machine.SayYes("the target runs")
	}),
}

// SourceFence is the fence that keeps the source alone.
func SourceFence(d Direction) Fence {
	if d == ToStandard {
		return PrivateIsShut
	}
	return StandardIsShut
}

// TargetHealthy asks whether the target does as well as the source did.
var TargetHealthy = equipped(tallied("TargetHealthy", "The components are equipped for the target and available, and no object of the target is worse off than it was at the source; the source is what was counted, nothing terminates there alone, and no copy is missing but one that the target deleted.",
	"the target is healthy", func(f Facts) Tally { return f.Health }))

// SourceCaughtUp asks whether the source has what the target did.
var SourceCaughtUp = guard{
	Name: "SourceCaughtUp",
	Doc:  "The stage is undone: what the target did since it ran is at the source as well, or it never ran.",
	Ask: seen(func(f Facts) machine.Answer {
		if stage := f.Marks.Companion.Stage; stage != Undone {
			if len(f.Delta.Missing) > 0 {
				return machine.SayNo(fmt.Sprintf("%d of %d: %s", f.Delta.Done, f.Delta.Wanted, list(f.Delta.Missing)))
			}
			return machine.SayNo("the stage of the migration is " + stage.text())
		}
		return machine.SayYes("the source has all that the target did")
	}),
}

// CopiesGone asks whether nothing is left of the target.
var CopiesGone = guard{
	Name: "CopiesGone",
	Doc:  "No copy is left at the target, and nothing has an owner there. What was never a copy does not count.",
	Ask: seen(func(f Facts) machine.Answer {
		target := f.Target()
		switch {
		case !target.Known:
			return machine.SayUnknown("the objects of Cluster API in namespace " + f.Cluster.ControlPlane + " have not been listed yet")
		case target.Objects > target.Strangers:
			return machine.SayNo(fmt.Sprintf("%d copies are left", target.Objects-target.Strangers))
		}
		return tallied("", "", "no copy is left", func(f Facts) Tally { return f.Dropped }).Answer(f)
	}),
}

// Settled asks whether the move has left nothing behind but its lock.
var Settled = guard{
	Name: "Settled",
	Doc:  "The objects are on one side, the one that the stage names, what was never a copy apart; the components are as that side needs them, and nothing has a mark of undoing.",
	Ask: seen(func(f Facts) machine.Answer {
		left, stays, fits := f.Target(), f.Direction().Other(), f.Workloads.Standard
		if f.Marks.Companion.Stage == Committed {
			left, stays = f.Source(), f.Direction()
		}
		if stays == ToPrivate {
			fits = f.Workloads.Private
		}
		switch {
		case !left.Known || !f.Workloads.Known:
			return machine.SayUnknown("namespace " + f.Cluster.ControlPlane + " has not been looked at yet")
		case left.Objects > left.Strangers:
			return machine.SayNo(fmt.Sprintf("%d %s objects of Cluster API are left in namespace %s", left.Objects-left.Strangers, stays.Other(), f.Cluster.ControlPlane))
		case !fits:
			return machine.SayNo(fmt.Sprintf("the components in namespace %s are not yet as %s types need them", f.Cluster.ControlPlane, stays))
		}
		return tallied("", "", "nothing is left of the move but its lock", func(f Facts) Tally { return f.Undo }).Answer(f)
	}),
}

// Other is the other direction.
func (d Direction) Other() Direction {
	if d == ToStandard {
		return ToPrivate
	}
	return ToStandard
}

// CauseIsGone asks whether what has led to RollbackBlocked is over.
var CauseIsGone = guard{
	Name: "CauseIsGone",
	Doc:  "What failed has succeeded when it was tried again; after a stall, what stood still moves, or is done.",
	Ask: seen(func(f Facts) machine.Answer {
		done, known := steps(f)
		switch {
		case f.Unseen != "":
			return machine.SayUnknown(f.Unseen)
		case f.Then.Failing:
			return machine.SayNo("")
		case f.Then.Event != ProgressStalled:
			return machine.SayYes("what failed has succeeded when it was tried again")
		case f.Then.Resumed.Done.Truth == machine.Yes:
			return machine.SayYes("what was waited for is there")
		case known && done > f.Then.Done:
			return machine.SayYes("what stood still moves again")
		case f.Then.State == Repausing: // what has to last is not asked of a state that is resumed
			return machine.All(TargetPaused, FenceHolds).Answer(f)
		}
		return f.Then.Resumed.Done
	}),
}
