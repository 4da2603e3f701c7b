package openshiftcontrolplane

import "github.com/capstan-capi/capstan/api/v1alpha1"

// ConfigWaits is what the config of a control-plane machine waits for or has failed by, empty for nothing. Of one that is on its way, and of
// a worker's, it tells nothing.
func ConfigWaits(config *v1alpha1.OpenShiftConfig) string {
	if is(config.Status.Initialization.DataSecretCreated) || config.Spec.Role == v1alpha1.WorkerRole {
		return ""
	}
	switch config.Status.State {
	case "AwaitingPayload", "Failed":
		return config.Status.Waits
	}
	return ""
}
