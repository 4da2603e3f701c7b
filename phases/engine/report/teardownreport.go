package report

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
)

// Orphan is one object that older revisions had and the kept one has not, and what became of it.
type Orphan struct {
	Key        decide.Key
	Component  string
	Action     decide.Action // Deleted, Absent, HandedOver, Foreign, Orphaned, LeftAlone, Retained, Terminating, Pending or Failed
	Why        string
	Count      int64     // of what is retained or goes by consent: objects that it holds, 0 if that cannot be told
	Void       string    // of what is retained: why a consent to lose it does not count
	Asked      time.Time // when that was given
	Finalizers []string  // of Terminating: what has to be taken off by others before it is gone
	Consented  bool      // goes, or went, with what it holds, because we deleted it as the administrator consented
	UID        types.UID // of the one that was seen, empty if none was
	Created    time.Time // the same

	Would decide.Action // of Pending where nothing is deleted: what it may be now; else empty

	Entry inventory.Entry // as it is listed
	Err   error           // why it is not deleted yet, when something went wrong
}

// Loss is what would be lost with an object.
type Loss struct {
	Object   decide.Held
	Contents decide.Contents
}

// TeardownReport is where the removal of orphans stands.
type TeardownReport struct {
	Gone     []Orphan // not in the cluster any more
	Waiting  []Orphan // being deleted, failed to be deleted, or their turn has not come
	Retained []Orphan // not deleted, because they hold data of users
	Left     []Orphan // not deleted, because they are not this installation's any more, or people ask for that; see Action
	Wait     string   // why nothing was looked at yet, or not everything
}

// Add sorts an orphan into the report.
func (r *TeardownReport) Add(o Orphan) {
	switch o.Action {
	case decide.Deleted, decide.Absent:
		r.Gone = append(r.Gone, o)
	case decide.Retained:
		r.Retained = append(r.Retained, o)
	case decide.HandedOver, decide.Foreign, decide.Orphaned, decide.LeftAlone:
		r.Left = append(r.Left, o)
	default:
		r.Waiting = append(r.Waiting, o)
	}
}

// Complete says that nothing is left to do but what is retained.
func (r *TeardownReport) Complete() bool { return r.Wait == "" && len(r.Waiting) == 0 }

// Blocked is the one most useful reason why pruning is not complete, at most 1 KiB; empty when it is.
func (r *TeardownReport) Blocked() string {
	if len(r.Waiting) == 0 {
		return clipped(r.Wait)
	}
	first := r.Waiting[0]
	if failed := slices.IndexFunc(r.Waiting, func(o Orphan) bool { return o.Err != nil }); failed >= 0 {
		first = r.Waiting[failed]
	}
	more := ""
	if len(r.Waiting) > 1 {
		more = " (and " + strconv.Itoa(len(r.Waiting)-1) + " more)"
	}
	text := "pruning waits for " + first.Key.String() + " of " + first.Component + ": " + first.Why
	return message.Shorten(text, maxText-len(more)) + more
}

// WhyRetained says in one sentence what was retained and why, empty if nothing was; at most 1 KiB.
func (r *TeardownReport) WhyRetained() string {
	texts := make([]string, 0, len(r.Retained))
	for _, o := range r.Retained {
		texts = append(texts, o.Key.String()+" ("+o.Why+")")
	}
	if len(texts) == 0 {
		return ""
	}
	return clipped("retained: " + strings.Join(texts, ", "))
}

// Progress is a token that changes when objects went or began to go.
func (r *TeardownReport) Progress() string {
	return strconv.Itoa(len(r.Gone)+len(r.Left)+len(r.Retained)) + " handled, " + strconv.Itoa(len(r.Waiting)) + " to go"
}

// Err joins what went wrong with single objects.
func (r *TeardownReport) Err() error {
	var errs []error
	for _, o := range r.Waiting {
		if o.Err != nil {
			errs = append(errs, o.Err)
		}
	}
	return joined(errs)
}

// Inventories are the stored inventories, without a request.
type Inventories struct {
	Seen bool   // false: they are not all seen, and what there is may be less than there are
	Err  error  // why they cannot be watched, or not be read for lack of room; nil if they can or nobody knows yet
	Of   []Held // the lowest number first, without those that cannot be read
}

// Proofs are what the stored inventories say of how their revisions were listed, without a request.
type Proofs struct {
	Seen bool  // false: they are not all seen, and what there is may be less than there are
	Err  error // why they cannot be watched, or not be read for lack of room; nil if they can or nobody knows yet
	Of   []Proof
}

// Proof is what one inventory says of how its revision was listed.
type Proof struct {
	Number    int64
	Revision  string
	ContentID string
	Listed    string // a fingerprint of how it was listed; empty where nobody knows
	Announced bool   // nothing of it was applied
	Own       bool   // the inventory is the revision's own, neither announced nor rebuilt
}

// Held is what an inventory says that a revision has applied, or has begun to.
type Held struct {
	Number  int64
	Objects []HeldObject
}

// HeldObject is an object of the revision itself, and not one that was retained for it.
type HeldObject struct {
	Key       decide.Key
	Component string
}

// Orphans is what the stored inventories say about older revisions, without a request.
type Orphans struct {
	Seen      bool         // false: the inventories are not seen yet, and the rest is empty
	Revisions []int64      // older revisions whose inventory is still stored: Teardown and Forget have work
	Ahead     int64        // the highest number that was begun, as inventories say, if it is higher than that of the kept revision; else 0
	Open      []decide.Key // objects of those that the kept revision does not have
	Retained  []decide.Key // objects that were retained earlier and are to be deleted when they hold nothing any more
}
