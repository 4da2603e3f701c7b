package harness

import (
	"context"
	_ "embed"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/deploy"
)

//go:embed constraint.yaml
var constraint []byte

// playConstraint has the API server do what OpenShift's admission of pods does.
// It is in force within seconds, which nobody waits for: what creates pods tries
// again.
func (e *Environment) playConstraint(ctx context.Context) error {
	objects, err := deploy.Parse(constraint)
	if err != nil {
		return fmt.Errorf("parsing the constraint: %w", err)
	}
	for _, object := range objects {
		err := e.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(fieldManager), client.ForceOwnership)
		if err != nil {
			return fmt.Errorf("applying %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}
