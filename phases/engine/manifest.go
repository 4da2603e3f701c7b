package engine

import (
	"runtime"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// manifest is one object of a revision: packed, and what a plan has to know of it without unpacking it.
type manifest struct {
	key   Key
	fault string // why it can never be applied as it stands, or nothing
	policy
	defines    schema.GroupKind // of a CRD
	namespaced bool             // of a CRD: what it defines
	packed     packed           // cleaned
}

func manifestOf(obj *unstructured.Unstructured) *manifest {
	m := &manifest{key: KeyOf(obj), fault: faultOf(obj), packed: pack(jsonOf(cleaned(obj.Object)))}
	if asked, fault := policyOf(obj); m.fault == "" {
		m.policy, m.fault = asked, fault
	}
	if m.key.isCRD() {
		m.defines.Group, _, _ = unstructured.NestedString(obj.Object, "spec", "group")
		m.defines.Kind, _, _ = unstructured.NestedString(obj.Object, "spec", "names", "kind")
		scope, _, _ := unstructured.NestedString(obj.Object, "spec", "scope")
		m.namespaced = scope == "Namespaced"
	}
	return m
}

// Packed is the component with its objects compressed, which makes them tens of times smaller. It is for callers that
// keep a revision: the objects themselves can then be dropped.
func (c Component) Packed() Component { return Component{Name: c.Name, packed: c.manifests()} }

// Keys are the keys of all objects of the component, in the order in which they were given.
func (c Component) Keys() []Key {
	keys := make([]Key, 0, len(c.packed)+len(c.Objects))
	for _, m := range c.packed {
		keys = append(keys, m.key)
	}
	for _, obj := range c.Objects {
		keys = append(keys, KeyOf(obj))
	}
	return keys
}

// Object is a copy of one object of the revision, as it is sent but for our marks; nil if there is none of that key.
func (r *Revision) Object(key Key) *unstructured.Unstructured {
	for _, c := range r.Components {
		for _, m := range c.packed {
			if m.key == key {
				return m.packed.unpack()
			}
		}
		for _, obj := range c.Objects {
			if KeyOf(obj) == key {
				return (&unstructured.Unstructured{Object: cleaned(obj.Object)}).DeepCopy()
			}
		}
	}
	return nil
}

func (c Component) manifests() []*manifest {
	all := make([]*manifest, len(c.packed)+len(c.Objects))
	copy(all, c.packed)
	parallel(runtime.GOMAXPROCS(0), c.Objects, func(i int, obj *unstructured.Unstructured) {
		all[len(c.packed)+i] = manifestOf(obj)
	})
	return all
}

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
	if !hollow(obj.Object["status"]) {
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

// hollow says that there is nothing in a value but empty values, as in the status that code generators write.
func hollow(v any) bool {
	switch w := v.(type) {
	case map[string]any:
		for _, child := range w {
			if !hollow(child) {
				return false
			}
		}
		return true
	case []any:
		return !slices.ContainsFunc(w, func(item any) bool { return !hollow(item) })
	}
	return empty(v)
}
