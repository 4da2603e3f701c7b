package engine

import (
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

// verdict is a decision about one object and what it was concluded from.
type verdict struct {
	action   Action
	why      string
	holder   string   // of a Collision: who has the object
	field    string   // of a repair: the first field that was not as wanted
	managers []string // of a repair: who changed it, as far as managedFields tell
	force    bool     // take fields from the managers that hold them
	release  bool     // its controller must be made a plain owner first
	fold     bool     // our own Update entry, or those of legacy managers, must become our Apply entry first
	records  bool     // the content is right, only the fold is left
	carries  bool     // the object is ours and carries this revision's number or a higher one
	renumber bool     // of a write: nothing changes but the number, so that there is nothing to refuse
	stays    string   // of a write: fields that are not wanted any more, and that another manager keeps
	actual   *unstructured.Unstructured
}

func (v verdict) writes() bool {
	return v.action == Created || v.action == Updated || v.action == Recovered
}

// repairs says that the verdict puts right what this revision had made right before.
func (v verdict) repairs() bool { return v.writes() && v.field != "" }

// waits says that the write is mere bookkeeping, which holds nothing up.
func (v verdict) waits() bool { return v.writes() && v.records && v.carries }

// done says that carrying the verdict out once is all there is to do.
func (v verdict) done() bool { return !v.fold && !v.release && v.action != Created }

// decide says what is to be done with one object, from the wanted and the actual one alone; actual is nil when there
// is none. Who holds which field is asked before what the values are: with server-side apply every change by somebody
// else moves the ownership, so that defaults and other spellings of a value never look like drift.
func decide(t desired, actual *unstructured.Unstructured, number int64, us claimant) verdict {
	v := verdict{actual: actual}
	switch {
	case actual == nil:
		v.action, v.why = Created, "does not exist"
		return v
	case actual.GetDeletionTimestamp() != nil:
		v.action, v.why = Terminating, terminatingWhy(actual)
		return v
	}
	c := claimOf(actual, us.owner)
	switch {
	case c.holder == "":
		return decideOurs(v, t, c, number, us)
	case t.collision < c.needs:
		v.action, v.holder, v.why = Collision, c.holder, "exists already and belongs to "+c.holder+remedy(c.needs)
		return v
	}
	v.action, v.why, v.force = Updated, "adopted from "+c.holder+", as its manifest asks for", true
	v.release = c.needs == none
	v.fold = ownershipOf(actual, us.legacy).legacy != nil
	return v
}

// remedy is what a provider's author can do about a collision.
func remedy(needs collisionMode) string {
	switch needs {
	case ifNoController:
		return "; remove it, or let its manifest say " + AdoptAnnotation + ": " + adoptAlways
	case none:
		return "; remove it, or let its manifest say " + AdoptAnnotation + ": " + adoptForce
	}
	return ""
}

// decideOurs is the half of decide for objects that are ours.
func decideOurs(v verdict, t desired, c claim, number int64, us claimant) verdict {
	own := ownershipOf(v.actual, us.legacy)
	numbered := own.numbered()
	v.carries = c.number >= number && (c.identified && numbered != byLegacy || numbered == byUs)
	v.fold = own.created != nil || own.legacy != nil
	switch {
	case c.number > number && numbered == byUs:
		v.action, v.why = Progressed, fmt.Sprintf("belongs to revision %d", c.number)
		return v
	case own.legacy != nil:
		v.action, v.why = Updated, "is taken over from "+strings.Join(own.legacyManagers, " and ")
		if c.identified { // was taken over before
			v.action, v.why = Recovered, strings.Join(own.legacyManagers, " and ")+" wrote to it again"
			v.managers, v.field = own.legacyManagers, own.firstLegacy()
		}
		return v
	}
	held := own.applied
	if held == nil && own.created != nil { // created by us, the ownership not yet recorded as applied
		held, own.appliedVersion = own.created, t.payload.GetAPIVersion()
	}
	if held == nil {
		v.force, v.field = true, "metadata.managedFields"
		v.action, v.why = Recovered, "its managedFields do not name us any more"
		if !covers(t.payload.Object, v.actual.Object) {
			v.why += ", and " + differing("", t.payload.Object, v.actual.Object) + " differs"
		}
		return raised(v, c, number)
	}
	drift := driftOf(held, t.payload, v.actual)
	for _, m := range drift.missing {
		if v.managers = own.holders(m); len(v.managers) > 0 {
			v.force, v.field = true, m.String()
			v.action, v.why = Recovered, fmt.Sprintf("%s was changed by %s", m, strings.Join(v.managers, " and "))
			return raised(v, c, number)
		}
	}
	v = raised(own.quiet(v, t, drift), c, number)
	v.renumber = c.number > 0 && c.number < number && !v.fold && drift.none() && own.appliedVersion == t.payload.GetAPIVersion() &&
		covers(renumbered(t.payload.Object, c.text), v.actual.Object)
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

// quiet is the decision about an object of which no other manager holds a wanted field that we do not.
func (o ownership) quiet(v verdict, t desired, drift differ) verdict {
	switch {
	case o.appliedVersion != t.payload.GetAPIVersion():
		v.action, v.why = Updated, "was applied as "+o.appliedVersion
	case len(drift.missing) > 0:
		v.action, v.field = Updated, drift.missing[0].String()
		v.why = v.field + " is not ours any more"
	case len(drift.extra) > 0 && o.applied != nil:
		v.action, v.why = Updated, drift.extra[0].String()+" is not wanted any more"
	case !covers(t.payload.Object, v.actual.Object):
		v.action, v.field = Updated, differing("", t.payload.Object, v.actual.Object)
		v.why = v.field + " differs"
	case v.fold && t.gate(v.actual).Answer == AnswerTrue: // until then its controllers write it all the time
		v.action, v.why, v.records = Updated, "its creation is not yet recorded as applied", true
	default:
		v.action = Idle
	}
	if o.applied != nil {
		v.stays = o.staying(drift.extra)
	}
	return v
}

// raised turns a decision into an update when the object carries an older number: it has to be claimed in any case.
func raised(v verdict, c claim, number int64) verdict {
	switch {
	case c.number == 0 && c.text != "":
		v.action, v.why = Recovered, fmt.Sprintf("its annotation %s is %q, which is no number", RevisionAnnotation, c.text)
	case c.number == 0:
		v.action, v.why = Updated, "carries no revision number"
	case c.number < number:
		v.action, v.field, v.why = Updated, "", fmt.Sprintf("is at revision %d", c.number)
	}
	if v.writes() && v.stays != "" {
		v.why += "; " + v.stays
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
