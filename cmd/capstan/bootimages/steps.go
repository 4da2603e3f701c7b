package bootimages

import (
	"fmt"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/bootimage"
	phasesgate "github.com/capstan-capi/capstan/phases/bootgate"
	"github.com/capstan-capi/capstan/phases/golden"
)

// why is why a target is where it is, in the words of its machine.
func (t *target) why() string {
	record := t.shot.Record
	if record.Failure != nil {
		return record.Failure.Message
	}
	if record.State != table.Deciding {
		if why := table.Why(t.shot); why != "" {
			return why
		}
	}
	return guards.IsAsWanted.Answer(t.shot.Facts).Reason
}

// next is the step that a person can take about a target: the command where there is one.
func (l *Look) next(t *target) string {
	f, works := t.shot.Facts, l.worker().AtWork != machine.No
	if command := guards.Command(f); command != "" && t.shot.Record.State != table.Failed {
		return command
	}
	switch t.shot.Record.State {
	case table.Unenrolled:
		return l.enrol(t)
	case table.Excluded:
		return "do what the reason says; it goes on by itself then"
	case table.Current, table.Skipped, table.Deciding:
		if !f.Gate.Open {
			return "capstan explain boot-images: nothing is judged until the gate is open"
		}
	}
	switch t.shot.Record.State {
	case table.Current:
		return ""
	case table.Skipped:
		return "do what the reason says; it is looked at again by itself"
	case table.Deciding:
		if unread := t.unread(); unread != "" {
			return "ask for the right to get Secret " + f.Stub.Secret + ", or look as somebody who has it"
		}
	}
	switch {
	case !works:
		return "have the operator run again: kubectl get pods -n " + l.OperatorNamespace
	case t.shot.Record.State == table.Failed:
		return "mend what it says; it is tried again every 2 minutes, and as soon as an input changes"
	case t.shot.Record.State == table.HotLoop:
		return "have whoever changes it back stop that; it is looked at again by itself"
	}
	return "none: the operator is at it"
}

// enrol is how a target is opted in.
func (l *Look) enrol(t *target) string {
	f := t.shot.Facts
	switch {
	case !f.Enrolment.Known:
		return "capstan explain boot-images: it has to be known what is enrolled"
	case f.Enrolment.OtherCluster != "":
		return ""
	}
	switch t.shot.Seen.Target.Kind {
	case golden.CAPIMachineSets:
		return annotate(phasesgate.MachineSetsAnnotation)
	case golden.MachineDeployments:
		return annotate(phasesgate.MachineDeploymentsAnnotation)
	}
	return "kubectl edit machineconfiguration cluster: have an entry of spec.managedBootImages.machineManagers select it"
}

func annotate(annotation string) string {
	return fmt.Sprintf("kubectl annotate machineconfiguration cluster --overwrite %s=All (or a label selector)", annotation)
}
