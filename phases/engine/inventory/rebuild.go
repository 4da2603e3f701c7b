package inventory

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

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

// Gaps are the revisions whose inventory was rebuilt while API groups did not answer, and these groups.
func Gaps(stored []Stored, revs []RevisionRef) (with []RevisionRef, silent []string) {
	for _, rev := range revs {
		at := slices.IndexFunc(stored, func(s Stored) bool { return s.Number == rev.Number })
		if at < 0 || stored[at].Inventory == nil || len(stored[at].Inventory.Silent) == 0 {
			continue
		}
		with, silent = append(with, rev), append(silent, stored[at].Inventory.Silent...)
	}
	return with, silent
}

// SilentBefore are the API groups that did not answer when inventories of older revisions than a number were rebuilt.
func SilentBefore(stored []Stored, number int64) []string {
	var silent []string
	for _, s := range stored {
		if s.Number < number && s.Inventory != nil {
			silent = append(silent, s.Inventory.Silent...)
		}
	}
	slices.Sort(silent)
	return slices.Compact(silent)
}

// Found is an object that carries the marks of a revision.
type Found struct {
	entry    Entry
	number   int64
	numbered bool // by us or a legacy manager, as its managedFields say
	born     time.Time
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
		entry:  EntryOf(key, obj.Labels[decide.ManagedByLabel], 0, obj.UID),
		number: number, numbered: us.Numbered(obj), born: obj.CreationTimestamp.Time,
	}, true
}

// Sift tells what is proved to be the installation's from what only carries its marks. Proof is what managedFields say of
// an object that no tenant can write: of one of the cluster, in a guarded namespace, or in a namespace that is proved to
// be the installation's itself. Of an object that is served as several kinds, which its UID tells, the one of the least
// rank is left.
func Sift(found []Found, us decide.Identity, rank func(decide.Key) int) (ours []Found, strays []Stray) {
	found = eachOnce(found, rank)
	provided := map[string]bool{}
	for _, f := range found {
		if f.numbered && f.entry.Key().IsNamespace() {
			provided[f.entry.Name] = true
		}
	}
	for _, f := range found {
		if f.numbered && (us.Guards(f.entry.Namespace) || provided[f.entry.Namespace]) {
			ours = append(ours, f)
		} else {
			strays = append(strays, Stray{f.entry.Key(), f.number})
		}
	}
	return ours, strays
}

// eachOnce leaves one of those with the same UID: of the least rank, and of those the first by name.
func eachOnce(found []Found, rank func(decide.Key) int) []Found {
	found = slices.SortedFunc(slices.Values(found), func(a, b Found) int {
		return cmp.Or(cmp.Compare(rank(a.entry.Key()), rank(b.entry.Key())), cmp.Compare(a.entry.Group, b.entry.Group), cmp.Compare(a.entry.Key().String(), b.entry.Key().String()))
	})
	known := map[types.UID]bool{}
	return slices.DeleteFunc(found, func(f Found) bool {
		again := f.entry.UID != "" && known[f.entry.UID]
		known[f.entry.UID] = true
		return again
	})
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
