package privatecapi

import (
	"slices"

	"github.com/capstan-capi/capstan/machine"
)

// maxOutages is how many outages of the API server put off the limit of one state.
const maxOutages = 10

// ahead is more than any state counts, so that what a state counts is more than what the states before it did.
const ahead = 1 << 20

// way are the states that a move passes, in this order.
var way = []machine.State{
	Checking, Locking, Pausing, Draining, Snapshotting, Copying, CopyingStatus, Rewiring, Equipping, Starting, Comparing, Unpausing,
	Observing, Committing, RemovingSource, Repausing, DrainingBack, CopyingBack, DroppingCopies, Restoring, Unlocking,
}

// counted is what a state's progress is counted in; others stand still.
var counted = map[machine.State]func(Facts) Tally{
	Copying:        func(f Facts) Tally { return f.Copies },
	CopyingStatus:  func(f Facts) Tally { return f.Statuses },
	Rewiring:       func(f Facts) Tally { return f.Dependents },
	RemovingSource: func(f Facts) Tally { return f.Removed },
	CopyingBack:    func(f Facts) Tally { return f.Delta },
	DroppingCopies: func(f Facts) Tally { return f.Dropped },
	Restoring:      func(f Facts) Tally { return f.Undo },
}

// Progress counts the objects that are done in a state that counts them, and the outages of the API server that have ended in it.
// A state that comes later on the way has more, and a state at rest or one that resumes has none, so that the next one
// begins anew.
func Progress(f Facts) (done int, known bool) {
	if f.Then.Present != f.Then.State || !slices.Contains(way, f.Then.State) {
		return 0, f.Seen
	}
	return steps(f)
}

// steps counts for the state whose work is done.
func steps(f Facts) (done int, known bool) {
	at := slices.Index(way, f.Then.State)
	if !f.Seen || at < 0 {
		return 0, f.Seen
	}
	done = (at+1)*ahead + min(f.Outages, maxOutages)
	if of := counted[f.Then.State]; of != nil {
		tally := of(f)
		if !tally.Known {
			return 0, false
		}
		done += min(tally.Done, ahead/2)
	}
	return done, true
}

// Recall copies what the record remembers into the facts.
func Recall(f *Facts, r machine.Record, resumed machine.Resumed) {
	f.Then = Then{
		State: r.State, Present: r.State, From: r.CameFrom, Event: r.LastEvent, Done: r.Entry.Done, Failing: r.Failure != nil,
		Resumed: resumed,
	}
	if slices.Contains(blocked, r.State) {
		f.Then.State = r.CameFrom
	}
	f.Then.BackFrom, f.Then.BackBy = backFrom(r)
}

// backFrom is where and by what the way back began that a record is on. A way back that was blocked, and begun anew, is the same.
func backFrom(r machine.Record) (machine.State, machine.Event) {
	for _, made := range slices.Backward(r.Transitions) {
		if made.To == Repausing && made.From != RollbackBlocked {
			return made.From, made.Event
		}
	}
	return r.CameFrom, r.LastEvent
}

// blocked are the states that resume the one before.
var blocked = []machine.State{CommitBlocked, CleanupBlocked, UnlockBlocked, RestoreBlocked, RollbackBlocked}
