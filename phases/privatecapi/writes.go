package privatecapi

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/machine"
)

// soon is after how long it is looked again where somebody else wrote at the same time, or where something comes by itself.
const soon = time.Second

// patchOf is a JSON merge patch that holds for an object as it was seen.
func patchOf(kind Kind, o *unstructured.Unstructured, body map[string]any) *Write {
	return &Write{
		Verb: Patch, Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(),
		UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(), Body: body,
	}
}

// annotate is a patch of annotations; a nil value removes one.
func annotate(kind Kind, o *unstructured.Unstructured, values map[string]any) *Write {
	return patchOf(kind, o, map[string]any{"metadata": map[string]any{"annotations": values}})
}

func deletionOf(kind Kind, o *unstructured.Unstructured) *Write {
	return &Write{Verb: Delete, Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID()}
}

// done counts the writes of a plan that were made.
func done(n int, what string) machine.Result {
	if n == 0 {
		return machine.Result{}
	}
	return machine.Result{Did: fmt.Sprintf("%s: %d written", what, n), LookAgain: time.Nanosecond}
}

// send makes the writes of a plan one after the other. What somebody else has changed meanwhile ends it: the next pass makes
// another plan from what is there then. Nil writes are left out.
func (p *Pass) send(ctx context.Context, what string, plan ...*Write) (machine.Result, error) {
	sent := 0
	for _, w := range plan {
		if w == nil {
			continue
		}
		_, err := p.API.Write(ctx, *w)
		switch {
		case err == nil:
			sent++
		case w.Verb == Delete && apierrors.IsNotFound(err):
		case apierrors.IsConflict(err), apierrors.IsNotFound(err), apierrors.IsAlreadyExists(err):
			return machine.Result{Did: fmt.Sprintf("%s: %d written, then %s had changed", what, sent, w.Name), LookAgain: soon}, nil
		default:
			return machine.Result{}, sendError(w, err)
		}
	}
	return done(sent, what), nil
}

// sendError is terminal for what the API server will refuse again.
func sendError(w *Write, err error) error {
	told := fmt.Errorf("%s of %s %s: %w", w.Verb, w.Kind.name(), w.Name, err)
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return machine.Terminal(told)
	}
	return told
}
