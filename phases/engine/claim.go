package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// claimant is who decides: the marks by which it tells its own objects from others'.
type claimant struct {
	owner  string
	legacy []string // field managers whose fields count as its own
}

// collisionMode is what a manifest allows to be done with an object that exists and is not ours. Each mode allows
// what those before it do.
type collisionMode int

const (
	prevent        collisionMode = iota // leave it alone
	ifNoController                      // take it over, unless a controller has it
	none                                // take it over from its controller too
	never                               // no manifest can ask for it: another installation's
)

// collisionModes are the values of AdoptAnnotation.
var collisionModes = map[string]collisionMode{"": prevent, adoptAlways: ifNoController, adoptForce: none}

// claim is whose an object is.
type claim struct {
	holder string        // empty: ours
	needs  collisionMode // of one that is not ours: the mode that takes it over
	number int64         // the revision number it carries, 0 for none or one that cannot be read
	text   string        // the number as it stands there

	identified bool // it carries our identity
}

// claimOf reads the marks of an object. The identity decides; where it is missing, the revision number or our field
// manager show that it was lost, not that the object is foreign. A foreign controller always wins.
func claimOf(actual *unstructured.Unstructured, owner string) claim {
	annotations := actual.GetAnnotations()
	c := claim{text: annotations[RevisionAnnotation]}
	if number, err := strconv.ParseInt(c.text, 10, 64); err == nil && number > 0 {
		c.number = number
	}
	identity := annotations[OwnerAnnotation]
	c.identified = identity == owner
	if identity != "" && identity != owner {
		c.needs = never
	}
	if ref := metav1.GetControllerOfNoCopy(actual); ref != nil {
		c.holder, c.needs = fmt.Sprintf("its controller %s %s", ref.Kind, ref.Name), max(c.needs, none)
		return c
	}
	switch {
	case c.needs == never:
		c.holder = fmt.Sprintf("the installation %q", identity)
	case identity == "" && c.number == 0 && !managedByUs(actual):
		c.holder, c.needs = managersOf(actual), ifNoController
	}
	return c
}

func managedByUs(actual *unstructured.Unstructured) bool {
	return slices.ContainsFunc(actual.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == FieldManager && e.Subresource == ""
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
