package house

import (
	"context"
	"sync"
	"time"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/events"
	"github.com/capstan-capi/capstan/phases/status"
)

// eventTeller makes Events of moves, those of a quick passage together.
type eventTeller struct {
	sync.Mutex
	tell    func(events.Event)
	machine string
	// gathered are the moves that no Event tells yet.
	gathered map[machine.Key]*events.Moves
}

// Tell gathers, and announces what has been gathered long enough.
func (e *eventTeller) Tell(_ context.Context, p Pass) time.Duration {
	made, again := e.take(p)
	if len(made) == 0 || p.Words.Quiet {
		return again
	}
	n := events.Moved(p.Words.Line, made)
	n.By, n.About, n.Warns = status.FieldManager(e.machine), p.Words.About, p.Fails || p.Alarms
	e.tell(n)
	return 0
}

func (e *eventTeller) take(p Pass) ([]machine.Transition, time.Duration) {
	e.Lock()
	defer e.Unlock()
	if made := p.Outcome.Moved; made != nil {
		if e.gathered[p.Key] == nil {
			e.gathered[p.Key] = &events.Moves{}
		}
		e.gathered[p.Key].Add(*made)
	}
	moves := e.gathered[p.Key]
	if moves == nil || p.Err != nil {
		return nil, 0 // a pass that was not made has no words; the next one tells
	}
	made, again := moves.Take(p.Rests, p.At)
	if again == 0 {
		delete(e.gathered, p.Key)
	}
	return made, again
}

// Forget lets go of the moves of an instance whose object is gone.
func (e *eventTeller) Forget(key machine.Key) {
	e.Lock()
	defer e.Unlock()
	delete(e.gathered, key)
}
