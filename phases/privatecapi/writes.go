package privatecapi

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
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

// send makes the writes of a plan one after the other. What somebody else has changed meanwhile ends it, and so does an API server
// that does not answer: the next pass makes another plan from what is there then. Nil writes are left out.
//
// A lock of ours that lacks the annotation that all operators see gets that back before anything else is written.
func (p *Pass) send(ctx context.Context, what string, plan ...*Write) (machine.Result, error) {
	if p.lacksLock() {
		what, plan = "locking again", []*Write{p.mark(map[string]any{guards.MigrationAnnotation: guards.MarkTrue})}
	}
	sent := 0
	for _, w := range plan {
		if w == nil {
			continue
		}
		_, err := p.API.Write(ctx, *w)
		if err == nil {
			sent++
			continue
		}
		if result, err := p.stops(w, err); err != nil || result.LookAgain > 0 {
			return result, err
		}
	}
	return done(sent, what), nil
}

// lacksLock says that a lock of ours lacks the annotation that all operators see. Then a work sends nothing but that.
func (p *Pass) lacksLock() bool { return p.stage() != guards.NoStage && !p.facts.Marks.Migrating }

// stops says what comes of a write that met an error: nothing if that says what was wanted, another look for what heals by itself,
// and the error otherwise, which is terminal for what the API server will refuse again.
func (p *Pass) stops(w *Write, err error) (machine.Result, error) {
	told := fmt.Sprintf("%s of %s %s", w.Verb, w.Kind.name(), w.Name)
	switch {
	case w.Verb == Delete && apierrors.IsNotFound(err):
		return machine.Result{}, nil
	case apierrors.IsConflict(err), apierrors.IsNotFound(err), apierrors.IsAlreadyExists(err):
		return machine.Result{Did: told + ": it had changed", LookAgain: soon}, nil
	case isAway(err):
		p.outage(p.Key, p.record.Since, err, nil)
		return machine.Result{Did: told + ": no answer", LookAgain: soon}, nil
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return machine.Result{}, machine.Terminal(fmt.Errorf("%s: %w", told, err))
	}
	return machine.Result{}, fmt.Errorf("%s: %w", told, err)
}
