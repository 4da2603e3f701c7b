package status

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/capstan-capi/capstan/machine"
)

// Detail is what a machine that has nothing of its own to show publishes beside its record.
type Detail struct {
	Waits string              `json:"waits,omitempty"`
	Moves []machine.Candidate `json:"moves,omitempty"`
}

// Plain tells what can be told of any machine: its line, the conditions of its
// parts as its table reads them, and the moves that can be made.
func Plain[F, E any](t machine.Table[F, E], about corev1.ObjectReference) func(machine.Snapshot[F, E], Stored) Told {
	return func(s machine.Snapshot[F, E], _ Stored) Told {
		line := Line(s.Record)
		told := Told{Line: line, About: about}
		readings := t.Readings(s.Record, s.Facts)
		for _, part := range t.Parts {
			told.Conditions = append(told.Conditions, PartConditions(part, readings[part], line)...)
		}
		told.Detail, _ = json.Marshal(Detail{Waits: line, Moves: s.Candidates()}) // words can always be encoded
		return told
	}
}

// PartConditions are the two conditions of a part, with what it says.
func PartConditions(part string, reads machine.Reading, message string) []Condition {
	degraded := Condition{Type: part + "Degraded", Is: reads.Degraded, Reason: machine.AsExpected}
	if reads.Degraded {
		degraded.Reason, degraded.Message = reads.Reason, message
	}
	return []Condition{{Type: part + "Progressing", Is: reads.Progressing, Reason: reads.Reason, Message: message}, degraded}
}

// Line says in one line of at most 1 KiB where a machine is, what it waits for,
// since when, and what happens by itself and when. Times are moments, so that a
// line that has nothing new to say stays the same.
func Line(r machine.Record) string {
	text, since := string(r.State), r.Since
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	if r.Failure != nil {
		since = r.Failure.Since
	}
	tail := "; since " + machine.Moment(since)
	if r.Deadline != nil {
		tail += fmt.Sprintf("; %s at %s", r.Deadline.To, machine.Moment(r.Deadline.At))
	}
	return machine.Shorten(text, machine.MaxMessage-len(tail)) + tail
}
