package openshiftconfig

import (
	guards "github.com/capstan-capi/capstan/guards/openshiftconfig"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftconfig"
	"github.com/capstan-capi/capstan/phases/standing"
)

// The conditions of an OpenShiftConfig. Cluster API's own bootstrap configs have the same.
const (
	Ready               = "Ready"
	DataSecretAvailable = "DataSecretAvailable"
	Paused              = "Paused"
)

// Conditions derives what people and other controllers are told of an OpenShiftConfig.
func Conditions(s phases.Snapshot) []phases.Condition {
	ready := machine.SayNo(s.Record.Reason)
	switch state := s.Record.State; {
	case state == guards.Ready, state == guards.Frozen, guards.BootHasBegun.Answer(s.Facts).Truth == machine.Yes:
		ready = machine.SayYes("")
	case state == guards.Failed:
		if f := s.Record.Failure; f != nil {
			ready = machine.SayNo(f.Message)
		}
	}
	return []phases.Condition{
		standing.Answered(Ready, ready),
		standing.Answered(DataSecretAvailable, available(s.Facts)),
		standing.Answered(Paused, guards.IsPaused.Answer(s.Facts)),
	}
}

// available says whether the data Secret is there. Of one that a machine was started with nobody looks any more.
func available(f guards.Facts) machine.Answer {
	if guards.BootHasBegun.Answer(f).Truth == machine.Yes {
		return machine.SayYes("")
	}
	if f.Payload.Known && !f.Payload.There {
		return machine.SayNo(f.Payload.Missing)
	}
	if owned := guards.OwnerIsSet.Answer(f); owned.Truth != machine.Yes {
		return owned
	}
	return guards.SecretIsRight.Answer(f)
}
