package machinetest

import (
	"cmp"
	"context"
	"maps"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// player makes single passes over a table in one situation after the other.
type player[F, E any] struct {
	machine machine.Machine[F, E]
	store   memory[F, E]
	now     time.Time
	answers map[string]machine.Truth
	broken  error
	events  []machine.Event
	ways    map[machine.State]way
}

// way is a move that has led to a state: where from, and by which event.
type way struct {
	from machine.State
	on   machine.Event
}

func (w way) before(other way) bool {
	return cmp.Or(cmp.Compare(w.from, other.from), cmp.Compare(w.on, other.on)) < 0
}

func newPlayer[F, E any](table machine.Table[F, E]) *player[F, E] {
	p := &player[F, E]{now: longAgo, answers: map[string]machine.Truth{}, ways: map[machine.State]way{}}
	effects := map[string]bool{}
	for _, move := range table.Moves {
		effects[move.Do.Name] = true
		p.events = append(p.events, move.On)
		for _, from := range move.From { // the same one whatever the order of rows
			found := way{from: from, on: move.On}
			if known, is := p.ways[move.To]; !is || found.before(known) {
				p.ways[move.To] = found
			}
		}
	}
	doubled := table.WithDoubles(p.answers, func(name string) (machine.Result, error) {
		if effects[name] {
			return machine.Result{}, p.broken
		}
		return machine.Result{}, nil
	})
	doubled.Recall, doubled.Progress, doubled.Inputs, doubled.Patience = nil, nil, nil, nil
	p.machine = machine.Machine[F, E]{
		Table: doubled, Store: &p.store, Now: func() time.Time { return p.now },
		Observe: func(context.Context, machine.Key) (facts F, env E, err error) { return facts, env, nil },
	}
	p.machine.Settle() // the operator has been running for a while
	p.now = noon
	return p
}

// play makes one pass in a situation; work succeeds, effects return broken.
func (p *player[F, E]) play(s situation, broken error) (machine.Outcome, error) {
	clear(p.answers)
	maps.Copy(p.answers, s.answers)
	p.broken = broken
	p.store.record, p.store.found = s.record(p.events, p.ways[s.state]), true
	return p.machine.Step(context.Background(), "played")
}
