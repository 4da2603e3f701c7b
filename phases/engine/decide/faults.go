package decide

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// faultOf says why an object can never be applied as it stands, or nothing.
func faultOf(obj *unstructured.Unstructured) string {
	switch {
	case obj.GetAPIVersion() == "" || obj.GetKind() == "":
		return "apiVersion or kind is empty"
	case strings.HasSuffix(obj.GetKind(), "List") && obj.Object["items"] != nil:
		return "a list is not an object; give its items one by one"
	case obj.GetName() == "":
		return "metadata.name is empty"
	}
	meta, _ := obj.Object["metadata"].(map[string]any)
	for _, field := range [...]string{
		"generateName", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds", "finalizers", "ownerReferences", "managedFields", "selfLink",
	} {
		if !empty(meta[field]) {
			return "metadata." + field + " must not be set in a manifest"
		}
	}
	if !allEmpty(obj.Object["status"]) {
		return "status must not be set in a manifest"
	}
	if _, given := obj.GetLabels()[InventoryLabel]; given {
		return "label " + InventoryLabel + " must not be set in a manifest"
	}
	for _, annotation := range [...]string{RevisionAnnotation, OwnerAnnotation} {
		if _, given := obj.GetAnnotations()[annotation]; given {
			return "annotation " + annotation + " must not be set in a manifest"
		}
	}
	return ""
}

// allEmpty says that there is nothing in a value but empty values, as in the status that code generators write.
func allEmpty(v any) bool {
	switch w := v.(type) {
	case map[string]any:
		for _, child := range w {
			if !allEmpty(child) {
				return false
			}
		}
		return true
	case []any:
		return !slices.ContainsFunc(w, func(item any) bool { return !allEmpty(item) })
	}
	return empty(v)
}
