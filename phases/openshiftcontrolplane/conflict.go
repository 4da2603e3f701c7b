package openshiftcontrolplane

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/standing"
)

// Conflict is the error of an object that has a name which an OpenShiftControlPlane needs, and is somebody else's.
func Conflict(kind string, key client.ObjectKey, plane string) *standing.ConflictError {
	return &standing.ConflictError{Kind: kind, Key: key.String(), OwnerKind: "OpenShiftControlPlane", Owner: plane}
}
