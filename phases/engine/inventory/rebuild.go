package inventory

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// RevisionRef names a revision that was listed by whoever was here before, or whose inventory was lost.
type RevisionRef struct {
	Name      string
	Number    int64
	ContentID string
}

// Missing are the revisions that have no inventory.
func Missing(stored []Stored, revs []RevisionRef) []RevisionRef {
	return slices.DeleteFunc(slices.Clone(revs), func(rev RevisionRef) bool {
		return slices.ContainsFunc(stored, func(s Stored) bool { return s.Number == rev.Number })
	})
}

// Found is an object that some revision applied.
type Found struct {
	entry  Entry
	number int64
	born   time.Time
}

// FoundIn says no for an object that is not managed, or belongs to another installation or to a controller.
func FoundIn(obj *metav1.PartialObjectMetadata, gvk schema.GroupVersionKind, us decide.Identity) (Found, bool) {
	number, err := strconv.ParseInt(obj.Annotations[decide.RevisionAnnotation], 10, 64)
	owner := obj.Annotations[decide.OwnerAnnotation]
	if !us.Selects(obj.Labels) || err != nil || number < 1 || owner != "" && owner != us.Owner || metav1.GetControllerOf(obj) != nil {
		return Found{}, false
	}
	key := decide.Key{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Namespace: obj.Namespace, Name: obj.Name}
	return Found{
		entry: EntryOf(key, obj.Labels[decide.ManagedByLabel], 0, obj.UID), number: number, born: obj.CreationTimestamp.Time,
	}, true
}

// Rebuild is what is left of a revision: the objects that carry its number, since no later one has them.
// Nobody noted in which waves it came, but its components came one after the other, and their objects say when.
func Rebuild(rev RevisionRef, found []Found) *Inventory {
	inv := &Inventory{Revision: rev.Name, Number: rev.Number, ContentID: rev.ContentID, Adopted: true}
	begun := map[string]time.Time{}
	for _, f := range found {
		if first, known := begun[f.entry.Component]; !known || f.born.Before(first) {
			begun[f.entry.Component] = f.born
		}
		if f.number == rev.Number {
			inv.Entries = append(inv.Entries, f.entry)
		}
	}
	slices.SortFunc(inv.Entries, func(a, b Entry) int {
		return cmp.Or(begun[a.Component].Compare(begun[b.Component]), cmp.Compare(a.Component, b.Component),
			cmp.Compare(decide.ClassOf(a.Key()), decide.ClassOf(b.Key())), cmp.Compare(a.Key().String(), b.Key().String()))
	})
	for i := range inv.Entries {
		here := &inv.Entries[i]
		if i == 0 {
			here.Wave = 1
			continue
		}
		before := inv.Entries[i-1]
		if here.Wave = before.Wave; here.Component != before.Component || decide.ClassOf(here.Key()) != decide.ClassOf(before.Key()) {
			here.Wave++
		}
	}
	return inv
}
