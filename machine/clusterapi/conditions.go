package clusterapi

import (
	"fmt"
	"strings"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// The reasons of conditions, in order of severity.
const (
	AsExpected        = "AsExpected"
	Uninitialized     = "Uninitialized"
	Progressing       = "Progressing"
	WaitingOnExternal = "WaitingOnExternal"
	EphemeralError    = "EphemeralError"
	NonRetryableError = "NonRetryableError"
)

// Conditions derives what people are told from the record and the facts. It
// stores nothing: the same record and facts always read the same.
func Conditions(r machine.Record, f guards.Facts) []phases.Condition {
	planning, applying := halves(r, f)
	conditions := append(planning.conditions("RevisionController"), applying.conditions("InstallerController")...)
	conditions[0].Message = withImages(conditions[0].Message, imageTexts(f.ImageStates), f.ImageWarning)
	if f.CurrentNumber > 0 {
		conditions = append(conditions, available(r, f))
	}
	if f.OlderSeen || f.LatestNumber == 0 {
		conditions = append(conditions, upgradeable(r, f))
	}
	return conditions
}

// half is one of the two halves of the machine as conditions show it.
type half struct {
	progressing, degraded bool
	reason, message       string
}

func (h half) conditions(prefix string) []phases.Condition {
	degraded := phases.Condition{Type: prefix + "Degraded", Is: h.degraded, Reason: AsExpected}
	if h.degraded {
		degraded.Reason, degraded.Message = h.reason, h.message
	}
	return []phases.Condition{
		{Type: prefix + "Progressing", Is: h.progressing, Reason: h.reason, Message: h.message},
		degraded,
	}
}

// halves tells which half is at work, and how it does.
func halves(r machine.Record, f guards.Facts) (planning, applying half) {
	idle := half{reason: AsExpected}
	busy := half{progressing: true, reason: Progressing, message: message(r, f)}
	switch r.State {
	case WaitingOnInfra:
		busy.reason = WaitingOnExternal
		return busy, initial(f, idle)
	case MaxRevisions:
		return half{degraded: true, reason: NonRetryableError, message: message(r, f)}, idle
	}
	if r.State == Degraded || r.Failure != nil {
		busy.degraded = r.State == Degraded
		busy.reason = EphemeralError
		if r.Failure != nil && r.Failure.ForGood {
			busy.reason, busy.progressing, busy.degraded = NonRetryableError, false, true
		}
	}
	switch {
	case r.State == Installed && r.Failure == nil:
		idle.message = message(r, f)
		return idle, idle
	case f.PlanFailed && (r.State == Applying || r.State == Pruning):
		return unplanned(f), busy
	case r.State == Planning || f.PlanFailed || (r.State == Degraded && r.CameFrom == Planning):
		return busy, initial(f, idle)
	}
	return idle, busy
}

// unplanned is the planning half while an earlier plan is still being carried
// out, which bad inputs do not stop.
func unplanned(f guards.Facts) half {
	told := half{progressing: true, reason: EphemeralError}
	if f.PlanForGood {
		told = half{degraded: true, reason: NonRetryableError}
	}
	told.message = clipBefore(f.Planning, fmt.Sprintf("; until that is repaired, revision %s goes on", f.LatestName))
	return told
}

// initial is the applying half before anything was ever applied.
func initial(f guards.Facts, idle half) half {
	if f.CurrentNumber == 0 {
		idle.reason = Uninitialized
	}
	return idle
}

// available is said only after the first success; it is taken back only when
// what is installed has stopped working and stays so.
func available(r machine.Record, f guards.Facts) phases.Condition {
	if r.State == Degraded && r.LastEvent == guards.GateLost {
		return phases.Condition{Type: "InstallerControllerAvailable", Reason: NonRetryableError, Message: message(r, f)}
	}
	return phases.Condition{
		Type: "InstallerControllerAvailable", Is: true, Reason: AsExpected,
		Message: fmt.Sprintf("revision %d is installed", f.CurrentNumber),
	}
}

// upgradeable is taken back while an administrator should look first. Nothing
// is said before it was seen what is retained, so that a restart takes nothing back.
func upgradeable(r machine.Record, f guards.Facts) phases.Condition {
	no := phases.Condition{Type: "InstallerControllerUpgradeable", Reason: NonRetryableError}
	switch {
	case r.State == MaxRevisions:
		no.Message = message(r, f)
	case len(f.Applied.Collisions) > 0:
		no.Reason, no.Message = EphemeralError, clip("objects of other owners are in the way: "+strings.Join(guards.Texts(f.Applied.Collisions), "; "))
	case len(f.Retained) > 0:
		no.Reason, no.Message = WaitingOnExternal, clip("kept for the data in them: "+strings.Join(guards.Texts(f.Retained), "; "))
	default:
		return phases.Condition{Type: no.Type, Is: true, Reason: AsExpected}
	}
	return no
}

// message answers why it is not done: state, revision, what it waits for, since
// when, and what happens by itself and when. Times are moments, not durations,
// so that a message that has nothing new to say stays the same.
func message(r machine.Record, f guards.Facts) string {
	var b strings.Builder
	b.WriteString(string(r.State))
	if f.LatestName != "" && r.State != WaitingOnInfra && r.State != Planning {
		b.WriteString(" " + f.LatestName)
		if f.Applied.Known && !f.Applied.Complete {
			fmt.Fprintf(&b, " (%d of %d objects)", f.Applied.Done, f.Applied.Total)
		}
	}
	why := r.Reason
	if why == "" && r.State == Degraded {
		why = r.Cause
	}
	if why == "" && r.State == Installed {
		why = "everything is as it should be"
	}
	if why != "" {
		b.WriteString(": " + why)
	}
	since := r.Since
	if r.Failure != nil {
		since = r.Failure.Since // an error may have begun long after the state
	}
	tail := "; since " + machine.Moment(since)
	if r.Deadline != nil {
		tail += fmt.Sprintf("; %s at %s", r.Deadline.To, machine.Moment(r.Deadline.At))
	}
	return clipBefore(b.String(), tail)
}

func clip(text string) string { return clipBefore(text, "") }

// clipBefore shortens text so that it fits together with its tail.
func clipBefore(text, tail string) string {
	return machine.Shorten(text, machine.MaxMessage-len(tail)) + tail
}
