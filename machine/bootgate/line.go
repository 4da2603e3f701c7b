package bootgate

import (
	"strings"

	guards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/bootgate"
)

// Line says in one line of at most 1 KiB how the gate stands, what it waits for, since when, and what happens by itself and
// when. Conditions, log, Events and commands show this same text.
func Line(s phases.Snapshot) string {
	r := s.Record
	if r.Failure == nil && r.State == Open {
		r.Reason = s.Seen.Targets.Text()
		if known := guards.GoldenIsKnown.Answer(s.Seen.Facts); known.Truth == machine.No {
			r.Reason = known.Reason
		}
	}
	told, beside := Table.Aside(Controller, s.Record, s.Facts)
	if beside {
		r.Reason = strings.TrimSuffix(told.If.Answer(s.Facts).Reason+"; "+r.Reason, "; ")
	}
	return phases.Line(r)
}

// clipBefore shortens text so that it fits together with its tail.
func clipBefore(text, tail string) string {
	return machine.Shorten(text, machine.MaxMessage-len(tail)) + tail
}
