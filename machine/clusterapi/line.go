package clusterapi

import (
	"fmt"
	"slices"
	"strings"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// Line answers in one line of at most 1 KiB why it is not done: state,
// revision, what it waits for and the cause, since when, and what happens by
// itself and when. Conditions, log, Events and commands show this same text.
// Times are moments, not durations, so that a line that has nothing new to say
// stays the same and is not written again. A command to copy stands at its end.
func Line(s phases.Snapshot) string {
	r, f, d := s.Record, s.Facts, s.Seen.Display
	var b strings.Builder
	b.WriteString(string(r.State))
	if d.DesiredName != "" && (Table.At(r) == InstallerController || Table.Alarms(r.State)) {
		b.WriteString(" " + d.DesiredName)
		if f.Applied.Known && !f.Applied.Complete {
			fmt.Fprintf(&b, " (%d of %d objects)", f.Applied.Done, f.Applied.Total)
		}
	}
	why := r.Reason
	if row, _ := Table.State(r.State); why == "" && row.Rest {
		why = r.Cause // the state has just been entered
		if row.Reads == (machine.Reading{}) {
			why = atRest(f, d)
		}
	}
	if r.State == Paused {
		why = whilePaused(s)
	}
	if awaits := f.AwaitsUninstallConsent; tellsOfConsent(s) && !strings.Contains(why, awaits) {
		why = strings.TrimSuffix(awaits+"; "+why, "; ")
	}
	if len(d.LeftAlone) > 0 {
		why = strings.TrimPrefix(why+"; "+leftText(d), "; ")
	}
	if why != "" {
		b.WriteString(": " + why)
	}
	since := r.Since
	if r.Failure != nil {
		since = r.Failure.Since // an error may have begun long after the state
	}
	tail := "; since " + machine.Moment(since) + next(s)
	if r.Deadline != nil {
		tail += fmt.Sprintf("; %s at %s", r.Deadline.To, machine.Moment(r.Deadline.At))
	}
	if tellsOfConsent(s) {
		tail += uninstallConsentText(d)
	}
	return clipBefore(b.String(), tail)
}

// whilePaused says who has paused, what is wanted by now, and what differs.
func whilePaused(s phases.Snapshot) string {
	f, d := s.Facts, s.Seen.Display
	text := f.Pause.Why
	if f.FormerInstaller != "" {
		text += "; " + f.FormerInstaller
	}
	if f.AwaitsUninstallConsent != "" {
		text += "; " + f.AwaitsUninstallConsent
	} else if wanted := guards.DesiredMatchesInputs.Answer(f); wanted.Truth != machine.Yes && wanted.Reason != "" {
		text += "; " + wanted.Reason
	} else if current := guards.DesiredIsCurrent.Answer(f); current.Truth == machine.No {
		text += fmt.Sprintf("; revision %d is not fully applied: %s", f.DesiredNumber, current.Reason)
	}
	if len(d.Differs) > 0 {
		text += fmt.Sprintf("; objects that are not as they should be (%d): %s", len(d.Differs)+d.MoreDiffers, strings.Join(d.Differs, "; "))
	}
	if d.MoreDiffers > 0 {
		text += fmt.Sprintf("; and %d more", d.MoreDiffers)
	}
	return text
}

// atRest is what there is to say while nothing is to be done but to repair.
func atRest(f guards.Facts, d guards.Display) string {
	switch {
	case f.Applied.Known && !f.Applied.Complete:
		return f.Applied.Why
	case f.AwaitsUninstallConsent != "":
		return ""
	case len(d.LeftAlone) > 0:
		return "everything else is as it should be"
	}
	return "everything is as it should be"
}

// tellsOfConsent says that the line tells what waits for consent to an
// uninstallation: it is about planning, or nothing else is done. A rollout
// that goes on meanwhile has its own line.
func tellsOfConsent(s phases.Snapshot) bool {
	row, _ := Table.State(s.Record.State)
	rests := row.Rest && row.Reads == (machine.Reading{}) || row.Name == Paused
	return s.Seen.Display.UninstallConsent != "" && (rests || Table.At(s.Record) == RevisionController)
}

// uninstallConsentText is the end of a message: the command that it tells of can
// be copied up to the end of the line.
func uninstallConsentText(d guards.Display) string {
	if d.UninstallConsent == "" {
		return ""
	}
	return "; if it is to go, consent: " + phases.ConsentToUninstall + " --reason TEXT"
}

// next is what has to happen for the machine to go on, where waiting is not enough of an answer.
func next(s phases.Snapshot) string {
	r, f := s.Record, s.Facts
	text := ""
	switch {
	case r.Failure != nil && r.Failure.Terminal:
		text = "; tried again every 10 minutes, and when an input changes or annotation " + phases.RetryAnnotation + " of the ClusterAPI does"
	case r.Failure != nil:
		text = "; tried again by itself"
	case Table.Resumes(r.State):
		text = "; goes on by itself when that heals"
	}
	if Table.Resumes(r.State) && f.CurrentNumber > 0 && f.CurrentNumber != f.DesiredNumber {
		text += fmt.Sprintf("; revision %d stays applied", f.CurrentNumber)
	}
	return text
}

// foreignNamed is how many revisions of others a message names.
const foreignNamed = 3

// foreignWarning tells of revisions that somebody else has listed.
func foreignWarning(d guards.Display) string {
	names := slices.Clone(d.Foreign[:min(len(d.Foreign), foreignNamed)])
	if more := len(d.Foreign) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return "revisions that were listed by somebody else and are not executed, since no inventory of this operator's proves them: " + strings.Join(names, ", ") +
		"; they leave the list when one of this operator's is installed; look who may write clusterapis/status"
}

// objectWarning tells what does not hold anything up and should be known.
func objectWarning(d guards.Display) string {
	texts := append(guards.Texts(d.Contested), d.Findings...)
	for _, act := range d.Acts {
		if act.Void != "" && !act.Ended {
			texts = append(texts, act.String())
		}
	}
	if len(d.Foreign) > 0 {
		texts = append(texts, foreignWarning(d))
	}
	if d.Keeping != "" {
		texts = append(texts, "the current revision cannot be kept as it is: "+d.Keeping)
	}
	// Whoever may write in a namespace chooses their names, and how long they are.
	if count := len(d.Strays) + d.MoreStrays; count > 0 {
		texts = append(texts, fmt.Sprintf("objects that no revision knows: %d, capstan status names those that are not in namespaces of others; they carry this installation's marks, and no inventory lists them: "+
			"look into them, a CustomResourceDefinition goes with its instances, a Namespace with its content; then delete what nobody needs", count))
	}
	return strings.Join(texts, "; ")
}

// leftNamed is how many objects a message names that are left alone.
const leftNamed = 3

// leftText tells who asks to leave objects as they are, and how they are.
func leftText(d guards.Display) string {
	text := ""
	for _, act := range d.Acts {
		if act.Name == acts.LeaveAlone {
			text = act.String()
		}
	}
	named := guards.Texts(d.LeftAlone[:min(len(d.LeftAlone), leftNamed)])
	if more := len(d.LeftAlone) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("and %d more", more))
	}
	return text + "; left alone: " + strings.Join(named, "; ")
}

// clipBefore shortens text so that it fits together with its tail.
func clipBefore(text, tail string) string {
	return machine.Shorten(text, machine.MaxMessage-len(tail)) + tail
}
