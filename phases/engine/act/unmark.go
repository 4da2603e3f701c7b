package act

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// unmark removes our marks from the object that was decided on, and from no newer copy: label, annotations, and the
// ownership of the fields that we and our predecessors have applied. The values of the fields stay.
func (e *Engine) unmark(ctx context.Context, client dynamic.ResourceInterface, actual *unstructured.Unstructured) error {
	patch, err := decide.Unmark(actual, e.us)
	if err != nil {
		return fmt.Errorf("taking our marks off %s: %w", decide.KeyOf(actual), err)
	}
	_, err = client.Patch(ctx, actual.GetName(), types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: e.us.FieldManager})
	return err
}
