package privatecapi

import (
	"slices"

	"github.com/capstan-capi/capstan/machine"
)

// StageFits asks whether the stage allows what the present state does. Where a state goes on with the work of another one,
// that one's is asked for.
var StageFits = guard{
	Name: "StageFits",
	Doc:  "The stage of the migration, which is ours, is one that allows what this state does. Without a Yes nothing is written.",
	Ask:  func(f Facts) machine.Answer { return Fits(f.Then.State, f) },
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
	if_    guard
}{
	Unpausing:   {[]Stage{Moving}, SidesEqual},
	CopyingBack: {[]Stage{Undoing}, machine.All(TargetPaused, PodsGone)},
	Restoring:   {[]Stage{Undone}, CopiesGone},
	Unlocking:   {[]Stage{Moving, Live, Committed, Undoing, Undone}, Settled},
}

// Fits says whether the stage allows what a state does. A state at rest, and one that this table does not have, asks for no stage.
func Fits(state machine.State, f Facts) machine.Answer {
	only, conditional := fitting[state], also[state]
	switch {
	case !f.Seen:
		return machine.SayUnknown("the HostedCluster has not been looked at yet")
	case state == Checking, state == Locking && !f.Marks.Locked():
		return TurnIsOurs.Answer(f)
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
		return machine.SayYes("")
	case slices.Contains(conditional.stages, stage):
		return conditional.if_.Answer(f)
	}
	return machine.SayNo("the stage of the migration is " + stage.text() + ", which is not that of " + string(state))
}
