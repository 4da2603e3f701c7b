package decide

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Fault is why an object can never be applied as it stands. The zero value is none.
type Fault struct {
	Path  string // of the field, such as metadata.uid; empty for the object as a whole
	Cause string
}

// String is the fault in words, empty for none.
func (f Fault) String() string { return strings.TrimPrefix(f.Path+" "+f.Cause, " ") }

// FaultOf finds the first fault of a manifest. It asks for no more than the manifest itself, so that whoever renders or
// checks one can refuse what would be refused here.
func FaultOf(manifest *unstructured.Unstructured) Fault {
	if fault := contentFault(manifest); fault != (Fault{}) {
		return fault
	}
	_, fault := policyOf(manifest)
	return fault
}

// Faults are why a revision of these components can never be applied: faults of single objects, objects that are given
// twice in whatever version, and instances of the revision's own CRDs with a namespace that they cannot have, or without
// one. The scope of other kinds only the cluster knows. CRDs that are unmanaged are not looked at.
func Faults(components []Component, unmanaged []string) []string {
	var faults []string
	first := map[Key]string{}
	namespaced := map[schema.GroupKind]bool{}
	eachManaged(components, unmanaged, func(component string, m *Manifest) {
		if m.Fault != (Fault{}) {
			faults = append(faults, fmt.Sprintf("%s (component %s): %s", m.Key, component, m.Fault))
			return
		}
		if before, twice := first[m.Key.Identity()]; twice {
			faults = append(faults, fmt.Sprintf("%s is given twice, by component %s and by component %s", m.Key, before, component))
			return
		}
		first[m.Key.Identity()] = component
		if m.Key.IsCRD() {
			namespaced[m.Defines] = m.Namespaced
		}
	})
	eachManaged(components, unmanaged, func(component string, m *Manifest) {
		if inNamespace, ours := namespaced[m.Key.GVK().GroupKind()]; ours && m.Fault == (Fault{}) && inNamespace != (m.Key.Namespace != "") {
			faults = append(faults, fmt.Sprintf("%s (component %s): %v", m.Key, component, &ScopeError{Namespaced: inNamespace}))
		}
	})
	return faults
}

func eachManaged(components []Component, unmanaged []string, do func(component string, m *Manifest)) {
	for _, c := range components {
		for _, m := range c.Manifests() {
			if m.Fault != (Fault{}) || !m.Key.IsCRD() || !slices.Contains(unmanaged, m.Key.Name) {
				do(c.Name, m)
			}
		}
	}
}

// contentFault finds what no manifest may say.
func contentFault(obj *unstructured.Unstructured) Fault {
	switch {
	case obj.GetAPIVersion() == "" || obj.GetKind() == "":
		return Fault{Cause: "apiVersion or kind is empty"}
	case strings.HasSuffix(obj.GetKind(), "List") && obj.Object["items"] != nil:
		return Fault{Cause: "a list is not an object; give its items one by one"}
	case obj.GetName() == "":
		return Fault{"metadata.name", "is empty"}
	}
	meta, _ := obj.Object["metadata"].(map[string]any)
	for _, field := range [...]string{
		"generateName", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds", "finalizers", "ownerReferences", "managedFields", "selfLink",
	} {
		if !empty(meta[field]) {
			return Fault{"metadata." + field, "must not be set in a manifest: only a cluster can know it"}
		}
	}
	if !allEmpty(obj.Object["status"]) {
		return Fault{"status", "must not be set in a manifest: only a cluster can know it"}
	}
	if _, given := obj.GetLabels()[InventoryLabel]; given {
		return Fault{"metadata.labels." + InventoryLabel, "must not be set in a manifest: Capstan writes it"}
	}
	for _, annotation := range [...]string{RevisionAnnotation, OwnerAnnotation} {
		if _, given := obj.GetAnnotations()[annotation]; given {
			return Fault{annotationPath + annotation, "must not be set in a manifest: Capstan writes it"}
		}
	}
	return Fault{}
}

const annotationPath = "metadata.annotations."

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
