package clusterapi_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

type move = machine.Move[guards.Facts, *phases.Pass]

// oracle says what has to happen, from the table's rows alone: it asks them in the
// order of what goes before what, and keeps its own account of what lasts.
type oracle struct {
	now    time.Time
	record machine.Record
	facts  guards.Facts
	// settled is when the first deadline after a start may fire, the zero time from then on; begun says that a pass was made.
	settled time.Time
	begun   bool
	// high is the most progress in this state, and since when; trouble and gate since when errors and lost gates
	// last, the zero time for not at all; terminal says that the last error was.
	high          int
	highAt        time.Time
	trouble, gate time.Time
	terminal      bool
	// adrift says that the record may be another one than was saved last.
	adrift bool
}

func (o *oracle) restarted() { o.begun, o.settled = false, time.Time{} }

// lost is what a record that could not be stored means: the next pass says how it stands.
func (o *oracle) lost() { o.adrift = true }

// sees takes in what a pass has seen.
func (o *oracle) sees(now time.Time, record, expected machine.Record, facts guards.Facts) {
	o.now, o.record = now, record
	if o.adrift || !sameRecord(record, expected) {
		o.adopt(record)
	}
	settled := now.Add(time.Minute)
	switch {
	case !o.begun:
		o.begun, o.settled = true, settled
	case !now.Before(o.settled):
		o.settled = time.Time{}
	case o.settled.After(settled):
		o.settled = settled
	}
	for _, at := range []*time.Time{&o.highAt, &o.trouble, &o.gate} {
		if at.After(now) {
			*at = now // the clock was set back: nothing may have begun in the future
		}
	}
	facts = table.Table.Recalled(facts, record)
	o.facts = facts
	if done, known := guards.Progress(facts); known && done > o.high {
		o.high, o.highAt = done, now
	}
	lost := o.gateLost()
	switch {
	case lost == nil || lost.If.Answer(facts).Truth == machine.No:
		o.gate = time.Time{}
	case lost.If.Answer(facts).Truth == machine.Yes && o.gate.IsZero():
		o.gate = now
	}
}

// gateLost is the move out of the state whose guard has to last.
func (o *oracle) gateLost() *move {
	for _, m := range table.Table.Leaving(o.record.State) {
		if m.For > 0 {
			return m
		}
	}
	return nil
}

// sameRecord compares what is stored.
func sameRecord(a, b machine.Record) bool {
	one, err := json.Marshal(a)
	other, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(one, other)
}

// adopt takes over what a record says that was not written by the last pass.
func (o *oracle) adopt(r machine.Record) {
	o.adrift = false
	o.high, o.highAt = r.Progress.Done, r.Progress.Since
	o.trouble, o.terminal = time.Time{}, false
	if r.Failure != nil {
		o.trouble, o.terminal = r.Failure.Since, r.Failure.Terminal
	}
	o.gate = time.Time{}
	if lost := o.gateLost(); lost != nil {
		o.gate = r.Lasting[lost.On]
	}
}

// over says that something has lasted for long enough, and the process has settled.
func (o *oracle) over(since time.Time, long time.Duration) bool {
	return !since.IsZero() && !o.now.Before(since.Add(long)) && !o.now.Before(o.settled)
}

// gateOver is over for a gate: after a start it is waited for no longer than the gate has to be lost.
func (o *oracle) gateOver(long time.Duration) bool {
	early := *o
	if long < time.Minute && !o.settled.IsZero() {
		early.settled = o.settled.Add(long - time.Minute)
	}
	return early.over(o.gate, long)
}

// wanted is the move that the table promises, nil for none.
func (o *oracle) wanted() *move {
	yes := func(m *move) bool { return m.If.Asked() && m.If.Answer(o.facts).Truth == machine.Yes }
	ranks := []func(*move) bool{
		func(m *move) bool { return m.Urgent && yes(m) },
		func(m *move) bool { return !m.Urgent && yes(m) && (m.For == 0 || o.gateOver(m.For)) },
		func(m *move) bool {
			return m.Failing > 0 && !o.trouble.IsZero() && (o.terminal || o.over(o.trouble, m.Failing))
		},
		func(m *move) bool { return m.Stalled > 0 && o.over(o.highAt, m.Stalled) },
	}
	leaving := table.Table.Leaving(o.record.State)
	for _, is := range ranks {
		if i := slices.IndexFunc(leaving, is); i >= 0 {
			return leaving[i]
		}
	}
	return nil
}

// learn remembers what the outcome has begun or ended.
func (o *oracle) learn(out machine.Outcome, facts guards.Facts) {
	if out.Failure != nil {
		if o.trouble.IsZero() {
			o.trouble = o.now
		}
		o.terminal = machine.IsTerminal(out.Failure)
	} else if out.Moved == nil || out.Moved.Event != guards.FailureEstablished {
		o.trouble, o.terminal = time.Time{}, false
	}
	if out.Moved != nil {
		o.high, _ = guards.Progress(facts)
		o.highAt, o.gate = o.now, time.Time{}
	}
}
