package decide

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Held is an object that would go with the one that holds it.
type Held struct {
	Kind            schema.GroupKind
	Namespace, Name string
	UID             types.UID
	Created         time.Time
	Finalizers      []string // that have to be taken off before it is gone
	Going           bool     // it is being deleted
}

// HeldOf is an object as it is held.
func HeldOf(kind schema.GroupKind, obj metav1.Object) Held {
	return Held{
		Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID(), Created: obj.GetCreationTimestamp().UTC(),
		Finalizers: obj.GetFinalizers(), Going: obj.GetDeletionTimestamp() != nil,
	}
}

func (o Held) compare(other Held) int {
	return cmp.Or(cmp.Compare(o.Kind.Group, other.Kind.Group), cmp.Compare(o.Kind.Kind, other.Kind.Kind),
		cmp.Compare(o.Namespace, other.Namespace), cmp.Compare(o.Name, other.Name))
}

// heldAtMost bounds the objects to whose loss anybody can consent at once.
const heldAtMost = 50_000

// Holding is all that would go with an object.
type Holding struct {
	Objects []Held
	// Open says why there may be more. To the loss of what nobody can tell nobody can consent.
	Open []string
}

// Add takes up one more.
func (h *Holding) Add(o Held) {
	if len(h.Objects) == heldAtMost {
		h.open(fmt.Sprintf("it holds more than %d objects: delete some of them before", heldAtMost))
		return
	}
	if o.UID == "" {
		h.open(fmt.Sprintf("objects of kind %s have no UID", o.Kind))
	}
	h.Objects = append(h.Objects, o)
}

func (h *Holding) open(why string) {
	if !slices.Contains(h.Open, why) {
		h.Open = append(h.Open, why)
	}
}

// Digest tells it from whatever else an object could hold: SHA-256 over the sorted UIDs, a line each. Empty while there may be
// more.
func (h *Holding) Digest() string {
	if h == nil || len(h.Open) > 0 {
		return ""
	}
	uids := make([]types.UID, 0, len(h.Objects))
	for _, o := range h.Objects {
		uids = append(uids, o.UID)
	}
	slices.Sort(uids)
	sum := sha256.New()
	for _, uid := range uids {
		_, _ = io.WriteString(sum, string(uid)+"\n") // never fails
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Consent is what an administrator consented to lose: an object, by its UID, with what it held then.
type Consent struct {
	UID    types.UID
	Count  int64
	Digest string
	// By says who, At when.
	By string
	At time.Time
}

// Void says why a consent does not count for an object that holds this, empty if it does. No object is named: everybody who
// is logged in reads the conditions, and names are their owners'.
func (c Consent) Void(uid types.UID, holds *Holding) string {
	who := "the consent by " + c.By + " does not count: "
	switch digest := holds.Digest(); {
	case c.UID != uid:
		return who + "it is for another object of that name, whose UID is " + string(c.UID)
	case digest == "" && holds != nil:
		return who + "nobody can tell all that would be lost (" + strings.Join(holds.Open, ", and ") + ")"
	case digest == "":
		return who + "nobody can tell all that would be lost"
	case digest == c.Digest:
		return ""
	}
	now, since := int64(len(holds.Objects)), holds.since(c.At)
	text := who + fmt.Sprintf("it was for %d, and there are %d now", c.Count, now)
	switch {
	case since > 0:
		text += fmt.Sprintf(", %d of them made since", since)
	case now >= c.Count:
		text += ", not the same"
	}
	return text
}

// since counts what was made after a moment.
func (h *Holding) since(at time.Time) (count int) {
	for _, o := range h.Objects {
		if o.IsNewSince(at) {
			count++
		}
	}
	return count
}

// IsNewSince says that it was made after a moment. Times have whole seconds, so that what was made within the same one may be.
func (o Held) IsNewSince(at time.Time) bool {
	return !at.IsZero() && !o.Created.Before(at.Truncate(time.Second))
}
