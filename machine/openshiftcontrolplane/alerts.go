package openshiftcontrolplane

import (
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// Who is called to what. What a row stands for has lasted already where the table says so; the time here comes on top of it.
var (
	isStuck = machine.Alert{
		Name: "CapstanOpenShiftInstallStuck", Severity: machine.Warning, After: 10 * time.Minute,
		Summary: "The installation of an OpenShift cluster has failed, and its machines stay for debugging",
	}
	isDegraded = machine.Alert{
		Name: "CapstanOpenShiftControlPlaneDegraded", Severity: machine.Warning, After: 15 * time.Minute,
		Summary: "The control plane of an OpenShift cluster is not healthy",
	}
	isGoing = machine.Alert{
		Name: "CapstanOpenShiftDeletionStuck", Severity: machine.Warning, After: time.Hour,
		Summary: "The deletion of an OpenShift cluster waits for something that does not go",
	}
	expiresSoon = machine.Alert{
		Name: "CapstanOpenShiftKubeconfigExpiring", Severity: machine.Warning, After: time.Hour,
		Summary: "The kubeconfig of an OpenShift cluster expires within 30 days, and nobody has renewed it",
	}
	hasLeaked = machine.Alert{
		Name: "CapstanOpenShiftBootstrapLeaked", Severity: machine.Warning, After: time.Hour,
		Summary: "The bootstrap machine of an OpenShift cluster is still there, though nobody needs it",
	}
)
