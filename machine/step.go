package machine

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// Store keeps the records of a machine's instances.
type Store[F, E any] interface {
	// Load returns the record of a key; found is false when there is none or it cannot be read.
	Load(ctx context.Context, key Key) (record Record, found bool, err error)
	// Save is called on every pass and must write nothing when nothing changed. later is after how long it wants to be
	// called again, for a store that puts off what is not urgent; zero for never.
	Save(ctx context.Context, key Key, s Snapshot[F, E]) (later time.Duration, err error)
}

// Snapshot is an instance after a pass: its record, what the pass saw, and the
// moves that can leave the present state. People are shown more than the record.
type Snapshot[F, E any] struct {
	Record Record
	Facts  F
	Seen   E
	// Moves is what Candidates asks, nil for none.
	Moves func() []Candidate
	// Passing says that the pass has moved into a state that the next one leaves as far as this one has seen, and in which nothing
	// is done and nobody is called: a store may leave it out, if it gives the record to the next pass all the same.
	Passing bool
}

// Candidates are the moves that can leave the present state, as the facts of the pass answer them. They are asked when somebody wants
// to know.
func (s Snapshot[F, E]) Candidates() []Candidate {
	if s.Moves == nil {
		return nil
	}
	return s.Moves()
}

// Machine is a table bound to a world: what to observe, where to remember, what
// time it is. It serves every instance of the table, each by its key; instances
// share nothing else. It must not be copied after the first pass.
type Machine[F, E any] struct {
	Table Table[F, E]
	// Observe looks at the world of a key without changing it and returns the facts, and what Work and Do need.
	Observe func(context.Context, Key) (F, E, error)
	Store   Store[F, E]
	Now     func() time.Time
	// UID is that of the object that a look has seen, empty for none: the record of another object under the key begins
	// anew. Nil for instances whose store or table tells objects of one name apart.
	UID func(E) string

	memory memory
}

// memory is what a machine remembers beside the stored records. If it is lost,
// deadlines are put off once more, and the errors of passes that could not be
// stored count anew.
type memory struct {
	mu sync.Mutex
	// begun says that a first pass was made; settled is when the first deadline may fire, zero once that has come.
	begun   bool
	settled time.Time
	// unsaved are records that could not be stored, with the state as it is stored.
	unsaved map[Key]unsaved
}

type unsaved struct {
	record Record
	since  time.Time
}

// settleFor is how long passes are made after a start before a deadline fires:
// an operator that was away has not stalled.
const settleFor = time.Minute

// Outcome is what one pass did and when to look again.
type Outcome struct {
	State State
	// Moved is the transition made in this pass, if any.
	Moved *Transition
	// Work is the name of the work done, if any; Did says what came of it, or of the effect of a move.
	Work, Did string
	// Reason says what the machine waits for.
	Reason string
	// Failure is the error that work or effect met; it is in the record as well.
	Failure error
	// LookAgain is when the next pass is due by the clock; zero means only when something changes.
	LookAgain time.Duration

	decision func() *Decision
	moves    func() []Candidate
	// passing is that of Snapshot.
	passing bool
}

// Decision is what the move was chosen from, also when its effect failed; nil if none was chosen. It is put together when somebody
// wants to know.
func (o Outcome) Decision() *Decision {
	if o.decision == nil {
		return nil
	}
	return o.decision()
}

// Moves are those that can leave State after this pass, sorted by event, as the facts of the pass answer them. They are asked when
// somebody wants to know.
func (o Outcome) Moves() []Candidate {
	if o.moves == nil {
		return nil
	}
	return o.moves()
}

// PanicError is a panic in work, an effect or a look, made an error of its key.
type PanicError struct {
	Machine string
	Key     Key
	Value   any
	Stack   []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("machine %s, %s: panic: %v\n%s", e.Machine, e.Key, e.Value, e.Stack)
}

// Step makes one pass of one instance. The returned error says that the pass
// could not be made at all, or not be stored; [Outcome.LookAgain] says when to
// try again then as well. Errors of work and effects are part of the outcome
// and of the record. A move that cannot be stored is made again by the next
// pass; meanwhile each pass also does the work of the stored state, or of the
// state that the move leads to if that is quiet.
func (m *Machine[F, E]) Step(ctx context.Context, key Key) (outcome Outcome, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Machine: m.Table.Name, Key: key, Value: value, Stack: debug.Stack()}
		}
		if err != nil && outcome.LookAgain == 0 {
			outcome.LookAgain = lastRetry
		}
	}()
	stored, err := m.load(ctx, key)
	if err != nil {
		return Outcome{LookAgain: firstRetry}, err
	}
	facts, env, err := m.Observe(ctx, key)
	if err != nil {
		return Outcome{State: stored.State, LookAgain: firstRetry}, fmt.Errorf("observing for machine %s: %w", m.Table.Name, err)
	}
	p := &pass[F, E]{machine: m, facts: facts, env: env, record: m.recordOf(env, stored), at: m.moment()}
	p.facts = m.Table.Recalled(p.facts, p.record)
	p.record.begunBy(p.at.now)
	done, known := m.progress(p.facts)
	p.record.progressed(done, known, p.at.now)
	before := p.record.clone()
	if outcome, err = p.make(ctx); err != nil {
		return outcome, err
	}
	snapshot := Snapshot[F, E]{Record: p.record.bounded(), Facts: p.facts, Seen: env, Moves: outcome.moves, Passing: outcome.passing}
	later, err := m.Store.Save(ctx, key, snapshot)
	if err != nil {
		return m.unstored(ctx, key, p, before, outcome), fmt.Errorf("saving the record of machine %s: %w", m.Table.Name, err)
	}
	m.memory.saved(key)
	if later > 0 {
		outcome.LookAgain = sooner(outcome.LookAgain, later)
	}
	return outcome, nil
}

// moment is now, and when deadlines begin to fire.
func (m *Machine[F, E]) moment() moment {
	now := m.Now()
	m.memory.mu.Lock()
	defer m.memory.mu.Unlock()
	settled := now.Add(settleFor)
	switch {
	case !m.memory.begun:
		m.memory.begun, m.memory.settled = true, settled
	case !now.Before(m.memory.settled):
		m.memory.settled = time.Time{} // a clock that is set back from here on puts nothing off
	case m.memory.settled.After(settled):
		m.memory.settled = settled
	}
	return moment{now: now, settled: m.memory.settled}
}

// Settle begins the minute after a start in which no deadline fires, as the
// first pass does otherwise.
func (m *Machine[F, E]) Settle() { m.moment() }

// load starts afresh when there is no record, or one of a state that this table
// does not have. What could not be stored before is known all the same, as long
// as the stored state is the one that it belongs to.
func (m *Machine[F, E]) load(ctx context.Context, key Key) (Record, error) {
	record, found, err := m.Store.Load(ctx, key)
	if err != nil {
		return Record{}, fmt.Errorf("loading the record of machine %s: %w", m.Table.Name, err)
	}
	record = record.cut(m.Table.lasting(record.State), m.Table.besides())
	begins := !found || !m.Table.arrived(record)
	if begins {
		began := fresh(m.Table.Start, m.Now())
		began.UID, began.Transitions = record.UID, record.Transitions
		record = began
	}
	m.memory.mu.Lock()
	defer m.memory.mu.Unlock()
	if kept, is := m.memory.unsaved[key]; is && kept.record.State == record.State && (begins || kept.record.Since.Equal(record.Since)) {
		record = kept.record
	}
	return record.clone(), nil
}

// recordOf is the record of the object that a pass has seen: the stored one, unless that is another object's.
func (m *Machine[F, E]) recordOf(env E, stored Record) Record {
	if m.UID == nil {
		return stored
	}
	uid := name(m.UID(env))
	if uid == "" || uid == stored.UID {
		return stored
	}
	began := fresh(m.Table.Start, m.Now())
	began.UID = uid
	return began
}

// unstored ends a pass whose record could not be stored: the stored state stays,
// and its work is done, or that of the quiet state that could not be entered.
func (m *Machine[F, E]) unstored(ctx context.Context, key Key, p *pass[F, E], before Record, outcome Outcome) Outcome {
	if outcome.Moved != nil {
		entered, _ := m.Table.State(p.record.State)
		p.record = before
		worked := Outcome{Work: entered.Work.Name}
		if !entered.Quiet {
			worked = p.work(ctx)
		} else if entered.Work.Run != nil {
			var result Result
			result, worked.Failure = entered.Work.Run(ctx, p.env)
			worked.Did = result.Did
		}
		outcome = Outcome{State: before.State, Work: worked.Work, Did: worked.Did, Failure: worked.Failure, Reason: worked.Reason, moves: worked.moves}
	}
	outcome.LookAgain = m.memory.failedToSave(key, p.record, p.at.now)
	return outcome
}

// failedToSave keeps a record, and returns after how long to try again.
func (m *memory) failedToSave(key Key, record Record, now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	since := now
	if kept, is := m.unsaved[key]; is && !kept.since.After(now) {
		since = kept.since
	}
	if m.unsaved == nil {
		m.unsaved = map[Key]unsaved{}
	}
	m.unsaved[key] = unsaved{record: record, since: since}
	return backoff(now.Sub(since))
}

func (m *memory) saved(key Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.unsaved, key)
}

// Forget drops what is remembered of an instance whose object is gone.
func (m *Machine[F, E]) Forget(key Key) { m.memory.saved(key) }

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
