package decide

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Unmark is the JSON patch that takes our marks off an object: label, annotations, and our fields.
func Unmark(actual *unstructured.Unstructured, us Identity) ([]byte, error) {
	patch := []map[string]any{bindVersion(actual)}
	if _, labelled := actual.GetLabels()[ManagedByLabel]; labelled {
		patch = append(patch, map[string]any{"op": "remove", "path": "/metadata/labels/" + escaped(ManagedByLabel)})
	}
	for _, annotation := range []string{RevisionAnnotation, OwnerAnnotation} {
		if _, annotated := actual.GetAnnotations()[annotation]; annotated {
			patch = append(patch, map[string]any{"op": "remove", "path": "/metadata/annotations/" + escaped(annotation)})
		}
	}
	entries := slices.DeleteFunc(actual.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == us.FieldManager || slices.Contains(us.Legacy, entry.Manager)
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
