package openshiftcontrolplane

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ConflictError says that an object has a name of ours and another owner. It is not overwritten; somebody has to delete or rename it,
// so trying again soon does not help.
type ConflictError struct {
	Kind  string
	Key   client.ObjectKey
	Owner string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s %s is there already, and does not belong to OpenShiftControlPlane %s: delete it, or give the OpenShiftControlPlane another name", e.Kind, e.Key, e.Owner)
}

// Terminal says that it does not heal by itself.
func (*ConflictError) Terminal() bool { return true }
