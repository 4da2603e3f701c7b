package privatecapi_test

import (
	"errors"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/privatecapi"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// disturb has something go wrong, or right again, now and then.
func (w *walk) disturb() {
	if w.random.IntN(4) > 0 {
		return
	}
	all := []func() string{
		w.end, w.end, w.end, w.loseAnswer, w.loseAnswer, w.refuse, w.refuse, w.failWork, w.failWork, w.failWork,
		w.goBlind, w.loseRecord, w.forgeRecord, w.restoreRecord, w.unsave, w.loseJournal,
		w.takeFirst, w.takeLock, w.lockOtherwise, w.askBack, w.retry, w.deleteHosted, w.spoilTurn, w.keepPods, w.keepPods, w.differ, w.sicken, w.sicken,
		w.comeRight, w.comeRight, w.comeRight, w.comeRight, w.comeRight, w.comeRight,
	}
	if what := all[w.random.IntN(len(all))](); what != "" {
		w.note("%s", what)
	}
}

// end has the process end at one of the next writes, or at once.
func (w *walk) end() string {
	w.faults.killIn, w.faults.killAfter = 1+w.random.IntN(6), w.random.IntN(2) == 0
	return ""
}

func (w *walk) loseAnswer() string {
	w.faults.lost, w.faults.late = w.random.IntN(2) == 0, w.random.IntN(2) == 0
	return ""
}

func (w *walk) refuse() string {
	w.faults.refused = !w.faults.refused
	return "writes are refused, or are no more"
}

// failWork has the work of a state fail for as long as it takes, or so that it is given up at once.
func (w *walk) failWork() string {
	row := table.Table.States[w.random.IntN(len(table.Table.States))]
	w.failing, w.failure = row.Work.Name, errors.New("it fails")
	if w.random.IntN(2) == 0 {
		last := []string{phases.WriteCommit.Name, phases.RemoveSource.Name, phases.ReleaseLock.Name, phases.RestoreWorkloads.Name}
		w.failing = last[w.random.IntN(len(last))]
	}
	if w.random.IntN(2) == 0 {
		w.failure = machine.Terminal(w.failure)
	}
	return w.failing + " fails"
}

func (w *walk) goBlind() string {
	w.faults.blind = 1 + w.random.IntN(25)
	return "the API server does not answer"
}

func (w *walk) loseRecord() string {
	w.arrive()
	w.record, w.found = machine.Record{}, false
	w.start()
	return "the record is lost"
}

// forgeRecord writes one that some move of the table has led to.
func (w *walk) forgeRecord() string {
	move := table.Table.Moves[w.random.IntN(len(table.Table.Moves))]
	from := move.From[w.random.IntN(len(move.From))]
	w.record = machine.Record{State: move.To, CameFrom: from, LastEvent: move.On, Since: w.now, Progress: machine.Progress{Since: w.now}}
	w.found = true
	w.arrive()
	w.start()
	return "the record is forged: " + string(move.To)
}

func (w *walk) restoreRecord() string {
	if len(w.old) == 0 {
		return ""
	}
	w.arrive()
	w.record, w.found = w.old[w.random.IntN(len(w.old))], true
	w.start()
	return "an old record is restored: " + string(w.record.State)
}

func (w *walk) unsave() string {
	w.unsaved = !w.unsaved
	return "records cannot be stored, or can again"
}

func (w *walk) loseJournal() string {
	w.journal = -1
	return "the journal is lost"
}

// takeFirst takes away the lock that operators see.
func (w *walk) takeFirst() string {
	if !w.marks().Migrating {
		return ""
	}
	w.people(guards.MigrationAnnotation, "")
	return "the lock of the operators is taken away"
}

// takeLock takes away what stands beside it, or both.
func (w *walk) takeLock() string {
	if !w.marks().Companion.Present {
		return ""
	}
	w.meddled = true
	w.taken++
	w.people(guards.CompanionAnnotation, "")
	if w.random.IntN(2) == 0 {
		w.people(guards.MigrationAnnotation, "")
		return "the lock is taken away"
	}
	return "what stands beside the lock is taken away"
}

// lockOtherwise is another's lock on a HostedCluster that is not locked.
func (w *walk) lockOtherwise() string {
	if w.marks().Locked() {
		return ""
	}
	w.people(guards.MigrationAnnotation, guards.MarkTrue)
	if w.random.IntN(2) == 0 {
		w.people(guards.CompanionAnnotation, guards.Companion{ID: guards.MigrationID("there", "1", guards.ToPrivate), Direction: guards.ToPrivate, Stage: guards.Live}.Text())
	}
	return "another locks the HostedCluster"
}

func (w *walk) askBack() string {
	w.people(guards.RevertAnnotation, guards.MarkTrue)
	return "somebody asks for a move back"
}

func (w *walk) retry() string {
	if w.record.State != guards.Failed {
		return ""
	}
	w.people(guards.FailedAnnotation, "")
	return "somebody asks for another try"
}

func (w *walk) deleteHosted() string {
	w.hosted.deleting = true
	return "the HostedCluster is being deleted"
}

func (w *walk) spoilTurn() string {
	w.turn, w.programme.Paused = w.random.IntN(2) == 0, w.random.IntN(3) == 0
	return "it is, or is not, the turn"
}

func (w *walk) keepPods() string {
	w.faults.podsStay = true
	return "pods stay"
}

func (w *walk) differ() string {
	w.faults.unequal = true
	return "the sides differ"
}

func (w *walk) sicken() string {
	w.faults.unwell = true
	return "the target is not well"
}

// comeRight ends all that keeps things from going on, and lets some time go by.
func (w *walk) comeRight() string {
	w.faults.refused, w.faults.podsStay, w.faults.unequal, w.faults.unwell, w.failing, w.unsaved = false, false, false, false, "", false
	w.turn, w.programme.Paused, w.hosted.deleting = true, false, false
	if w.random.IntN(3) == 0 {
		w.now = w.now.Add(3 * time.Minute)
	}
	return "things come right"
}
