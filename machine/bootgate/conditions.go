package bootgate

import (
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/bootgate"
)

// The conditions of the MachineConfiguration, and the reason of targets that do not move.
const (
	UpdateProgressing = "BootImageUpdateProgressing"
	UpdateDegraded    = "BootImageUpdateDegraded"
	UpdateSkipped     = "BootImageUpdateSkipped"
	// Others begins their names where somebody else reports on the Machine API by them.
	Others = "ClusterAPI"

	// Skipped is the reason of targets that are skipped.
	Skipped = "Skipped"
)

// howMore ends a message that has no room for all.
const howMore = "; capstan status boot-images tells of each"

// Conditions derives what the ClusterOperator says: how the gate stands, and whether targets move or are stuck.
func Conditions(s phases.Snapshot) []phases.Condition {
	progressing, degraded := both(s)
	upgradeable := phases.Condition{Type: Controller + "Upgradeable", Is: true, Reason: machine.AsExpected, Unsure: true}
	if judged := s.Seen.Upgradeable; judged != nil {
		upgradeable = phases.Condition{Type: upgradeable.Type, Is: judged.Is, Reason: judged.Reason, Message: judged.Message}
		if judged.Is {
			upgradeable.Reason = machine.AsExpected
		}
	}
	progressing.Type, degraded.Type = Controller+"Progressing", Controller+"Degraded"
	// Right after a start nobody knows yet how targets stand, and what was said before stays.
	progressing.Unsure, degraded.Unsure = !s.Seen.Targets.Sure && !progressing.Is, !s.Seen.Targets.Sure && !degraded.Is
	return []phases.Condition{progressing, degraded, upgradeable}
}

// ConfigConditions derives what the MachineConfiguration says.
func ConfigConditions(s phases.Snapshot) []phases.Condition {
	progressing, degraded := both(s)
	skipped := phases.Condition{Reason: machine.AsExpected, Type: UpdateSkipped}
	if told := s.Seen.Targets.Skipped; len(told) > 0 {
		skipped.Is, skipped.Reason, skipped.Message = true, Skipped, phases.Texts(told)
	}
	progressing.Type, degraded.Type = UpdateProgressing, UpdateDegraded
	all := []phases.Condition{progressing, degraded, skipped}
	if !s.Seen.Ours {
		for i := range all {
			all[i].Type = Others + all[i].Type
		}
	}
	return all
}

// both are how gate and targets together progress and fail, without types. A target that is stuck is told before the gate:
// it waits for somebody.
func both(s phases.Snapshot) (progressing, degraded phases.Condition) {
	reads, line, targets := Table.Readings(s.Record, s.Facts)[Controller], Line(s), s.Seen.Targets
	progressing = phases.Condition{Is: reads.Progressing, Reason: reads.Reason, Message: line}
	if targets.All().Working > 0 && !reads.Progressing {
		progressing.Is, progressing.Reason = true, machine.Progressing
	}
	degraded = phases.Condition{Is: reads.Degraded, Reason: machine.AsExpected}
	if reads.Degraded {
		degraded.Reason, degraded.Message = reads.Reason, line
	}
	if len(targets.Stuck) > 0 {
		if !degraded.Is {
			degraded.Is, degraded.Reason = true, machine.EphemeralError
		}
		degraded.Message = clipBefore(join(phases.Texts(targets.Stuck), degraded.Message), howMore)
	}
	return progressing, degraded
}

func join(one, other string) string {
	if one == "" || other == "" {
		return one + other
	}
	return one + "; " + other
}
