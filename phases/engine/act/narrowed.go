package act

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// Narrowed are the definitions of a revision that must not replace those that there are, by name, with what they would take of
// what is stored or used, as Reconcile refuses them. All are looked at before the first is written.
func (e *Engine) Narrowed(ctx context.Context, rev *decide.Revision) (map[string]string, error) {
	narrowed := map[string]string{}
	for _, component := range rev.Components {
		for _, key := range component.Keys() {
			if !key.IsCRD() || slices.Contains(rev.Unmanaged, key.Name) {
				continue
			}
			actual, err := e.dynamic.Resource(see.Builtin[see.CRDKind].GVR).Get(ctx, key.Name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", key, err)
			}
			why, _, err := e.unsafeUpdate(ctx, actual, rev.Object(key))
			if err != nil {
				return nil, fmt.Errorf("looking whether %s may be updated: %w", key, err)
			}
			if why != "" {
				narrowed[key.Name] = why
			}
		}
	}
	return narrowed, nil
}
