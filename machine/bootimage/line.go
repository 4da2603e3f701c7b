package bootimage

import (
	"strings"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/bootimage"
)

// Line says in one line of at most 1 KiB how a target stands, what it waits for, since when, and what happens by itself and
// when. Log, Events and commands show this same text.
func Line(s phases.Snapshot) string {
	r := s.Record
	if r.Failure == nil {
		r.Reason = strings.TrimSuffix(Why(s)+"; "+next(s), "; ")
	} else {
		r.Reason = strings.TrimSuffix(r.Reason+"; "+next(s), "; ")
	}
	return phases.Line(r)
}

// Why is what is said of a state in place of what its moves wait for, where one question says it.
func Why(s phases.Snapshot) string {
	asked := guards.Enrolled
	switch s.Record.State {
	case Unenrolled:
	case Excluded:
		asked = guards.Touchable
	case Current:
		asked = guards.IsAsWanted
	case Skipped:
		asked = guards.MayBeWritten
	case HotLoop:
		asked = guards.AttemptsLeft
	case Failed:
		return failedFor(s.Record)
	default:
		return s.Record.Reason
	}
	return asked.Answer(s.Facts).Reason
}

// failedFor tells of a deadline that nothing was done until then, beside what is waited for since.
func failedFor(r machine.Record) string {
	stood, _, _ := strings.Cut(r.Cause, ": ")
	switch {
	case r.Reason == "": // the state has just been entered
		return r.Cause
	case r.LastEvent != guards.ProgressStalled || stood == "":
		return r.Reason
	}
	return stood + ": " + r.Reason
}

// next is what happens by itself, where the state alone does not say it.
func next(s phases.Snapshot) string {
	switch {
	case s.Record.State == Failed:
		return "tried again every 2 minutes, writes as dry runs, and when an input changes"
	case s.Record.Failure != nil:
		return "tried again by itself"
	case s.Record.State == HotLoop:
		return "tried again when another image is wanted, and a day after the last attempt if the image stood"
	}
	return ""
}

// StandingOf derives what a target adds to the sums of all.
func StandingOf(s phases.Snapshot) phases.Standing {
	counted := phases.Standing{Counts: true}
	switch state := s.Record.State; state {
	case Unenrolled:
		return phases.Standing{}
	case Excluded:
		_, text, counts := guards.Excluded(s.Facts)
		if !counts {
			return phases.Standing{}
		}
		counted.Skipped, counted.Why = true, text
	case Skipped:
		why, text, counts := guards.Skipped(s.Facts)
		if why != "" && !counts {
			return phases.Standing{}
		}
		counted.Skipped, counted.Why = true, text
	case Current:
		counted.Done = true
	case HotLoop, Failed:
		counted.Stuck, counted.Why = true, machine.Shorten(Line(s), machine.MaxMessage)
	case Deciding:
		counted.Working = guards.GateIsOpen.Answer(s.Facts).Truth == machine.Yes
	default:
		counted.Working = true
	}
	if counted.Working && s.Record.Failure != nil { // nobody would hear of it for five minutes otherwise
		counted.Why = machine.Shorten(Line(s), machine.MaxMessage)
	}
	return counted
}
