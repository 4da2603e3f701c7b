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
	conditions[0].Message = withNotes(conditions[0].Message, imageTexts(f.ImageStates), f.ImageWarning)
	conditions[2].Message = withNotes(conditions[2].Message, "", objectWarning(f))
	if f.CurrentNumber > 0 {
		conditions = append(conditions, available(r, f))
	}
	return append(conditions, upgradeable(r, f))
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
	busy := half{progressing: true, reason: Progressing, message: Line(r, f)}
	switch r.State {
	case WaitingOnInfra:
		busy.reason = WaitingOnExternal
		return busy, kept(r, f, initial(f, idle))
	case MaxRevisions:
		return half{degraded: true, reason: NonRetryableError, message: Line(r, f)}, kept(r, f, idle)
	}
	if r.State == Degraded || r.Failure != nil {
		busy.degraded = r.State == Degraded
		busy.reason = EphemeralError
		if r.Failure != nil && r.Failure.Terminal {
			busy.reason, busy.progressing, busy.degraded = NonRetryableError, false, true
		}
	}
	switch {
	case r.State == Installed && r.Failure == nil:
		idle.message = Line(r, f)
		return idle, idle
	case f.PlanFailed && (r.State == Applying || r.State == Pruning):
		return unplanned(f), busy
	case r.State == Planning || f.PlanFailed || (r.State == Degraded && r.CameFrom == Planning):
		return busy, initial(f, idle)
	}
	return idle, busy
}

// kept is the applying half while only the current revision is kept.
func kept(r machine.Record, f guards.Facts, idle half) half {
	if r.Failure == nil {
		return idle
	}
	return half{
		progressing: true, reason: EphemeralError,
		message: clipBefore("keeping the installed revision: "+r.Failure.Message, "; since "+machine.Moment(r.Failure.Since)+next(r, f)),
	}
}

// unplanned is the planning half while an earlier plan is still being carried
// out, which bad inputs do not stop.
func unplanned(f guards.Facts) half {
	told := half{progressing: true, reason: EphemeralError}
	if f.PlanTerminal {
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
// what is installed has stopped working and stays so, and given back only when
// it was seen to work: until then what was said before stays.
func available(r machine.Record, f guards.Facts) phases.Condition {
	if r.State == Degraded && r.LastEvent == guards.GateLost {
		return phases.Condition{Type: "InstallerControllerAvailable", Reason: NonRetryableError, Message: Line(r, f)}
	}
	return phases.Condition{
		Type: "InstallerControllerAvailable", Is: true, Reason: AsExpected,
		Message: fmt.Sprintf("revision %d is installed", f.CurrentNumber),
		Unsure:  f.LatestNumber != f.CurrentNumber || !f.Applied.Complete,
	}
}

// upgradeable is taken back while an administrator should look first, with all
// causes, the worst one first. A restarted machine has not seen yet what is in
// the way or retained, and takes back nothing that was said.
func upgradeable(r machine.Record, f guards.Facts) phases.Condition {
	told := phases.Condition{Type: "InstallerControllerUpgradeable"}
	var causes []string
	cause := func(reason, text string) {
		if told.Reason == "" {
			told.Reason = reason
		}
		causes = append(causes, text)
	}
	if r.State == MaxRevisions {
		cause(NonRetryableError, r.Reason)
	}
	if len(f.Applied.Collisions) > 0 {
		cause(EphemeralError, "objects of other owners are in the way: "+strings.Join(guards.Texts(f.Applied.Collisions), "; "))
	}
	if len(f.Applied.Refused) > 0 {
		cause(EphemeralError, strings.Join(guards.Texts(f.Applied.Refused), "; "))
	}
	tail := ""
	if len(f.Retained) > 0 {
		cause(WaitingOnExternal, "kept for the data in them: "+strings.Join(guards.Texts(f.Retained), "; "))
		tail = consentText(f)
	}
	if len(causes) > 0 {
		told.Message = clipBefore(strings.Join(causes, "; "), tail)
		return told
	}
	told.Is, told.Reason = true, AsExpected
	seen := f.OlderSeen && f.Attempted && r.Failure == nil
	told.Unsure = f.LatestNumber != 0 && !seen
	return told
}

// consentText says what deletes retained objects with the data in them.
func consentText(f guards.Facts) string {
	if f.Latest == "" {
		return ""
	}
	text := fmt.Sprintf("; delete the data, or consent to lose it: kubectl annotate clusterapi cluster --overwrite %s=%s", phases.ConsentAnnotation, f.Latest)
	if f.Consent != "" && f.Consent != f.Latest {
		text += " (the consent that is given is for other content)"
	}
	return text
}
