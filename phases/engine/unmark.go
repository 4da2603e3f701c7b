package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// unmark takes our marks off the object that was decided on, and off no newer copy: label, annotations, and the fields
// that we and our predecessors hold. What they say stays as it is.
func (e *Engine) unmark(ctx context.Context, client dynamic.ResourceInterface, actual *unstructured.Unstructured) error {
	patch, err := unmarked(actual, append([]string{FieldManager}, e.cfg.LegacyManagers...))
	if err != nil {
		return fmt.Errorf("taking our marks off %s: %w", KeyOf(actual), err)
	}
	_, err = client.Patch(ctx, actual.GetName(), types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: FieldManager})
	return err
}

// unmarked is the JSON patch that does it.
func unmarked(actual *unstructured.Unstructured, managers []string) ([]byte, error) {
	patch := []map[string]any{replaceVersion(actual)}
	if _, labelled := actual.GetLabels()[ManagedByLabel]; labelled {
		patch = append(patch, map[string]any{"op": "remove", "path": "/metadata/labels/" + escaped(ManagedByLabel)})
	}
	for _, annotation := range []string{RevisionAnnotation, OwnerAnnotation} {
		if _, annotated := actual.GetAnnotations()[annotation]; annotated {
			patch = append(patch, map[string]any{"op": "remove", "path": "/metadata/annotations/" + escaped(annotation)})
		}
	}
	entries := slices.DeleteFunc(actual.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return slices.Contains(managers, entry.Manager)
	})
	if len(entries) == 0 {
		entries = []metav1.ManagedFieldsEntry{{}} // the server takes an empty list for one that was not given
	}
	patch = append(patch, map[string]any{"op": "replace", "path": "/metadata/managedFields", "value": entries})
	return json.Marshal(patch)
}

// escaped is a key as JSON pointers write it (RFC 6901).
func escaped(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
