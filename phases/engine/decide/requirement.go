package decide

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Requirement is a CompatibilityRequirement of a revision that is about one CustomResourceDefinition, as both were seen.
type Requirement struct {
	Key   Key
	About string // the name of the definition
	// Absent says why there is no such requirement, Unseen why nothing is known of one of the two; both empty if both were
	// looked for and the requirement is as the revision has it.
	Absent, Unseen string
	// Object is the requirement without its spec, nil if it is not known. Definition is likewise, and nil if there is none.
	Object, Definition *unstructured.Unstructured
}

// requiredOf is the name of the definition that a requirement is about, empty for any other object.
func requiredOf(manifest *unstructured.Unstructured) string {
	if key := KeyOf(manifest); key.Group != "apiextensions.openshift.io" || key.Kind != "CompatibilityRequirement" {
		return ""
	}
	return manifest.GetAnnotations()[RequiredAnnotation]
}

// Ours says that an object carries our identity or fields that we have applied, and not the identity of another installation.
func (us Identity) Ours(actual *unstructured.Unstructured) bool {
	identity := actual.GetAnnotations()[OwnerAnnotation]
	return identity == us.Owner || identity == "" && slices.ContainsFunc(actual.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == us.FieldManager
	})
}
