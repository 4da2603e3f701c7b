package openshiftcontrolplane

import (
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/standing"
)

// The conditions of an OpenShiftControlPlane. Those that KubeadmControlPlane has, too, have its names.
const (
	Available             = "Available"
	Initialized           = "Initialized"
	CertificatesAvailable = "CertificatesAvailable"
	EtcdClusterHealthy    = "EtcdClusterHealthy"
	MachinesReady         = "MachinesReady"
	MachinesUpToDate      = "MachinesUpToDate"
	RollingOut            = "RollingOut"
	ScalingUp             = "ScalingUp"
	ScalingDown           = "ScalingDown"
	Remediating           = "Remediating"
	Deleting              = "Deleting"
	Paused                = "Paused"
	InputsValid           = "InputsValid"
	InputsDrifted         = "InputsDrifted"
	IgnitionAvailable     = "IgnitionAvailable"
	KubeconfigAvailable   = "KubeconfigAvailable"
	BootstrapComplete     = "BootstrapComplete"
	BootstrapRemoved      = "BootstrapRemoved"
	OperatorsAvailable    = "OperatorsAvailable"
)

// told are the conditions that a question answers.
var told = []struct {
	condition string
	by        machine.Guard[guards.Facts]
}{
	{Available, guards.IsAvailable},
	{Initialized, guards.IsInitialized},
	{CertificatesAvailable, guards.CertificatesStand},
	{EtcdClusterHealthy, guards.EtcdIsHealthy},
	{MachinesReady, guards.MachinesAreReady},
	{MachinesUpToDate, guards.MachinesAreUpToDate},
	{ScalingUp, guards.IsScalingUp},
	{ScalingDown, guards.IsScalingDown},
	{Deleting, guards.IsDeleting},
	{Paused, guards.IsPaused},
	{InputsValid, machine.Any(guards.InputsAreFrozen, guards.InputsAreResolved)}, // what becomes of frozen ones is a drift
	{InputsDrifted, guards.InputsHaveDrifted},
	{IgnitionAvailable, guards.PayloadStands},
	{KubeconfigAvailable, guards.KubeconfigStands},
	{BootstrapComplete, guards.IsFinished},
	{BootstrapRemoved, machine.All(guards.IsFinished, guards.BootstrapIsGone)},
	{OperatorsAvailable, guards.GuestIsHealthy},
}

// Conditions derives what people and other controllers are told of an OpenShiftControlPlane. Once the bootstrap is finished its payload
// is gone, and IgnitionAvailable is of masters and workers. ControlPlaneComponentsHealthy of KubeadmControlPlane is not there: it tells of
// static pods that are of OpenShift's operators here, which OperatorsAvailable tells of. No Machine is ever replaced for being out of date,
// so that RollingOut is never True.
func Conditions(s phases.Snapshot) []phases.Condition {
	var conditions []phases.Condition
	facts := phases.Standing(s)
	for _, one := range told {
		c := standing.Answered(one.condition, one.by.Answer(facts))
		if log := facts.Payload.Log; one.condition == IgnitionAvailable && c.Is != machine.Yes && log != "" {
			c.Tail = "; the log of the installer's last attempt that has failed ends in:\n" + log
		}
		conditions = append(conditions, c)
	}
	is := machine.SayNo("")
	if s.Record.State == guards.Remediating {
		is = machine.SayYes(s.Record.Reason)
	}
	return append(conditions, standing.Answered(Remediating, is), standing.Answered(RollingOut, machine.SayNo("")))
}
