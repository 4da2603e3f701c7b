package engine

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// The actions that only the removal of an orphan takes, besides Terminating, Pending and Failed.
const (
	Deleted    Action = "Deleted"    // is gone by our hand, or was asked to go
	Absent     Action = "Absent"     // is not there
	HandedOver Action = "HandedOver" // a live or newer revision has it
	Foreign    Action = "Foreign"    // is not this installation's any more, left alone
	Orphaned   Action = "Orphaned"   // administrators manage it from now on: our marks are taken off, the rest stays
	Retained   Action = "Retained"   // holds data of users
)

// condemned is an orphan with everything that its fate depends on.
type condemned struct {
	key       Key
	component string
	uid       types.UID // empty if it was never known
	last      int       // wave with which its component was complete
	wanted    string    // the live revision that has it, empty if none
	unmanaged bool      // the kept revision leaves it to administrators

	served bool                       // its kind is
	actual *unstructured.Unstructured // nil: it is not there
	held   *holding                   // nil as long as nobody looked
}

// holding is what would be lost with an object.
type holding struct {
	count int64  // 0 when it is not known
	what  string // in words, empty for nothing
}

// fate is what is to become of an orphan.
type fate struct {
	action Action
	why    string
}

// fate is the decision about one orphan, from what is known of it alone: keep is the number of the revision that
// stays, consented says that data goes with what holds it. What could hold data is deleted only once it was looked at.
func (c condemned) fate(keep int64, owner string, consented bool) fate {
	switch {
	case c.wanted != "":
		return fate{HandedOver, "revision " + c.wanted + " has it"}
	case !c.served:
		return fate{Absent, "its kind is not served"}
	case c.actual == nil:
		return fate{Absent, ""}
	}
	claim := claimOf(c.actual, owner)
	ours := c.actual.GetAnnotations()[OwnerAnnotation] == owner
	switch {
	case claim.holder != "":
		return fate{Foreign, "belongs to " + claim.holder}
	case c.uid != "" && c.uid != c.actual.GetUID() && !ours:
		return fate{Foreign, "is another object of the same name, without the marks of this installation"}
	case c.unmanaged:
		return fate{Orphaned, "is left to administrators from now on"}
	case claim.number == 0:
		return fate{Foreign, "carries no revision number any more"}
	case claim.number > keep:
		return fate{HandedOver, fmt.Sprintf("belongs to revision %d", claim.number)}
	case c.actual.GetDeletionTimestamp() != nil:
		return fate{Terminating, terminatingWhy(c.actual) + c.inside()}
	case c.held == nil || c.held.what == "":
		return fate{Deleted, "is being deleted"}
	case !consented:
		return fate{Retained, "holds " + c.held.what}
	}
	return fate{Deleted, "is being deleted with the " + c.held.what + " that it holds, as the administrator consented"}
}

// inside is what keeps an object from going that is not about the object itself.
func (c condemned) inside() string {
	if c.held != nil && c.held.what != "" {
		return "; it still holds " + c.held.what
	}
	for _, kind := range []string{"NamespaceFinalizersRemaining", "NamespaceContentRemaining", "NamespaceDeletionContentFailure"} {
		if found := conditionOf(c.actual, kind); found != nil && found["status"] == "True" {
			return "; " + text(found["message"])
		}
	}
	return ""
}

// removalRank is the order of removal inside a component: the reverse of installation, except that webhook
// configurations go before everything, so that a webhook whose server is broken cannot refuse the removal of the rest.
// Custom resources go while their controllers still run, and what pods use goes after the pods, the way to them first.
func removalRank(k Key) int {
	switch c := classOf(k); {
	case c == webhooks:
		return 0
	case c == others:
		return 1
	case c == workloads:
		return 2
	case k.Group == "" && k.Kind == "Service":
		return 3
	case c == config:
		return 4
	case c == crds:
		return 5
	case c == namespaces:
		return 6
	}
	return 7
}

// before is the order of removal: the component that was installed last goes first.
func (c condemned) before(other condemned) int {
	return cmp.Or(
		cmp.Compare(other.last, c.last),
		cmp.Compare(c.component, other.component),
		cmp.Compare(removalRank(c.key), removalRank(other.key)),
		cmp.Compare(c.key.String(), other.key.String()),
	)
}

// sameStep says whether two orphans may be removed at the same time.
func (c condemned) sameStep(other condemned) bool {
	return c.last == other.last && c.component == other.component && removalRank(c.key) == removalRank(other.key)
}
