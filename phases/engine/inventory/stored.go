package inventory

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// ConfigMap is a ConfigMap that was seen. Equal ones have the same content.
type ConfigMap interface {
	metav1.Object
	Whole() *unstructured.Unstructured
}

// Stored is an inventory as it lies in the cluster.
type Stored struct {
	Object    ConfigMap
	Number    int64
	Inventory *Inventory    // nil when it cannot be read
	Places    decide.Places // of what it lists
	Err       error
}

// Shelf remembers the stored inventories, so that each is unpacked once. Whoever owns it guards it.
type Shelf struct {
	Place  Place
	stored []Stored
}

// Of are the installation's inventories among ConfigMaps, lowest number first.
func (s *Shelf) Of(seen iter.Seq[ConfigMap]) []Stored {
	var stored []Stored
	for obj := range seen {
		if known := slices.IndexFunc(s.stored, func(k Stored) bool { return k.Object == obj }); known >= 0 {
			stored = append(stored, s.stored[known])
		} else if read, ours := ReadStored(s.Place, obj); ours {
			stored = append(stored, read)
		}
	}
	slices.SortFunc(stored, func(a, b Stored) int { return cmp.Compare(a.Number, b.Number) })
	s.stored = stored
	return stored
}

// NumberOf is the number of the revision that a ConfigMap is the inventory of; it says no for one that is not an inventory of
// the installation.
func (p Place) NumberOf(obj metav1.Object) (int64, bool) {
	text, named := strings.CutPrefix(obj.GetName(), p.Prefix)
	number, err := strconv.ParseInt(text, 10, 64)
	other := obj.GetAnnotations()[decide.OwnerAnnotation]
	return number, named && err == nil && number <= decide.MaxNumber && (other == "" || other == p.Owner)
}

// ReadStored says no for a ConfigMap that is not an inventory of the installation.
func ReadStored(p Place, obj ConfigMap) (Stored, bool) {
	number, ours := p.NumberOf(obj)
	if !ours {
		return Stored{}, false
	}
	s := Stored{Object: obj, Number: number, Places: decide.Places{}}
	if s.Inventory, s.Err = p.Read(obj.Whole()); s.Inventory != nil {
		for _, entry := range s.Inventory.Entries {
			s.Places.Add(entry.Key().GVK(), entry.Namespace)
		}
	}
	return s, true
}

// SameContent refuses to apply other content under a number that was used: pruning and drift rely on a number standing
// for one content.
func (s Stored) SameContent(rev *decide.Revision) error {
	if s.Inventory == nil || s.Inventory.ContentID == rev.ContentID {
		return nil
	}
	return &decide.RevisionError{Revision: rev.Name, Faults: []string{fmt.Sprintf(
		"number %d was begun with content %s and cannot be used for content %s; publish it under a new number",
		rev.Number, s.Inventory.ContentID, rev.ContentID)}}
}
