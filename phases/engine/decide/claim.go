package decide

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// CollisionProtection is what a manifest allows to be done with an object that exists and is not ours. Each value allows
// what those before it do.
type CollisionProtection int

const (
	// CollisionProtectionPrevent leaves the object alone.
	CollisionProtectionPrevent CollisionProtection = iota
	// CollisionProtectionIfNoController adopts the object unless a controller owns it.
	CollisionProtectionIfNoController
	// CollisionProtectionNone adopts the object from its controller too.
	CollisionProtectionNone
	// anotherInstallation is more than any manifest can ask for: the object belongs to another installation.
	anotherInstallation
)

// collisionProtections are the values of AdoptAnnotation.
var collisionProtections = map[string]CollisionProtection{
	"": CollisionProtectionPrevent, AdoptAlways: CollisionProtectionIfNoController, AdoptForce: CollisionProtectionNone,
}

// Claim says whose an object is.
type Claim struct {
	Owner  string              // empty: ours
	Needs  CollisionProtection // of an object that is not ours: what a manifest has to allow for it to be adopted
	Number int64               // the revision number on the object, 0 for none or one that cannot be read

	text       string // the revision number as it stands there
	identified bool   // the object has our identity
}

// ClaimOf reads the marks of an object. The identity decides. Where it is missing, managedFields show whether it was lost
// or never there: a number alone proves nothing. A foreign controller always wins.
func ClaimOf(actual *unstructured.Unstructured, us Identity) Claim {
	annotations := actual.GetAnnotations()
	c := Claim{text: annotations[RevisionAnnotation]}
	if number, err := strconv.ParseInt(c.text, 10, 64); err == nil && number > 0 && number <= MaxNumber {
		c.Number = number
	}
	identity := annotations[OwnerAnnotation]
	c.identified = identity == us.Owner
	if identity != "" && identity != us.Owner {
		c.Needs = anotherInstallation
	}
	if ref := metav1.GetControllerOfNoCopy(actual); ref != nil {
		c.Owner, c.Needs = fmt.Sprintf("its controller %s %s", ref.Kind, ref.Name), max(c.Needs, CollisionProtectionNone)
		return c
	}
	switch {
	case c.Needs == anotherInstallation:
		c.Owner = fmt.Sprintf("the installation %q", identity)
	case identity == "" && !us.manages(actual) && !us.Numbered(actual):
		c.Owner, c.Needs = managersOf(actual), CollisionProtectionIfNoController
	}
	return c
}

func (us Identity) manages(actual *unstructured.Unstructured) bool {
	return slices.ContainsFunc(actual.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == us.FieldManager && e.Subresource == ""
	})
}

// managersOf names who wrote an object without a controller.
func managersOf(actual *unstructured.Unstructured) string {
	var names []string
	for _, entry := range actual.GetManagedFields() {
		if entry.Subresource == "" && !slices.Contains(names, entry.Manager) {
			names = append(names, entry.Manager)
		}
	}
	if len(names) == 0 {
		return "an unknown writer"
	}
	return "field manager " + strings.Join(names, " and ")
}

// released are the owner references of an object with no controller among them any more.
func released(actual *unstructured.Unstructured) []metav1.OwnerReference {
	refs := actual.GetOwnerReferences()
	no := false
	for i := range refs {
		if refs[i].Controller != nil {
			refs[i].Controller = &no
		}
	}
	return refs
}
