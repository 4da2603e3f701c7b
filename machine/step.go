package machine

import (
	"context"
	"fmt"
	"time"
)

// Store keeps a machine's record. Save is also given the facts that the pass
// saw and the moves that can leave the present state, for a store that shows
// people more than the record; it is called on every pass and must write
// nothing when nothing changed.
type Store[F any] interface {
	// Load returns the record; found is false when there is none or it cannot be read.
	Load(context.Context) (record Record, found bool, err error)
	Save(context.Context, Record, F, []Leave) error
}

// Machine is a table bound to a world: what to observe, where to remember, what time it is.
type Machine[F, E any] struct {
	Table Table[F, E]
	// Observe looks at the world without changing it and returns the facts, and what Work and Do need.
	Observe func(context.Context) (F, E, error)
	Store   Store[F]
	Now     func() time.Time
	// Moved is told of every transition after it was made; nil is allowed.
	Moved func(Transition)
}

// Outcome is what one pass did and when to look again.
type Outcome struct {
	State State
	// Moved is the transition made in this pass, if any.
	Moved *Transition
	// Did is the name of the work done, if any.
	Did string
	// Decision is what the move was chosen from, also when its effect failed; nil if none was chosen.
	Decision *Decision
	// Moves are those that can leave State after this pass, sorted by event, as the facts of the pass answer them.
	Moves []Leave
	// Reason says what the machine waits for.
	Reason string
	// Failure is the error that work or effect met; it is in the record as well.
	Failure error
	// LookAgain is when the next pass is due by the clock; zero means only when something changes.
	LookAgain time.Duration
}

// Step makes one pass. The returned error says that the pass could not be made
// at all (the world or the record could not be read or written); errors of
// work and effects are part of the outcome and of the record.
func (m *Machine[F, E]) Step(ctx context.Context) (Outcome, error) {
	record, err := m.load(ctx)
	if err != nil {
		return Outcome{}, err
	}
	facts, env, err := m.Observe(ctx)
	if err != nil {
		return Outcome{State: record.State}, fmt.Errorf("observing for machine %s: %w", m.Table.Name, err)
	}
	if m.Table.Recall != nil {
		m.Table.Recall(&facts, record)
	}
	now := m.Now()
	record.begunBy(now)
	done, known := m.progress(facts)
	record.progressed(done, known, now)
	chosen, err := m.Table.choose(record, facts, now)
	if err != nil {
		return Outcome{State: record.State}, err
	}
	var decision *Decision
	if chosen.move != nil {
		decision = m.Table.decision(record, chosen, facts, now)
	}
	record.Held, record.Deadline, record.Reason = chosen.held, chosen.next, chosen.waits

	var outcome Outcome
	if chosen.move != nil {
		outcome = m.move(ctx, &record, chosen, facts, env)
	} else {
		outcome = m.work(ctx, &record, facts, env)
	}
	if outcome.Failure != nil {
		record.Reason = oneLine(outcome.Failure)
	}
	outcome.State, outcome.Reason, outcome.Decision = record.State, record.Reason, decision
	if err := m.Store.Save(ctx, record, facts, outcome.Moves); err != nil {
		return outcome, fmt.Errorf("saving the record of machine %s: %w", m.Table.Name, err)
	}
	if outcome.Moved != nil && m.Moved != nil {
		m.Moved(*outcome.Moved)
	}
	return outcome, nil
}

// load starts afresh when there is no record, or one of a state that this table does not have.
func (m *Machine[F, E]) load(ctx context.Context) (Record, error) {
	record, found, err := m.Store.Load(ctx)
	if err != nil {
		return Record{}, fmt.Errorf("loading the record of machine %s: %w", m.Table.Name, err)
	}
	if _, known := m.Table.State(record.State); !found || !known {
		return fresh(m.Table.Start, m.Now()), nil
	}
	return record.clone(), nil
}

func (m *Machine[F, E]) move(ctx context.Context, record *Record, c choice[F, E], facts F, env E) Outcome {
	effect := func(ctx context.Context) error {
		if c.move.Do.Run == nil {
			return nil
		}
		return c.move.Do.Run(ctx, env)
	}
	to, err := m.Table.fire(ctx, record.State, c.move.On, effect)
	if err != nil {
		return m.blocked(ctx, record, c, facts, err)
	}
	if c.move.rank() != rankFailure {
		record.succeeded()
	}
	return m.enter(record, *c.move, to, c.cause, facts)
}

// blocked is what a failed effect leads to. The move that it belongs to would be
// chosen again on every pass, so this is where its failure may end that.
func (m *Machine[F, E]) blocked(ctx context.Context, record *Record, c choice[F, E], facts F, err error) Outcome {
	now := m.Now()
	record.failed(fmt.Errorf("%s on the way to %s: %w", c.move.Do.Name, c.move.To, err), now)
	outcome := Outcome{LookAgain: retry(*record, now)}
	if edge := m.Table.failureEdge(*record, now); edge == nil {
		m.plan(record, facts, &outcome, now)
	} else if to, illegal := m.Table.fire(ctx, record.State, edge.On, func(context.Context) error { return nil }); illegal == nil {
		outcome = m.enter(record, *edge, to, record.Failure.Message, facts)
	}
	outcome.Failure = err
	return outcome
}

func (m *Machine[F, E]) enter(record *Record, move Move[F, E], to State, cause string, facts F) Outcome {
	done, _ := m.progress(facts)
	record.enter(to, move.On, cause, Entry{Inputs: m.inputs(facts), Done: done}, m.Now())
	made := record.Transitions[len(record.Transitions)-1]
	return Outcome{Moved: &made, LookAgain: atOnce, Moves: m.look(*record, facts).leaves}
}

func (m *Machine[F, E]) work(ctx context.Context, record *Record, facts F, env E) Outcome {
	row, _ := m.Table.State(record.State)
	outcome := Outcome{Did: row.Work.Name}
	if row.Work.Run != nil {
		outcome.Failure = row.Work.Run(ctx, env)
	}
	now, before := m.Now(), record.Failure
	switch {
	case outcome.Failure != nil:
		record.failed(outcome.Failure, now)
		outcome.LookAgain = retry(*record, now)
		if record.Failure.ForGood && m.Table.hasFailureEdge(record.State) {
			outcome.LookAgain = atOnce
		}
	case before != nil:
		record.succeeded()
		outcome.LookAgain = atOnce
	}
	m.plan(record, facts, &outcome, now)
	return outcome
}

// plan looks ahead once more, because the pass may have begun or ended a
// failure, and with it a deadline.
func (m *Machine[F, E]) plan(record *Record, facts F, outcome *Outcome, now time.Time) {
	after := m.look(*record, facts)
	record.Deadline, outcome.Moves = after.next, after.leaves
	if record.Deadline != nil {
		outcome.LookAgain = sooner(outcome.LookAgain, record.Deadline.At.Sub(now))
	}
}

// look asks the guards once more, now that the pass has changed the record.
func (m *Machine[F, E]) look(record Record, facts F) choice[F, E] {
	if m.Table.Recall != nil {
		m.Table.Recall(&facts, record)
	}
	after, _ := m.Table.choose(record, facts, m.Now())
	return after
}

func (m *Machine[F, E]) progress(facts F) (int, bool) {
	if m.Table.Progress == nil {
		return 0, false
	}
	return m.Table.Progress(facts)
}

func (m *Machine[F, E]) inputs(facts F) string {
	if m.Table.Inputs == nil {
		return ""
	}
	return m.Table.Inputs(facts)
}

// atOnce asks for the next pass now; zero would mean never.
const atOnce = time.Nanosecond

// Retries come after half the time that the failure has lasted, within these
// bounds: that backs off without counting attempts, also through a restart.
const (
	// firstRetry is the shortest wait between two attempts of work that fails.
	firstRetry = time.Second
	// lastRetry is the longest wait between two attempts of work that fails.
	lastRetry = 30 * time.Second
)

func retry(record Record, now time.Time) time.Duration {
	if record.Failure == nil || record.Failure.ForGood {
		return 0
	}
	return min(max(now.Sub(record.Failure.Since)/2, firstRetry), lastRetry)
}

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
