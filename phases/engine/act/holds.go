package act

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/report"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// Holds reads an object, and lists all that would be lost with it, by the same code as a teardown before it deletes one. The
// engine need not run.
func (e *Engine) Holds(ctx context.Context, key decide.Key) (*report.Loss, error) {
	client, served := e.holder(key)
	if !served {
		return nil, fmt.Errorf("an object of kind %s holds nothing that could be lost", key.GVK().GroupKind())
	}
	actual, err := client.Get(ctx, key.Name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", key, err)
	}
	loss := &report.Loss{Object: decide.HeldOf(key.GVK().GroupKind(), actual)}
	if !decide.HoldsData(key) && !decide.DeletesClaims(actual) {
		return loss, nil
	}
	loss.Contents, err = e.contentsOf(ctx, actual, nil, true)
	return loss, err
}

// holder is how to reach an object of a kind that may hold data, and false for one that does not.
func (e *Engine) holder(key decide.Key) (dynamic.ResourceInterface, bool) {
	for gvk, served := range see.Builtin {
		switch {
		case gvk.GroupKind() != key.GVK().GroupKind() || served.Namespaced != (key.Namespace != ""):
		case served.Namespaced:
			return e.dynamic.Resource(served.GVR).Namespace(key.Namespace), true
		default:
			return e.dynamic.Resource(served.GVR), true
		}
	}
	return nil, false
}
