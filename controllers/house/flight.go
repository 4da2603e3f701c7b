package house

import (
	"context"
	"time"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/recorder"
)

// flightTeller puts passes into the flight recorder: a move with every guard's
// answer, work that did something, and errors. Of a pass that could not be made the move is made again by
// the next. A pass that did none of these costs nothing, nor does a quiet move that worked.
type flightTeller struct {
	recorder *recorder.Recorder
	machine  string
}

// Tell records.
func (f *flightTeller) Tell(_ context.Context, p Pass) time.Duration {
	log, on, o := f.recorder.Of(f.machine, p.Key), p.Words.Subject, p.Outcome
	switch {
	case p.Err != nil:
		log.Add(recorder.Failed(p.At, on, p.Err, nil))
	case o.Moved != nil && p.Words.Quiet && o.Failure == nil:
		return 0
	case o.Moved != nil:
		log.Add(recorder.Moved(*o.Moved, o.Decision(), on, o.Did))
	}
	if o.Moved == nil && o.Did != "" {
		log.Add(recorder.Worked(p.At, on, o.Work, o.Did))
	}
	if o.Failure != nil {
		log.Add(recorder.Failed(p.At, on, o.Failure, o.Decision()))
	}
	return 0
}

// Forget leaves what was recorded: that is what a recorder is for.
func (f *flightTeller) Forget(machine.Key) {}
