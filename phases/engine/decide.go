package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Action is what is to be done with an object, what was done with it, or why nothing can be done.
type Action string

// The actions of a report.
const (
	Created     Action = "Created"     // was absent, is there now
	Updated     Action = "Updated"     // our own content changed
	Recovered   Action = "Recovered"   // somebody else's change was put right
	Idle        Action = "Idle"        // is right, nothing was sent
	Progressed  Action = "Progressed"  // belongs to a newer revision, left alone
	Collision   Action = "Collision"   // exists and is not ours, left alone
	Refused     Action = "Refused"     // an update of a CRD by which instances would lose data, not sent
	Terminating Action = "Terminating" // is being deleted, created again once it is gone
	Failed      Action = "Failed"      // the API server refused, or could not be asked
	Pending     Action = "Pending"     // its turn has not come, or what it needs is not there yet
	Unknown     Action = "Unknown"     // not seen yet
)

// verdict is a decision about one object and what it was concluded from.
type verdict struct {
	action  Action
	why     string
	holder  string // of a Collision: who has the object
	force   bool   // take fields from the managers that hold them
	fold    bool   // our own Update entry must become an Apply entry first
	carries bool   // the object is ours and carries this revision's number or a higher one
	actual  *unstructured.Unstructured
}

func (v verdict) writes() bool {
	return v.action == Created || v.action == Updated || v.action == Recovered
}

// decide says what is to be done with one object, from the wanted and the actual one alone; actual is nil when there
// is none. Who holds which field is asked before what the values are: with server-side apply every change by somebody
// else moves the ownership, so that defaults and other spellings of a value never look like drift.
func decide(t *target, actual *unstructured.Unstructured, number int64, owner string) verdict {
	v := verdict{actual: actual}
	switch {
	case actual == nil:
		v.action, v.why = Created, "does not exist"
		return v
	case actual.GetDeletionTimestamp() != nil:
		v.action, v.why = Terminating, terminatingWhy(actual)
		return v
	}
	claim := claimOf(actual, owner)
	if claim.holder != "" {
		if t.adopt && claim.free {
			v.action, v.why, v.force = Updated, "adopted: the manifest says "+AdoptAnnotation+": "+adoptAlways, true
			return v
		}
		v.action, v.holder, v.why = Collision, claim.holder, "exists already and belongs to "+claim.holder
		if claim.free {
			v.why += "; remove it, or let its manifest say " + AdoptAnnotation + ": " + adoptAlways
		}
		return v
	}
	return decideOurs(v, t, claim, number)
}

// decideOurs is the half of decide for objects that are ours.
func decideOurs(v verdict, t *target, c claim, number int64) verdict {
	own := ownershipOf(v.actual)
	v.carries = c.number >= number
	if c.number > number {
		revision := missing{path: revisionPath}
		if own.applied == nil && own.created == nil || own.applied != nil && revision.heldIn(own.applied) ||
			own.created != nil && revision.heldIn(own.created) {
			v.action, v.why = Progressed, fmt.Sprintf("belongs to revision %d", c.number)
			return v
		}
	}
	v.fold = own.created != nil
	held := own.applied
	if held == nil && own.created != nil { // created by us, the ownership not yet recorded as applied
		held, own.appliedVersion = own.created, t.payload.GetAPIVersion()
	}
	if held == nil {
		v.force = true
		v.action, v.why = Recovered, "its managedFields do not name us any more"
		if !covers(t.payload.Object, v.actual.Object) {
			v.why += ", and " + differing("", t.payload.Object, v.actual.Object) + " differs"
		}
		return raised(v, c, number)
	}
	drift := driftOf(held, t.payload, v.actual)
	for _, m := range drift.missing {
		if holders := own.holders(m); len(holders) > 0 {
			v.force = true
			v.action, v.why = Recovered, fmt.Sprintf("%s was changed by %s", m, strings.Join(holders, " and "))
			return raised(v, c, number)
		}
	}
	switch {
	case own.appliedVersion != t.payload.GetAPIVersion():
		v.action, v.why = Updated, "was applied as "+own.appliedVersion
	case len(drift.missing) > 0:
		v.action, v.why = Updated, drift.missing[0].String()+" is not ours any more"
	case len(drift.extra) > 0 && own.applied != nil:
		v.action, v.why = Updated, drift.extra[0].String()+" is not wanted any more"
	case !covers(t.payload.Object, v.actual.Object):
		v.action, v.why = Updated, differing("", t.payload.Object, v.actual.Object)+" differs"
	case v.fold && probe(v.actual).Answer == AnswerTrue: // until then its controllers write it all the time
		v.action, v.why = Updated, "its creation is not yet recorded as applied"
	default:
		v.action = Idle
	}
	return raised(v, c, number)
}

// raised turns a decision into an update when the object carries an older number: it has to be claimed in any case.
func raised(v verdict, c claim, number int64) verdict {
	switch {
	case c.number == 0:
		v.action, v.why = Updated, "carries no revision number"
	case c.number < number:
		v.action, v.why = Updated, fmt.Sprintf("is at revision %d", c.number)
	}
	return v
}

func terminatingWhy(actual *unstructured.Unstructured) string {
	since := actual.GetDeletionTimestamp().UTC().Format("15:04:05Z")
	if finalizers := actual.GetFinalizers(); len(finalizers) > 0 {
		return "is being deleted since " + since + ", finalizers pending: " + strings.Join(finalizers, ", ")
	}
	return "is being deleted since " + since
}

var revisionPath = fieldpath.MakePathOrDie("metadata", "annotations", RevisionAnnotation)

// claim is whose an object is.
type claim struct {
	holder string // empty: ours
	free   bool   // not ours, but no controller and no other installation has it either
	number int64  // the revision number it carries, 0 for none or one that cannot be read
}

// claimOf reads the marks of an object. The identity decides; where it is missing, the revision number or our field
// manager show that it was lost, not that the object is foreign. A foreign controller always wins.
func claimOf(actual *unstructured.Unstructured, owner string) claim {
	annotations := actual.GetAnnotations()
	number, err := strconv.ParseInt(annotations[RevisionAnnotation], 10, 64)
	if err != nil || number < 0 {
		number = 0
	}
	if ref := metav1.GetControllerOfNoCopy(actual); ref != nil {
		return claim{holder: fmt.Sprintf("its controller %s %s", ref.Kind, ref.Name)}
	}
	switch identity := annotations[OwnerAnnotation]; {
	case identity == owner:
		return claim{number: number}
	case identity != "":
		return claim{holder: fmt.Sprintf("the installation %q", identity)}
	case number > 0 || managedByUs(actual):
		return claim{number: number}
	}
	return claim{holder: managersOf(actual), free: true}
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
