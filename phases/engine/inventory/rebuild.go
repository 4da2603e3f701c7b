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

// RevisionRef names a revision that was listed by whoever was here before, or whose inventory was lost, or that is about
// to be listed.
type RevisionRef struct {
	Name      string
	Number    int64
	ContentID string
	// Listed is a fingerprint of how the revision is listed; an inventory that was rebuilt never has it.
	Listed string
}

// Announcement is the inventory of a revision that is about to be listed.
func Announcement(rev RevisionRef) *Inventory {
	return &Inventory{Revision: rev.Name, Number: rev.Number, ContentID: rev.ContentID, Listed: rev.Listed, Announced: true, Adopted: true}
}

// Missing are the revisions that have no inventory.
func Missing(stored []Stored, revs []RevisionRef) []RevisionRef {
	return slices.DeleteFunc(slices.Clone(revs), func(rev RevisionRef) bool {
		return slices.ContainsFunc(stored, func(s Stored) bool { return s.Number == rev.Number })
	})
}

// Gaps are what was not looked through when inventories were rebuilt.
type Gaps struct {
	With       []RevisionRef // what the inventories are of
	Silent     []string      // API groups that did not answer, or might not be listed; each once, in order
	Unsearched bool          // there were more Namespaces than are looked through
}

// GapsIn are the gaps of stored inventories. Whether anybody still lists their revisions has no say: what they lack is
// looked for until it is found.
func GapsIn(stored []Stored) Gaps {
	var gaps Gaps
	for _, s := range stored {
		if s.Inventory == nil || !s.Inventory.hasGaps() {
			continue
		}
		gaps.With = append(gaps.With, RevisionRef{Name: s.Inventory.Revision, Number: s.Number, ContentID: s.Inventory.ContentID})
		gaps.Silent = append(gaps.Silent, s.Inventory.Silent...)
		gaps.Unsearched = gaps.Unsearched || s.Inventory.Unsearched
	}
	slices.Sort(gaps.Silent)
	gaps.Silent = slices.Compact(gaps.Silent)
	return gaps
}

// GapsBefore are the gaps of the inventories of older revisions than a number.
func GapsBefore(stored []Stored, number int64) Gaps {
	return GapsIn(slices.DeleteFunc(slices.Clone(stored), func(s Stored) bool { return s.Number >= number }))
}

// Found is an object that carries the marks of a revision.
type Found struct {
	entry    Entry
	number   int64
	numbered bool // by us or a legacy manager, as its managedFields say
	born     time.Time
}

// Stray is what it is as long as nobody lists it.
func (f Found) Stray() Stray { return Stray{f.entry.Key(), f.number} }

// FoundIn says no for an object that is not managed, is spared, or belongs to another installation or to a controller.
func FoundIn(obj *metav1.PartialObjectMetadata, gvk schema.GroupVersionKind, us decide.Identity) (Found, bool) {
	number, err := strconv.ParseInt(obj.Annotations[decide.RevisionAnnotation], 10, 64)
	owner := obj.Annotations[decide.OwnerAnnotation]
	if !us.Selects(obj.Labels) || err != nil || number < 1 || owner != "" && owner != us.Owner || metav1.GetControllerOf(obj) != nil {
		return Found{}, false
	}
	key := decide.Key{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Namespace: obj.Namespace, Name: obj.Name}
	if us.Spared(key) {
		return Found{}, false
	}
	return Found{
		entry:  EntryOf(key, obj.Labels[decide.ManagedByLabel], 0, obj.UID),
		number: number, numbered: us.Numbered(obj), born: obj.CreationTimestamp.Time,
	}, true
}

// Evidence is what proves that objects which carry our marks are the installation's.
type Evidence struct {
	Us decide.Identity
	// Rank is the least for the kind that tells most of an object.
	Rank func(decide.Key) int
	// Believed says that managedFields of a kind are true: not those that another server makes up.
	Believed func(decide.Key) bool
	// Lists says that a live revision or an inventory lists a Namespace. Whoever may do anything in a namespace may also
	// write the Namespace.
	Lists func(decide.Key) bool
}

// Sift tells what is proved to be the installation's from what only carries its marks. Proof is what managedFields say of
// an object that no tenant can write: of one of the cluster but a Namespace, in a guarded namespace, or of a Namespace that
// is listed and of what is in it. Of an object that is served as several kinds, which its UID tells, the one of the least
// rank is left.
func Sift(found []Found, by Evidence) (ours []Found, strays []Stray) {
	for _, f := range eachOnce(found, by.Rank) {
		if f.numbered && by.guards(f.entry.Key()) {
			ours = append(ours, f)
		} else {
			strays = append(strays, f.Stray())
		}
	}
	return ours, strays
}

// guards says that no tenant can write an object.
func (by Evidence) guards(key decide.Key) bool {
	if !by.Believed(key) {
		return false
	}
	namespace := key.Namespace
	if key.IsNamespace() {
		namespace = key.Name
	}
	return by.Us.Guards(namespace) || by.Lists(decide.Key{Version: "v1", Kind: "Namespace", Name: namespace})
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

// Unite adds what an inventory already listed and was not found again: its kind may not answer this time. Its gaps are
// all that there can be: it has what is of other API groups, and if there are none, of all Namespaces; what it has of all
// groups if it lacks Namespaces, nobody knows.
func (inv *Inventory) Unite(before *Inventory) {
	inv.Unsearched = inv.Unsearched && before.hasGaps()
	inv.Silent = slices.DeleteFunc(inv.Silent, func(group string) bool {
		return !before.Unsearched && !slices.Contains(before.Silent, group)
	})
	listed := map[decide.Key]bool{}
	for _, entry := range inv.Entries {
		listed[entry.Key().Identity()] = true
	}
	for _, entry := range before.Entries {
		if !listed[entry.Key().Identity()] {
			inv.Entries = append(inv.Entries, entry)
		}
	}
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
