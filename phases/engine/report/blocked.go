package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// maxText bounds Blocked in bytes: it ends up in conditions.
const maxText = 1024

// Blocked is the one most useful reason why the revision is not complete, at most 1 KiB; empty when it is complete.
func (r *Report) Blocked() string { return r.BlockedBecause("") }

// BlockedBecause is Blocked with what the caller knows of the culprit's cause; empty for nothing.
func (r *Report) BlockedBecause(cause string) string {
	switch {
	case r.Fault != nil:
		return clipped(r.Fault.Error())
	case r.Wait != "":
		return clipped(r.Wait)
	}
	w, open := r.open()
	if w == nil {
		return ""
	}
	more := ""
	if len(open) > 1 {
		more = fmt.Sprintf(" (and %d more)", len(open)-1)
	}
	if cause != "" {
		cause = ", " + cause
	}
	prefix := fmt.Sprintf("wave %d/%d (%s of %s) ", w.Number, len(r.Waves), w.Name, w.Component)
	return prefix + message.Shorten(mostTelling(open).cause()+cause, maxText-len(prefix)-len(more)) + more
}

// Culprit is the object that Blocked speaks of, nil when it speaks of none.
func (r *Report) Culprit() *Object {
	if _, open := r.open(); len(open) > 0 && r.Fault == nil && r.Wait == "" {
		return mostTelling(open)
	}
	return nil
}

// open is the first wave that is not complete, nil if all are, and its objects that are not.
func (r *Report) open() (*Wave, []*Object) {
	for _, w := range r.Waves {
		var open []*Object
		for _, o := range w.Objects {
			if !o.Complete() {
				open = append(open, o)
			}
		}
		if len(open) > 0 {
			return w, open
		}
	}
	return nil, nil
}

func mostTelling(open []*Object) *Object {
	return slices.MinFunc(open, func(a, b *Object) int { return severity(a) - severity(b) })
}

// severity orders causes by how much they tell: lower is better.
func severity(o *Object) int {
	var final interface{ Terminal() bool }
	switch {
	case errors.As(o.Err, &final) && final.Terminal():
		return 0
	case o.Action == decide.Collision, o.Action == decide.Refused, o.Action == decide.LeftAlone:
		return 1
	case o.Err != nil:
		return 2
	case o.Action == decide.Terminating:
		return 3
	case o.Applied() && o.Probe.Answer == decide.AnswerFalse:
		return 4
	case o.Applied():
		return 5
	case o.Action == decide.Pending:
		return 6
	}
	return 7
}

// String is the report in words, a line per wave and per object that is not idle and complete.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "revision %s: %d/%d objects, wave %d/%d\n", r.Revision, r.Done(), r.Total(), r.Wave(), len(r.Waves))
	if blocked := r.Blocked(); blocked != "" {
		fmt.Fprintf(&b, "  %s\n", blocked)
	}
	for _, w := range r.Waves {
		fmt.Fprintf(&b, "  wave %d: %s of %s\n", w.Number, w.Name, w.Component)
		for _, o := range w.Objects {
			switch {
			case !o.Complete():
				fmt.Fprintf(&b, "    %-11s %s\n", o.Action, o.cause())
			case o.Why != "":
				fmt.Fprintf(&b, "    %-11s %s: %s\n", o.Action, o.Key, o.Why)
			}
		}
	}
	return b.String()
}

func clipped(s string) string { return message.Shorten(s, maxText) }

// cause is the words for why the object is not complete, after "wave 1/7 (crds of core) ".
func (o *Object) cause() string {
	switch {
	case o.Err != nil:
		return "fails: " + o.Err.Error()
	case o.Applied():
		return "waits for " + o.Key.String() + ": " + o.Probe.Message
	}
	return "waits for " + o.Key.String() + ": " + o.Why
}
