package decide

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	Contested   Action = "Contested"   // somebody else writes it over and over, left alone for a while
)

// Verdict is a decision about one object, and why.
type Verdict struct {
	Action     Action
	Why        string
	Owner      string   // of a Collision: who owns the object
	Field      string   // of a repair: the first field that was not as desired
	Managers   []string // of a repair: who changed it, as far as managedFields tell
	Force      bool     // take fields from the managers that own them
	Release    bool     // make its controller a plain owner first
	Migrate    bool     // turn our Update entry, and those of legacy managers, into our Apply entry first
	Ours       bool     // it is there, and belongs to this installation in whatever revision
	Claimed    bool     // this revision has written the object: our field manager put its number there
	Adoptable  bool     // of a Collision: it has no controller and is of no other installation
	OnlyNumber bool     // of a write: nothing changes but the number, so that the API server cannot refuse it

	onlyLater bool   // the content is right as far as anybody knows
	stays     string // of a write: fields that are not desired any more, and that another manager keeps
}

// Writes says that the object has to be written.
func (v Verdict) Writes() bool {
	return v.Action == Created || v.Action == Updated || v.Action == Recovered
}

// Repairs says that the write restores what this revision had applied before.
func (v Verdict) Repairs() bool { return v.Writes() && v.Field != "" }

// Difference is the field that the write is about. Without one it is about the revision's number.
func (v Verdict) Difference() string { return cmp.Or(v.Field, revisionPath.String()) }

// Deferrable says that the write only migrates managedFields, or asks which fields the API server drops: nothing has to
// wait for it.
func (v Verdict) Deferrable() bool { return v.Writes() && v.onlyLater && v.Claimed }

// Single says that one request does all there is to do.
func (v Verdict) Single() bool { return !v.Migrate && !v.Release && v.Action != Created }

// Reconcile says what to do with one object, from the desired and the actual one; actual is nil when there is none. It
// asks who owns which field before it compares values: with server-side apply every change by somebody else moves the
// ownership, so that defaults and other spellings of a value never look like drift.
func Reconcile(t Desired, actual *unstructured.Unstructured, number int64, us Identity) Verdict {
	var v Verdict
	switch {
	case actual == nil:
		v.Action, v.Why = Created, "does not exist"
		return v
	case actual.GetDeletionTimestamp() != nil:
		v.Action, v.Why = Terminating, terminatingWhy(actual)
		return v
	}
	c := ClaimOf(actual, us)
	switch {
	case c.Owner == "":
		return decideOurs(v, t, actual, c, number, us)
	case t.Collision < c.Needs && !t.adopts(actual, c):
		v.Adoptable = c.Needs == CollisionProtectionIfNoController
		v.Action, v.Owner, v.Why = Collision, c.Owner, "exists already and belongs to "+c.Owner+remedy(t, c.Needs)
		return v
	}
	v.Action, v.Why, v.Force = Updated, "adopted from "+c.Owner+", as its manifest asks for", true
	if t.Collision < c.Needs {
		v.Why = "adopted from " + c.Owner + ", as an administrator asks for"
	}
	v.Release = c.Needs == CollisionProtectionNone
	v.Migrate = ownershipOf(actual, us).legacy != nil
	return v
}

// adopts says that an administrator lets this very object be adopted, as a manifest could ask for.
func (t Desired) adopts(actual *unstructured.Unstructured, c Claim) bool {
	return t.Adopts != "" && t.Adopts == actual.GetUID() && c.Needs == CollisionProtectionIfNoController
}

// remedy is what a provider's author can do about a collision.
func remedy(t Desired, needs CollisionProtection) string {
	switch {
	case t.Key.IsCRD():
		return "; remove it"
	case needs == CollisionProtectionIfNoController:
		return "; remove it, or let its manifest say " + AdoptAnnotation + ": " + AdoptAlways
	case needs == CollisionProtectionNone:
		return "; remove it, or let its manifest say " + AdoptAnnotation + ": " + AdoptForce
	}
	return ""
}

// decideOurs is the half of decide for objects that are ours.
func decideOurs(v Verdict, t Desired, actual *unstructured.Unstructured, c Claim, number int64, us Identity) Verdict {
	own := ownershipOf(actual, us)
	numbered := own.numbered()
	v.Ours, v.Claimed = true, c.Number == number && numbered == byUs
	v.Migrate = own.created != nil || own.legacy != nil
	switch {
	case c.Number > number && numbered == byUs:
		v.Action, v.Why = Progressed, fmt.Sprintf("belongs to revision %d", c.Number)
		return v
	case own.legacy != nil:
		v.Action, v.Why = Updated, "is taken over from "+strings.Join(own.legacyManagers, " and ")
		if c.identified { // was taken over before
			v.Action, v.Why = Recovered, strings.Join(own.legacyManagers, " and ")+" wrote to it again"
			v.Managers, v.Field = own.legacyManagers, own.firstLegacy()
		}
		return v
	}
	owned := own.applied
	if owned == nil && own.created != nil { // created by us, the ownership not yet recorded as applied
		owned, own.appliedVersion = own.created, t.Payload.GetAPIVersion()
	}
	if owned == nil {
		v.Force, v.Field = true, "metadata.managedFields"
		v.Action, v.Why = Recovered, "its managedFields do not name us any more"
		if !covers(t.Payload.Object, actual.Object) {
			v.Why += ", and " + comparison(empty).differing("", t.Payload.Object, actual.Object) + " differs"
		}
		return raised(v, c, number)
	}
	drift := driftOf(owned, t.Payload, actual)
	for _, m := range drift.missing {
		if v.Managers = own.owners(m); len(v.Managers) > 0 {
			v.Force, v.Field = true, m.String()
			v.Action, v.Why = Recovered, fmt.Sprintf("%s was changed by %s", m, strings.Join(v.Managers, " and "))
			return raised(v, c, number)
		}
	}
	v = raised(own.quiet(v, t, actual, drift), c, number)
	v.OnlyNumber = c.Number > 0 && c.Number < number && !v.Migrate && drift.none() && own.appliedVersion == t.Payload.GetAPIVersion() &&
		ownedCovers(renumbered(t.Payload.Object, c.text), actual.Object)
	return v
}

// renumbered is a payload as an earlier revision would have sent it; only what changes is copied.
func renumbered(payload map[string]any, number string) map[string]any {
	body := shallow(payload)
	meta := shallow(body["metadata"])
	annotations := shallow(meta["annotations"])
	annotations[RevisionAnnotation] = number
	meta["annotations"] = annotations
	body["metadata"] = meta
	return body
}

// quiet is the decision about an object of which no other manager owns a desired field that we do not own.
func (o ownership) quiet(v Verdict, t Desired, actual *unstructured.Unstructured, drift differ) Verdict {
	switch {
	case o.appliedVersion != t.Payload.GetAPIVersion():
		v.Action, v.Why = Updated, "was applied as "+o.appliedVersion
	case len(drift.missing) > 0:
		v.Action, v.Field = Updated, drift.missing[0].String()
		v.Why = v.Field + " is not ours any more"
	case len(drift.extra) > 0 && o.applied != nil:
		v.Action, v.Why = Updated, drift.extra[0].String()+" is not desired any more"
	case !ownedCovers(t.Payload.Object, actual.Object):
		v.Action, v.Field = Updated, comparison(zero).differing("", t.Payload.Object, actual.Object)
		v.Why = v.Field + " differs"
	case t.Dropped != nil && !covers(spared(t.Payload.Object, t.Dropped), actual.Object):
		v.Action, v.Field = Updated, comparison(empty).differing("", spared(t.Payload.Object, t.Dropped), actual.Object)
		v.Why = v.Field + " is gone"
	case t.Dropped == nil && !covers(t.Payload.Object, actual.Object):
		absent := comparison(empty).differing("", t.Payload.Object, actual.Object)
		v.Action, v.Why, v.onlyLater = Updated, absent+" is absent, and whether the API server drops it is not known", true
	case v.Migrate && t.Gate(actual).Answer == AnswerTrue: // until then its controllers write it all the time
		v.Action, v.Why, v.onlyLater = Updated, "its creation is not yet recorded as applied", true
	default:
		v.Action = Idle
	}
	if o.applied != nil {
		v.stays = o.staying(drift.extra)
	}
	return v
}

// raised turns a decision into an update when the object carries an older number: it has to be claimed in any case.
func raised(v Verdict, c Claim, number int64) Verdict {
	switch {
	case c.Number == 0 && c.text != "":
		v.Action, v.Why = Recovered, fmt.Sprintf("its annotation %s is %q, which is no number", RevisionAnnotation, c.text)
	case c.Number == 0:
		v.Action, v.Why = Updated, "carries no revision number"
	case c.Number < number:
		v.Action, v.Field, v.Why = Updated, "", fmt.Sprintf("is at revision %d", c.Number)
	}
	if v.Writes() && v.stays != "" {
		v.Why += "; " + v.stays
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
