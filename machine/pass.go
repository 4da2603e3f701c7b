package machine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pass is one pass of one instance between loading and saving.
type pass[F, E any] struct {
	machine *Machine[F, E]
	facts   F
	env     E
	record  Record
	at      moment
	// chosen is what the pass began with.
	chosen choice[F, E]
	// begun is since when the guards that have to last said Yes before this pass.
	begun map[Event]time.Time
}

// make makes at most one move, or else does the work of the state.
func (p *pass[F, E]) make(ctx context.Context) (Outcome, error) {
	table := p.machine.Table
	chosen, err := table.choose(p.record, p.facts, p.at)
	if err != nil {
		return Outcome{State: p.record.State}, err
	}
	var decision func() *Decision
	if chosen.move != nil {
		before, facts, at := p.record, p.facts, p.at
		before.Transitions = nil
		before = before.clone() // what it has by reference changes with the pass
		decision = func() *Decision { return table.decision(before, chosen, facts, at) }
	}
	p.begun, p.chosen = p.record.Lasting, chosen
	p.record.Lasting, p.record.Deadline, p.record.Reason = chosen.lasting, chosen.next, chosen.waits
	var outcome Outcome
	if chosen.move != nil {
		outcome = p.move(ctx, chosen)
	} else {
		outcome = p.work(ctx)
	}
	if outcome.Failure != nil {
		p.record.Reason = Shorten(oneLine(outcome.Failure), MaxMessage)
	}
	if wait := table.stand(&p.record, p.facts, moment{now: p.machine.Now(), settled: p.at.settled}); wait > 0 {
		outcome.LookAgain = sooner(outcome.LookAgain, wait)
	}
	outcome.State, outcome.Reason, outcome.decision = p.record.State, p.record.Reason, decision
	return outcome, nil
}

func (p *pass[F, E]) move(ctx context.Context, c choice[F, E]) Outcome {
	var result Result
	effect := func(ctx context.Context) (err error) {
		if c.move.Do.Run != nil {
			result, err = c.move.Do.Run(ctx, p.env)
		}
		return err
	}
	to, err := p.machine.Table.fire(ctx, p.record.State, c.move.On, effect)
	if err != nil {
		return p.blocked(ctx, c.move, err)
	}
	if c.move.rank() != rankFailure {
		p.record.succeeded()
	}
	outcome := p.enter(c.move, to, c.cause)
	p.beginAnew(to)
	outcome.Did = result.Did
	if p.machine.Table.Foresees && c.move.Do.Run == nil {
		outcome.passing = p.foresee(to)
	}
	return outcome
}

// blocked is what a failed effect leads to. The move that it belongs to would be
// chosen again on every pass, so this is where its failure may end that.
func (p *pass[F, E]) blocked(ctx context.Context, move *Move[F, E], err error) Outcome {
	now := p.machine.Now()
	at := moment{now: now, settled: p.at.settled}
	p.record.failed(effectError(move, err), move.On, now)
	outcome := Outcome{LookAgain: retry(p.record, now)}
	if edge := p.machine.Table.failureEdge(p.record, at); edge == nil {
		p.lookAhead(&outcome)
	} else if to, illegal := p.machine.Table.fire(ctx, p.record.State, edge.On, func(context.Context) error { return nil }); illegal == nil {
		outcome = p.enter(edge, to, p.record.Failure.Message)
		p.beginAnew(to)
	}
	outcome.Failure = err
	return outcome
}

// beginAnew forgets the failure that has led to a state which has a work of its own and a failure edge: that work has not failed, and
// the state would be left before it was done.
func (p *pass[F, E]) beginAnew(to State) {
	if table := &p.machine.Table; !table.Resumes(to) && table.hasFailureEdge(to) {
		p.record.succeeded()
	}
}

func effectError[F, E any](move *Move[F, E], err error) error {
	return fmt.Errorf("%s on the way to %s: %w", move.Do.Name, move.To, err)
}

func (p *pass[F, E]) enter(move *Move[F, E], to State, cause string) Outcome {
	done, _ := p.machine.progress(p.facts)
	entry := Entry{Inputs: p.machine.inputs(p.facts), Done: done}
	if p.record.Failure != nil {
		entry.Effect = p.record.Failure.Effect
	}
	p.record.enter(to, move.On, cause, entry, p.goesOn(to), p.machine.Now())
	made := p.record.Transitions[len(p.record.Transitions)-1]
	entered := *p
	return Outcome{Moved: &made, LookAgain: atOnce, moves: func() []Candidate { return entered.told(entered.candidates().candidates) }}
}

// goesOn is since when the guards have lasted that the new state asks of the same events. The guards may be others there:
// a time that the state before has ended with this pass goes on if they do not say No.
func (p *pass[F, E]) goesOn(to State) map[Event]time.Time {
	on := map[Event]time.Time{}
	for _, move := range p.machine.Table.Leaving(to) {
		since, lasts := p.record.Lasting[move.On]
		if !lasts {
			since, lasts = p.begun[move.On]
		}
		if move.For > 0 && lasts && move.If.Answer(p.facts).Truth != No {
			on[move.On] = since
		}
	}
	return on
}

// work does the work of the record's state.
func (p *pass[F, E]) work(ctx context.Context) Outcome {
	row, _ := p.machine.Table.State(p.record.State)
	action := row.Work
	var outcome Outcome
	var effect Event
	var result Result
	if action.resumes {
		outcome.Work, effect, result, outcome.Failure = p.resume(ctx)
	} else {
		outcome.Work = action.Name
		if action.Run != nil {
			result, outcome.Failure = action.Run(ctx, p.env)
		}
	}
	outcome.Did, outcome.LookAgain = result.Did, result.LookAgain
	if row.LookAgain > 0 {
		outcome.LookAgain = sooner(outcome.LookAgain, row.LookAgain)
	}
	now, before := p.machine.Now(), p.record.Failure
	switch {
	case outcome.Failure != nil:
		p.record.failed(outcome.Failure, effect, now)
		if p.record.Failure.Terminal && p.machine.Table.hasFailureEdge(p.record.State) {
			outcome.LookAgain = atOnce
		} else {
			outcome.LookAgain = sooner(outcome.LookAgain, retry(p.record, now))
		}
	case before != nil && !p.machine.Table.keepsFailure(p.record):
		p.record.succeeded()
		outcome.LookAgain = atOnce
	}
	if before == nil && outcome.Failure == nil {
		p.standsAs(p.chosen, &outcome) // as when the pass began, no error to count from
	} else {
		p.lookAhead(&outcome)
	}
	return outcome
}

// resume does the work of the state that the record came from, and then the
// effect that failed there. The guard of the effect's move is asked again: what
// it allowed then may not be so any more.
func (p *pass[F, E]) resume(ctx context.Context) (name string, effect Event, result Result, err error) {
	row := p.machine.Table.resumed(p.record)
	if row.Work.Run != nil {
		result, err = row.Work.Run(ctx, p.env)
	}
	if err != nil || p.record.Entry.Effect == "" {
		return row.Work.Name, "", result, err
	}
	for _, move := range p.machine.Table.Leaving(row.Name) {
		if move.On != p.record.Entry.Effect || move.Do.Run == nil || move.If.Answer(p.facts).Truth != Yes {
			continue
		}
		did, err := move.Do.Run(ctx, p.env)
		result.Did = joinDone(result.Did, did.Did)
		if did.LookAgain > 0 {
			result.LookAgain = sooner(result.LookAgain, did.LookAgain)
		}
		if err != nil {
			return row.Work.Name, move.On, result, effectError(move, err)
		}
	}
	return row.Work.Name, "", result, nil
}

func joinDone(one, other string) string {
	if one == "" || other == "" {
		return one + other
	}
	return one + "; " + other
}

// lookAhead asks the guards once more, because the pass may have begun or ended
// a failure, and with it a deadline.
func (p *pass[F, E]) lookAhead(outcome *Outcome) {
	p.standsAs(p.candidates(), outcome)
}

// standsAs notes how the moves stand that leave the state.
func (p *pass[F, E]) standsAs(after choice[F, E], outcome *Outcome) {
	p.record.Deadline = after.next
	asked := *p
	outcome.moves = func() []Candidate { return asked.told(after.candidates) }
	if p.record.Deadline != nil {
		outcome.LookAgain = sooner(outcome.LookAgain, p.record.Deadline.At.Sub(p.machine.Now()))
	}
}

// told are candidates with the reasons that people are shown.
func (p *pass[F, E]) told(candidates []Candidate) []Candidate {
	table := p.machine.Table
	return table.explained(candidates, p.record.State, table.Recalled(p.facts, p.record))
}

// candidates are the moves that can leave the state, now that the pass has changed the record.
func (p *pass[F, E]) candidates() choice[F, E] {
	facts := p.machine.Table.Recalled(p.facts, p.record)
	after, err := p.machine.Table.choose(p.record, facts, moment{now: p.machine.Now(), settled: p.at.settled})
	var ambiguous *AmbiguousError
	if errors.As(err, &ambiguous) {
		return choice[F, E]{} // the next pass says so
	}
	return after
}

// atOnce asks for the next pass now; zero would mean never.
const atOnce = time.Nanosecond

const (
	// firstRetry is the shortest wait before something that failed is tried again. The wait is half the time that the
	// failure has lasted: that backs off without counting attempts, also through a restart.
	firstRetry = time.Second
	// lastRetry is the longest wait before something that failed is tried again.
	lastRetry = 30 * time.Second
	// terminalRetry is how often work is tried again that met a terminal error: the cluster may have healed what no
	// event announces, such as a name or a port that was taken.
	terminalRetry = 10 * time.Minute
)

func retry(record Record, now time.Time) time.Duration {
	switch {
	case record.Failure == nil:
		return 0
	case record.Failure.Terminal:
		return terminalRetry
	}
	return backoff(now.Sub(record.Failure.Since))
}

func backoff(lasted time.Duration) time.Duration { return min(max(lasted/2, firstRetry), lastRetry) }

// sooner returns the shorter wait, of which zero means no wait is set.
func sooner(a, b time.Duration) time.Duration {
	switch {
	case b <= 0:
		return atOnce
	case a == 0 || b < a:
		return b
	default:
		return a
	}
}
