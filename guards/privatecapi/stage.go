package privatecapi

import (
	"slices"

	"github.com/capstan-capi/capstan/machine"
)

// StageFits asks whether the stage allows what the present state does. Where a state goes on with the work of another one,
// that one's is asked for.
var StageFits = guard{
	Name: "StageFits",
	Doc:  "The stage of the migration, which is ours, is one that allows what this state does; up to the commit the source is fenced and paused, too. Without a Yes nothing is written.",
	Ask:  func(f Facts) machine.Answer { return Fits(f.Then.State, f) },
}

// StageIsKnownToDiffer asks whether the stage speaks against the present state by what was seen. What could not be seen speaks against
// nothing: no work does anything then, and who deletes a HostedCluster is not to wait for a limit.
var StageIsKnownToDiffer = guard{
	Name: "StageIsKnownToDiffer",
	Doc:  "By what could be looked at, the stage of the migration is not one of ours that allows what this state does, or the source was let go.",
	Ask: seen(func(f Facts) machine.Answer {
		switch fits := Fits(f.Then.State, f); {
		case fits.Truth == machine.No:
			return machine.SayYes(fits.Reason)
		case fits.Truth == machine.Unknown && f.Unseen == "":
			return fits
		}
		return machine.SayNo("")
	}),
}

// fitting are the stages that allow what a state does, whatever else is so.
var fitting = map[machine.State][]Stage{
	Locking: {Moving}, Pausing: {Moving}, Draining: {Moving}, Snapshotting: {Moving}, Copying: {Moving}, CopyingStatus: {Moving},
	Rewiring: {Moving}, Equipping: {Moving}, Starting: {Moving}, Comparing: {Moving},
	Unpausing: {Live}, Observing: {Live},
	Committing:     {Live, Committed},
	RemovingSource: {Committed},
	Repausing:      {Moving, Live, Undoing, Undone},
	DrainingBack:   {Undoing, Undone},
	CopyingBack:    {Undone}, DroppingCopies: {Undone},
}

// also are stages that allow what a state does if a guard says Yes.
var also = map[machine.State]struct {
	stages []Stage
	guard  guard
}{
	Unpausing:   {[]Stage{Moving}, SidesEqual},
	CopyingBack: {[]Stage{Undoing}, machine.All(TargetPaused, PodsGone)},
	Restoring:   {[]Stage{Undone}, CopiesGone},
	Unlocking:   {[]Stage{Moving, Live, Committed, Undoing, Undone}, Settled},
}

// fencedStates are those whose work counts on the source to stand still: it is fenced, and from Draining on paused.
var fencedStates = []machine.State{
	Pausing, Draining, Snapshotting, Copying, CopyingStatus, Rewiring, Equipping, Starting, Comparing, Unpausing, Observing, Committing,
}

// sourceStands asks whether the source stands still, as it has to from the end of a state on. A record that was restored may be
// ahead of that.
func sourceStands(state machine.State, f Facts) machine.Answer {
	fence := f.Fence.Label
	switch {
	case !slices.Contains(fencedStates, state) || f.Marks.Companion.Stage == Committed:
		return machine.SayYes("")
	case !f.Fence.Known:
		return machine.SayUnknown("it is not known yet whether a fence stands in namespace " + f.Cluster.ControlPlane)
	case f.Fence.NoNamespace:
		return machine.SayYes("")
	case f.Fence.Other:
		return machine.SayNo(f.otherText())
	case fence != BothSidesAreShut && (f.Marks.Companion.Stage != Live || fence != SourceFence(f.Direction())):
		return machine.SayNo("the fence is not up in namespace " + f.Cluster.ControlPlane)
	case state == Pausing:
		return machine.SayYes("")
	}
	return SourcePaused.Answer(f)
}

// Fits says whether the stage allows what a state does. A state at rest, and one that this table does not have, asks for no stage.
func Fits(state machine.State, f Facts) machine.Answer {
	only, conditional := fitting[state], also[state]
	switch {
	case !f.Seen:
		return machine.SayUnknown("the HostedCluster has not been looked at yet")
	case state == Checking:
		return TurnIsOurs.Answer(f)
	case state == Locking && !f.Marks.Locked():
		// A record that was restored may be ahead of the checks: what is at the target then is no copy of this move's.
		return machine.All(TurnIsOurs, Consistent).Answer(f)
	case state == Unlocking && !f.Marks.Locked():
		return machine.SayYes("")
	case only == nil && conditional.stages == nil:
		return machine.SayYes("")
	}
	if ours := LockIsOurs.Answer(f); ours.Truth != machine.Yes {
		return ours
	}
	stage := f.Marks.Companion.Stage
	switch {
	case slices.Contains(only, stage):
		return sourceStands(state, f)
	case slices.Contains(conditional.stages, stage):
		return machine.All(conditional.guard, guard{Ask: func(f Facts) machine.Answer { return sourceStands(state, f) }}).Answer(f)
	}
	return machine.SayNo("the stage of the migration is " + stage.text() + ", which is not that of " + string(state))
}

func (s Stage) text() string {
	if s == NoStage {
		return "none"
	}
	return string(s)
}
