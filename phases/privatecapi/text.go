package privatecapi

import (
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
)

// Ours is what the names of all annotations of this programme begin with.
const Ours = "capstan.openshift.io/"

// What undoing needs stands on the object itself, and is written with what makes it needed.
const (
	// PriorPause is what spec.paused of a Cluster was before it was paused here: absent or false.
	PriorPause = Ours + "prior-pause"
	// PriorReplicas and PriorTemplate are those of a Deployment.
	PriorReplicas = Ours + "prior-replicas"
	PriorTemplate = Ours + "prior-template"
)

// rename maps a group, with or without a version after a slash.
type rename func(groupVersion string) string

// renamed is a copy of a value in which groups are mapped at the places where Cluster API's objects have them.
func renamed(value any, to rename) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, inner := range v {
			text, is := inner.(string)
			switch {
			case (key == "apiVersion" || key == "apiGroup") && is:
				out[key] = to(text)
			case key == "labels" || key == "annotations" || key == "fieldsV1":
				out[key] = cloned(inner)
			default:
				out[key] = renamed(inner, to)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = renamed(v[i], to)
		}
		return out
	}
	return value
}

func cloned(value any) any {
	if m, is := value.(map[string]any); is {
		return (&unstructured.Unstructured{Object: m}).DeepCopy().Object
	}
	return value
}

// reUID replaces UIDs that are values of the key uid.
func reUID(value any, by map[types.UID]types.UID) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			text, is := inner.(string)
			if to, known := by[types.UID(text)]; key == "uid" && is && known {
				v[key] = string(to)
				continue
			}
			v[key] = reUID(inner, by)
		}
	case []any:
		for i := range v {
			v[i] = reUID(v[i], by)
		}
	}
	return value
}

// serverFields are those of metadata that the API server sets by itself.
var serverFields = []string{"uid", "resourceVersion", "generation", "creationTimestamp", "selfLink", "managedFields", "deletionTimestamp", "deletionGracePeriodSeconds"}

// copyOf is what is created for an object on the other side: all of it but what the API server sets by itself. The status is left
// out where it has a subresource. Owners that are not in uids keep theirs.
func copyOf(object *unstructured.Unstructured, to rename, uids map[types.UID]types.UID, apiVersion string, status bool) map[string]any {
	body, _ := renamed(object.Object, to).(map[string]any)
	body, _ = reUID(body, uids).(map[string]any)
	body["apiVersion"] = apiVersion
	metadata, _ := body["metadata"].(map[string]any)
	for _, field := range serverFields {
		delete(metadata, field)
	}
	if status {
		delete(body, "status")
	}
	if annotations, is := metadata["annotations"].(map[string]any); is {
		delete(annotations, guards.CopiedToAnnotation) // it is of the object that this is a copy of
	}
	setAnnotation(metadata, guards.MigratedFromAnnotation, string(object.GetUID()))
	return body
}

func setAnnotation(metadata map[string]any, key, value string) {
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
		metadata["annotations"] = annotations
	}
	annotations[key] = value
}

// statusOf is the status of an object as its copy is to have it, nil for none. An observedGeneration, which is a number of another
// object, is carried as current or behind.
func statusOf(object *unstructured.Unstructured, to rename, uids map[types.UID]types.UID, generation int64) map[string]any {
	raw, is := object.Object["status"].(map[string]any)
	if !is {
		return nil
	}
	status, _ := reUID(renamed(raw, to), uids).(map[string]any)
	observed(status, func(seen int64) any {
		if seen >= object.GetGeneration() {
			return generation
		}
		return max(generation-1, 0)
	})
	return status
}

// observed replaces each observedGeneration of a status.
func observed(value any, by func(int64) any) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if seen, is := integer(inner); key == "observedGeneration" && is {
				v[key] = by(seen)
				continue
			}
			observed(inner, by)
		}
	case []any:
		for i := range v {
			observed(v[i], by)
		}
	}
}

func integer(value any) (int64, bool) {
	switch n := value.(type) {
	case int64:
		return n, true
	case float64:
		return int64(n), true
	}
	return 0, false
}

// essence is what of an object has to be equal on both sides: in the text of one side, with the UIDs of that side's objects,
// without what the API server sets and what this programme has put there.
func essence(object *unstructured.Unstructured, to rename, uids map[types.UID]types.UID) map[string]any {
	body, _ := reUID(renamed(object.Object, to), uids).(map[string]any)
	if status, is := body["status"]; is {
		observed(status, func(seen int64) any { return seen >= object.GetGeneration() })
		if empty, is := status.(map[string]any); is && len(empty) == 0 {
			delete(body, "status")
		}
	}
	delete(body, "apiVersion") // two sides may serve different versions of what is stored
	metadata, _ := body["metadata"].(map[string]any)
	for _, field := range serverFields {
		delete(metadata, field)
	}
	if annotations, is := metadata["annotations"].(map[string]any); is {
		maps.DeleteFunc(annotations, func(key string, _ any) bool { return isOurs(key) })
	}
	for key, value := range metadata {
		if empty(value) {
			delete(metadata, key)
		}
	}
	return body
}

// isOurs says that an annotation is of this programme.
func isOurs(key string) bool { return strings.HasPrefix(key, Ours) }

func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

func same(one, other map[string]any) bool { return reflect.DeepEqual(one, other) }

// differing are the top parts in which two essences differ, such as metadata.labels or spec, for people.
func differing(one, other map[string]any) []string {
	var parts []string
	for _, key := range keysOf(one, other) {
		if reflect.DeepEqual(one[key], other[key]) {
			continue
		}
		a, isMap := one[key].(map[string]any)
		b, areMaps := other[key].(map[string]any)
		if !isMap || !areMaps {
			parts = append(parts, key)
			continue
		}
		for _, inner := range keysOf(a, b) {
			if !reflect.DeepEqual(a[inner], b[inner]) {
				parts = append(parts, key+"."+inner)
			}
		}
	}
	return parts
}

func keysOf(one, other map[string]any) []string {
	all := map[string]bool{}
	for key := range one {
		all[key] = true
	}
	for key := range other {
		all[key] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// managersOf are the managedFields of an object as its copy is to have them, whose kind is served in some versions. An API server
// keeps none of them where one is of another version.
func managersOf(object *unstructured.Unstructured, to rename, served []string) []any {
	entries, _ := renamed(object.Object["metadata"], to).(map[string]any)
	list, _ := entries["managedFields"].([]any)
	return slices.DeleteFunc(slices.Clone(list), func(entry any) bool {
		one, _ := entry.(map[string]any)
		apiVersion, _ := one["apiVersion"].(string)
		return one["manager"] == Manager || !slices.Contains(served, path.Base(apiVersion))
	})
}

// owners are the owner references of an object, as they are stored.
func owners(object *unstructured.Unstructured) []metav1.OwnerReference {
	return object.GetOwnerReferences()
}

// groupOf is the group of an apiVersion.
func groupOf(apiVersion string) string {
	if group, _, in := strings.Cut(apiVersion, "/"); in {
		return group
	}
	return ""
}
