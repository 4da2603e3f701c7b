package openshiftcontrolplane

import (
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

// The conditions of an OpenShiftControlPlane. Those that KubeadmControlPlane has, too, have its names.
const (
	Available          = "Available"
	Initialized        = "Initialized"
	Remediating        = "Remediating"
	Deleting           = "Deleting"
	Paused             = "Paused"
	InputsValid        = "InputsValid"
	InputsDrifted      = "InputsDrifted"
	IgnitionAvailable  = "IgnitionAvailable"
	BootstrapComplete  = "BootstrapComplete"
	BootstrapRemoved   = "BootstrapRemoved"
	OperatorsAvailable = "OperatorsAvailable"
)

// told are the conditions that a question answers.
var told = []struct {
	condition string
	by        machine.Guard[guards.Facts]
}{
	{Available, guards.IsAvailable},
	{Initialized, guards.IsInitialized},
	{Deleting, guards.IsDeleting},
	{Paused, guards.IsPaused},
	{InputsValid, machine.Any(guards.InputsAreFrozen, guards.InputsAreResolved)}, // what becomes of frozen ones is a drift
	{InputsDrifted, guards.InputsHaveDrifted},
	{IgnitionAvailable, guards.PayloadStands},
	{BootstrapComplete, guards.IsFinished},
	{BootstrapRemoved, machine.All(guards.IsFinished, guards.BootstrapIsGone)},
	{OperatorsAvailable, guards.GuestIsHealthy},
}

// Conditions derives what people and other controllers are told of an OpenShiftControlPlane. Once the bootstrap is finished its payload
// is gone, and IgnitionAvailable is left out: what was said before stays.
func Conditions(s phases.Snapshot) []phases.Condition {
	var conditions []phases.Condition
	facts := phases.Standing(s)
	finished := facts.Reached().Finished
	for _, one := range told {
		if one.condition == IgnitionAvailable && finished {
			continue
		}
		conditions = append(conditions, condition(one.condition, one.by.Answer(facts)))
	}
	is := machine.SayNo("")
	if s.Record.State == guards.Remediating {
		is = machine.SayYes(s.Record.Reason)
	}
	return append(conditions, condition(Remediating, is))
}

// condition has a reason in the words of Cluster API: the condition's name, or that with Not or Unknown.
func condition(name string, answer machine.Answer) phases.Condition {
	c := phases.Condition{Type: name, Is: answer.Truth, Reason: name, Message: answer.Reason}
	switch answer.Truth {
	case machine.No:
		c.Reason = "Not" + name
	case machine.Unknown:
		c.Reason = name + "Unknown"
	}
	return c
}
