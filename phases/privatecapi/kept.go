package privatecapi

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
)

// lockFields are the annotations of a lock as managedFields name them.
var lockFields = []string{"f:" + guards.MigrationAnnotation, "f:" + guards.CompanionAnnotation}

// Keep leaves of a HostedCluster what watches have to show: its metadata, with who has set the lock, and the condition that tells of
// the machine. All else is read when it is needed.
func Keep(o *unstructured.Unstructured) {
	delete(o.Object, "spec")
	condition := conditionOf(o)
	if delete(o.Object, "status"); condition != nil {
		o.Object["status"] = map[string]any{"conditions": []any{condition}}
	}
	metadata, _ := o.Object["metadata"].(map[string]any)
	var kept []any
	for _, entry := range lockEntries(o) {
		fields := map[string]any{}
		for _, name := range lockFields {
			if owns(entry, name) {
				fields[name] = map[string]any{}
			}
		}
		kept = append(kept, map[string]any{"manager": entry["manager"], "fieldsV1": map[string]any{"f:metadata": map[string]any{"f:annotations": fields}}})
	}
	if delete(metadata, "managedFields"); len(kept) > 0 {
		metadata["managedFields"] = kept
	}
}

// conditionOf is the condition that tells of the machine, nil for none.
func conditionOf(o *unstructured.Unstructured) map[string]any {
	list, _, _ := unstructured.NestedFieldNoCopy(o.Object, "status", "conditions")
	conditions, _ := list.([]any)
	for _, item := range conditions {
		if one, _ := item.(map[string]any); one["type"] == Condition {
			return one
		}
	}
	return nil
}

// lockEntries are the entries of managedFields that have an annotation of a lock.
func lockEntries(o *unstructured.Unstructured) []map[string]any {
	list, _, _ := unstructured.NestedFieldNoCopy(o.Object, "metadata", "managedFields")
	entries, _ := list.([]any)
	var found []map[string]any
	for _, item := range entries {
		entry, _ := item.(map[string]any)
		if slices.ContainsFunc(lockFields, func(name string) bool { return owns(entry, name) }) {
			found = append(found, entry)
		}
	}
	return found
}

func owns(entry map[string]any, field string) bool {
	_, is, _ := unstructured.NestedFieldNoCopy(entry, "fieldsV1", "f:metadata", "f:annotations", field)
	return is
}

// lockedBy names the field managers that have set the lock; empty where nobody says. A client chooses its own name, so it proves nothing.
func lockedBy(o *unstructured.Unstructured) string {
	var names []string
	for _, entry := range lockEntries(o) {
		if name, _ := entry["manager"].(string); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
