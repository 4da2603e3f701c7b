package records

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/capstan-capi/capstan/machine"
)

// saved is a record as it is held in memory, nil for none, and what is stored of it, nil for nothing.
type saved struct {
	full  *machine.Record
	short json.RawMessage
}

// saved is a record that a pass saves.
func (o *Options) saved(record machine.Record) (saved, error) {
	if o.Transitions > 0 {
		record.Transitions = record.Transitions[max(0, len(record.Transitions)-o.Transitions):]
	}
	record.Transitions = slices.Clone(record.Transitions) // not with the room that is left for the next
	if record.AtMost() > maxEntry {                       // seldom, and nothing is encoded to be sure of it
		text, err := fitting(record, maxEntry, json.Marshal)
		if err != nil {
			return saved{}, err
		}
		record, _ = Decoded(text)
	}
	if !o.Keep(record) {
		return saved{full: &record}, nil
	}
	short, err := o.short(record)
	return saved{full: &record, short: short}, err
}

// short is what is stored of a record: texts for people are cut until the record fits beside the longest note without its
// transitions. The transitions that fit then are kept.
func (o *Options) short(record machine.Record) (json.RawMessage, error) {
	const longest, shortest = 8, 128 // as parts of the entry
	var bare []byte
	for part, fits := longest, false; !fits; part *= 2 {
		record = withTexts(record, o.Entry/part)
		transitions := record.Transitions
		record.Transitions = nil
		text, err := fitting(record, o.Entry-o.maxNote()-overhead, json.Marshal)
		if err != nil && part >= shortest {
			return nil, err
		}
		bare, fits, record.Transitions = text, err == nil, transitions
	}
	return withTransitions(bare, record.Transitions, o.Entry-overhead)
}

// withTransitions is a record in JSON that has none, with as many of the newest as there is room for. Each is encoded once, however many
// there is no room for.
func withTransitions(bare []byte, transitions []machine.Transition, room int) (json.RawMessage, error) {
	const begins, ends = `,"transitions":[`, "]}"
	var kept [][]byte
	size := len(bare) - 1 + len(begins) + len(ends) - 1 // the first has no comma before it
	for i := range transitions {
		text, err := json.Marshal(&transitions[len(transitions)-1-i])
		if err != nil {
			return nil, fmt.Errorf("encoding a transition: %w", err)
		}
		if size += 1 + len(text); size > room {
			break
		}
		kept = append(kept, text)
	}
	if len(kept) == 0 {
		return bare, nil
	}
	slices.Reverse(kept)
	return slices.Concat(bare[:len(bare)-1], []byte(begins), bytes.Join(kept, []byte(",")), []byte(ends)), nil
}

// withTexts is a record whose texts for people have so many bytes at most.
func withTexts(record machine.Record, bytes int) machine.Record {
	record.Cause, record.Reason = machine.Shorten(record.Cause, bytes), machine.Shorten(record.Reason, bytes)
	record.Transitions = slices.Clone(record.Transitions)
	for i := range record.Transitions {
		t := &record.Transitions[i]
		t.Cause = machine.Shorten(t.Cause, bytes)
	}
	if record.Failure != nil {
		failure := *record.Failure
		failure.Message = machine.Shorten(failure.Message, bytes)
		record.Failure = &failure
	}
	return record
}

// beside is what is stored of a record beside a note.
func (o *Options) beside(note, record json.RawMessage) (json.RawMessage, error) {
	room := o.Entry - len(note) - overhead
	if len(record) <= room {
		return record, nil
	}
	whole, found := Decoded(record)
	if !found {
		return nil, fmt.Errorf("it takes %d bytes, and %d is the most", len(record), room)
	}
	transitions := whole.Transitions
	whole.Transitions = nil
	bare, err := fitting(whole, room, json.Marshal)
	if err != nil {
		return nil, err
	}
	return withTransitions(bare, transitions, room)
}

// compacted is a JSON value as it is stored, nil for none.
func compacted(value json.RawMessage) (json.RawMessage, error) {
	if len(value) == 0 || string(value) == "null" {
		return nil, nil
	}
	return json.Marshal(value)
}
