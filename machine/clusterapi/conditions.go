package clusterapi

import (
	"fmt"
	"strings"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/status"
)

// Conditions derives what people are told from a snapshot. It stores nothing:
// the same snapshot always reads the same. How a state and a failure read stands
// in the table's rows; here it gets its words.
func Conditions(s phases.Snapshot) []phases.Condition {
	r, f, d := s.Record, s.Facts, s.Seen.Display
	readings := Table.Readings(r, f)
	planning, installing := readings[RevisionController], readings[InstallerController]
	last := uninstallConsentText(d)
	conditions := append(
		status.PartConditions(RevisionController, planning, withNotes(message(s, RevisionController, planning), last, imageTexts(d.ImageStates), d.ImageWarning)),
		status.PartConditions(InstallerController, installing, withNotes(message(s, InstallerController, installing), last, "", objectWarning(d)))...)
	if r.State == Paused { // what was wrong before is neither mended nor looked for
		for i := range conditions {
			conditions[i].Unsure = strings.HasSuffix(conditions[i].Type, "Degraded")
		}
	}
	if f.CurrentNumber > 0 {
		conditions = append(conditions, available(s))
	}
	return append(conditions, upgradeable(s))
}

// message is what a part says: the line, where it is the part that the line is
// about. A failure that is another part's than the state's is told with that.
func message(s phases.Snapshot, part string, reads machine.Reading) string {
	r := s.Record
	told, aside := Table.Aside(part, r, s.Facts)
	switch {
	case r.State == Paused:
		return Line(s)
	case aside && part == RevisionController && Table.At(r) != part && !tellsOfConsent(s) && (r.Failure == nil || r.Failure.Part == InstallerController):
		d := s.Seen.Display
		return clipBefore(told.If.Answer(s.Facts).Reason, fmt.Sprintf("; until then revision %s goes on", d.DesiredName)+uninstallConsentText(d))
	case aside && part == InstallerController:
		reads.Reason = machine.AsExpected
	}
	switch {
	case Table.Rests(r.State) && reads.Reason == machine.AsExpected && r.Failure == nil && Table.At(r) == InstallerController:
		return Line(s) // at rest without trouble, both parts say so
	case reads.Reason == machine.AsExpected:
		return ""
	case r.Failure != nil && r.Failure.Part == InstallerController && part == InstallerController && Table.At(r) != part:
		return clipBefore("keeping the installed revision: "+r.Failure.Message, "; since "+machine.Moment(r.Failure.Since)+next(s))
	}
	return Line(s)
}

// available is said only after the first success; it is taken back only when
// what is installed has stopped working and stays so, and given back only when
// it was seen to work: until then what was said before stays.
func available(s phases.Snapshot) phases.Condition {
	r, f := s.Record, s.Facts
	if Table.Takes(r, Available) {
		return phases.Condition{Type: Available, Reason: machine.NonRetryableError, Message: Line(s)}
	}
	return phases.Condition{
		Type: Available, Is: true, Reason: machine.AsExpected,
		Message: fmt.Sprintf("revision %d is installed", f.CurrentNumber),
		Unsure:  r.State == Paused || f.DesiredNumber != f.CurrentNumber || !f.Applied.Complete,
	}
}

// upgradeable is taken back while the next upgrade would fail, with all causes,
// the worst one first. What is retained is told, and is no cause.
// A restarted machine has not seen yet what is in the way or retained, and takes
// back nothing that was said.
func upgradeable(s phases.Snapshot) phases.Condition {
	r, f, d := s.Record, s.Facts, s.Seen.Display
	condition := phases.Condition{Type: InstallerController + "Upgradeable"}
	var causes []string
	cause := func(reason, text string) {
		if condition.Reason == "" {
			condition.Reason = reason
		}
		causes = append(causes, text)
	}
	if r.State == Paused {
		cause(machine.WaitingOnExternal, f.Pause.Why)
	}
	if f.Pin != "" {
		cause(machine.WaitingOnExternal, f.Pin)
	}
	if f.Listed-f.GivingWay >= guards.MaxRevisions {
		cause(machine.NonRetryableError, guards.RoomLeft.Answer(f).Reason)
	}
	if len(d.Collisions) > 0 {
		cause(machine.EphemeralError, "objects of other owners are in the way: "+strings.Join(guards.Texts(d.Collisions), "; ")+leaveText(d.Collisions))
	}
	if met := guards.CRDsMeet.Answer(f); met.Truth == machine.No {
		cause(machine.WaitingOnExternal, met.Reason)
	}
	if installed := f.CurrentNumber > 0 && f.DesiredNumber == f.CurrentNumber; installed { // before, its waves wait for them
		if enforced := guards.Unenforced(f.ObjectRequirements); enforced.Truth == machine.No {
			cause(machine.WaitingOnExternal, enforced.Reason)
		}
	}
	if len(d.Refused) > 0 {
		cause(machine.EphemeralError, strings.Join(guards.Texts(d.Refused), "; "))
	}
	if len(causes) == 0 {
		condition.Is, condition.Reason = true, machine.AsExpected
		seen := f.OlderSeen && d.Attempted && r.Failure == nil
		condition.Unsure = f.DesiredNumber != 0 && !seen
	}
	texts, tail := causes, ""
	if len(d.Retained) > 0 {
		texts = append(texts, "kept for the data in them: "+strings.Join(guards.Texts(d.Retained), "; "))
		tail = deleteConsentText(d.Retained, d.Acts)
	}
	condition.Message = clipBefore(strings.Join(texts, "; "), tail)
	return condition
}

// leaveText says how definitions that are in the way are left to their owners, empty if there are none.
func leaveText(collisions []guards.Collision) string {
	var names []string
	for _, c := range collisions {
		if name, is := strings.CutPrefix(c.Object, "CustomResourceDefinition "); is {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("; to leave it to its owner, list it in spec.unmanagedCustomResourceDefinitions of ClusterAPI %s: %s", phases.Singleton, strings.Join(names, ", "))
}

// maxVoid bounds what is said of a consent that is void.
const maxVoid = 128

// deleteConsentText says what deletes retained objects with the data in them, and what to do before where nobody can count
// that, since to the loss of it nobody can consent; and why a consent that is given does not count.
func deleteConsentText(retained []guards.RetainedObject, asked []guards.Act) string {
	text, uncounted := "; delete the data", 0
	for _, r := range retained {
		if r.Uncounted() {
			uncounted++
		}
	}
	if uncounted > 0 {
		text += ", or repair what keeps it from being counted"
	}
	if uncounted < len(retained) {
		text += ", or consent to lose it: capstan consent"
	}
	for _, act := range asked {
		if act.Name == acts.ConsentToDelete && act.Void != "" {
			text += fmt.Sprintf(" (the consent that is given is void: %s)", machine.Shorten(act.Void, maxVoid))
		}
	}
	return text
}
