package decide

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// The actions that only a teardown takes, besides Terminating, Pending and Failed.
const (
	Deleted    Action = "Deleted"    // is gone by our hand, or was asked to go
	Absent     Action = "Absent"     // is not there
	HandedOver Action = "HandedOver" // a live or newer revision has it
	Foreign    Action = "Foreign"    // is not this installation's any more, left alone
	Orphaned   Action = "Orphaned"   // administrators manage it from now on: our marks are taken off, the rest stays
	Retained   Action = "Retained"   // holds data of users
)

// Candidate is an object that only older revisions have, with everything that the decision about it depends on.
type Candidate struct {
	Key       Key
	Component string
	UID       types.UID // empty if it was never known
	LastWave  int       // with which its component was complete
	LiveIn    string    // the name of a live revision that has it, empty if none
	Unmanaged bool      // the current revision leaves it to administrators
	Inhabited string    // of a Namespace: the name of a live revision that has objects in it, empty if none
	LeftAlone string    // why it, or what would go with it, is left alone, empty if it is not
	Retained  bool      // it is listed as retained

	Served   bool                       // its kind is
	Actual   *unstructured.Unstructured // nil: it is not there
	Contents *Contents                  // nil as long as nobody looked
	Consent  *Consent                   // to lose it with what it holds, nil for none
}

// Contents are what would be lost with an object.
type Contents struct {
	Count   int64    // 0 when it is not known
	What    string   // in words, empty for nothing
	Holding *Holding // each of it; nil where that was not listed, or nobody can tell
}

// PruneVerdict is a decision about a candidate.
type PruneVerdict struct {
	Action Action
	Why    string
	Void   string // of what is retained: why a consent to lose it does not count
}

// notWritten is all that can be said of an object that others may have given our marks: also one of ours is left once somebody
// has wiped its managedFields.
const notWritten = "but its managedFields do not say that this installation wrote it"

// Decide says what to do with a candidate. Current is the number of the revision that stays. What could hold data is deleted
// only once somebody looked into it, and with data only if a consent is for that very object and all that it holds.
func (c Candidate) Decide(current int64, us Identity) PruneVerdict {
	verdict := func(action Action, why string) PruneVerdict { return PruneVerdict{Action: action, Why: why} }
	switch {
	case c.LiveIn != "":
		return verdict(HandedOver, "revision "+c.LiveIn+" has it")
	case !c.Served:
		return verdict(Absent, "its kind is not served")
	case c.Actual == nil:
		return verdict(Absent, "")
	}
	claim := ClaimOf(c.Actual, us)
	switch {
	case c.LeftAlone != "" && c.Retained: // so that it is looked at again after that
		return verdict(Retained, c.LeftAlone)
	case c.LeftAlone != "":
		return verdict(LeftAlone, c.LeftAlone)
	case claim.Needs > CollisionProtectionIfNoController:
		return verdict(Foreign, "belongs to "+claim.Owner)
	case c.UID != "" && c.UID != c.Actual.GetUID() && !us.manages(c.Actual):
		return verdict(Foreign, "is another object of the same name, "+notWritten)
	case claim.Owner != "" && (c.UID == "" || claim.Number == 0): // an identity that the very object has lost is no matter
		return verdict(Foreign, "belongs to "+claim.Owner)
	case !us.manages(c.Actual) && !us.Numbered(c.Actual): // others can write an inventory, and the marks
		return verdict(Foreign, "carries this installation's marks, "+notWritten)
	case c.Unmanaged:
		return verdict(Orphaned, "is left to administrators from now on")
	case claim.Number == 0:
		return verdict(Foreign, "carries no revision number any more")
	case claim.Number > current:
		return verdict(HandedOver, fmt.Sprintf("belongs to revision %d", claim.Number))
	case c.Actual.GetDeletionTimestamp() != nil:
		return verdict(Terminating, terminatingWhy(c.Actual)+c.inside())
	case c.Inhabited != "":
		return verdict(HandedOver, "revision "+c.Inhabited+" has objects in it")
	case c.Contents == nil || c.Contents.What == "":
		return verdict(Deleted, "is being deleted")
	case c.Consent == nil:
		return verdict(Retained, "holds "+c.Contents.What)
	}
	if void := c.Consent.Void(c.Actual.GetUID(), c.Contents.Holding); void != "" {
		return PruneVerdict{Action: Retained, Why: "holds " + c.Contents.What, Void: void}
	}
	return verdict(Deleted, "is being deleted with the "+c.Contents.What+" that it holds, as "+c.Consent.By+" consented")
}

// inside says what keeps an object from going that is not the object itself.
func (c Candidate) inside() string {
	if c.Contents != nil && c.Contents.What != "" {
		return "; it still holds " + c.Contents.What
	}
	for _, kind := range []string{"NamespaceFinalizersRemaining", "NamespaceContentRemaining", "NamespaceDeletionContentFailure"} {
		if found := conditionOf(c.Actual, kind); found != nil && found["status"] == "True" {
			return "; " + text(found["message"])
		}
	}
	return ""
}

// removalRank is the order of removal inside a component: the reverse of installation, except that webhook
// configurations go before everything, so that a webhook whose server is broken cannot refuse the removal of the rest.
// Custom resources go while their controllers still run, and what pods use goes after the pods, the way to them first.
func removalRank(k Key) int {
	switch c := ClassOf(k); {
	case c == ClassWebhooks, c == ClassBindings:
		return 0
	case c == ClassOthers:
		return 1
	case c == ClassWorkloads:
		return 2
	case k.Group == "" && k.Kind == "Service":
		return 3
	case c == ClassConfig:
		return 4
	case c == ClassCRDs:
		return 5
	case c == ClassNamespaces:
		return 6
	}
	return 7
}

// Before is the order of removal: the component that was installed last goes first.
func (c Candidate) Before(other Candidate) int {
	return cmp.Or(
		cmp.Compare(other.LastWave, c.LastWave),
		cmp.Compare(c.Component, other.Component),
		cmp.Compare(removalRank(c.Key), removalRank(other.Key)),
		cmp.Compare(c.Key.Kind, other.Key.Kind),
		cmp.Compare(c.Key.Namespace, other.Key.Namespace),
		cmp.Compare(c.Key.Name, other.Key.Name),
	)
}

// SameStep says whether two orphans may be removed at the same time.
func (c Candidate) SameStep(other Candidate) bool {
	return c.LastWave == other.LastWave && c.Component == other.Component && removalRank(c.Key) == removalRank(other.Key)
}
