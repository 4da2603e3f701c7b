package inventory

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// Inventory is the list of what a revision applies. Pruning works from it, so that it never needs an old image.
type Inventory struct {
	Revision  string  `json:"revision"`
	Number    int64   `json:"number"`
	ContentID string  `json:"contentID"`
	Entries   []Entry `json:"entries"`
	// Adopted: rebuilt from what was found in the cluster, see Rebuild. The revision's own list takes its place.
	Adopted bool `json:"inherited,omitempty"`
	// Announced: written before the revision was listed, and nothing of it is applied. The revision's own list takes its place.
	// It is Adopted too, for a version of this operator that knows no announcements, and would take it for that list.
	Announced bool `json:"announced,omitempty"`
	// Listed is what proves that the revision is listed as its owner listed it, see RevisionRef.
	Listed string `json:"listed,omitempty"`
	// Silent are the API groups that did not answer when it was rebuilt, or might not be listed: it may lack objects of theirs.
	Silent []string `json:"silent,omitempty"`
	// Unsearched: when it was rebuilt, inventories listed more Namespaces than are looked through. It may lack objects in the others.
	Unsearched bool `json:"unsearched,omitempty"`
}

// IsOwn says that it is the revision's own list, and knows all that the revision applies.
func (inv *Inventory) IsOwn() bool { return !inv.Adopted && !inv.Announced }

// hasGaps says that it may lack objects that the revision has applied.
func (inv *Inventory) hasGaps() bool { return len(inv.Silent) > 0 || inv.Unsearched }

// Entry is one object of an inventory. Retained ones belong to older revisions: they are still there because they hold
// data, and go when they do not any more.
type Entry struct {
	Group     string `json:"group,omitempty"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Component string `json:"component"`
	Wave      int    `json:"wave"` // counts from 1
	Retained  bool   `json:"retained,omitempty"`

	// UID is that of the object as it was when the inventory was written, empty for one that did not exist or was not
	// ours then. An inventory is written before what it lists, and not once more for the sake of UIDs.
	UID types.UID `json:"uid,omitempty"`
}

// EntryOf lists an object.
func EntryOf(key decide.Key, component string, wave int, uid types.UID) Entry {
	return Entry{
		Group: key.Group, Version: key.Version, Kind: key.Kind, Namespace: key.Namespace, Name: key.Name,
		Component: component, Wave: wave, UID: uid,
	}
}

// Key is the key of the object.
func (e Entry) Key() decide.Key {
	return decide.Key{Group: e.Group, Version: e.Version, Kind: e.Kind, Namespace: e.Namespace, Name: e.Name}
}

// Retained are the entries that were carried over from older revisions.
func (inv *Inventory) Retained() []Entry {
	return slices.DeleteFunc(slices.Clone(inv.Entries), func(e Entry) bool { return !e.Retained })
}
