package openshiftcontrolplane

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/api/v1alpha1"
)

// ConfigWaits is what the config of a control-plane machine waits for or has failed by, empty for nothing. Of one that is on its way, of one
// whose Machine is still to come, and of a worker's, it tells nothing. One that is Pending and has its Machine is made of something that
// could not be read.
func ConfigWaits(config *v1alpha1.OpenShiftConfig) string {
	if is(config.Status.Initialization.DataSecretCreated) || config.Spec.Role == v1alpha1.WorkerRole {
		return ""
	}
	switch config.Status.State {
	case "Pending":
		if owner := metav1.GetControllerOfNoCopy(config); owner != nil && owner.Kind == "Machine" {
			return config.Status.Waits
		}
	case "AwaitingPayload", "Failed":
		return config.Status.Waits
	}
	return ""
}
