package inventory

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

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
	Inventory *Inventory // nil when it cannot be read
	Spots     []Spot     // of what it lists, each once, at most spotsAtMost
	MoreSpots int        // how many it has beside these
	Err       error

	takes  room // of what all may take
	lacked room // what was left when there was no room for it
	noRoom bool
}

// Spot is where there are objects of a kind: in a namespace; the empty one is that of the cluster.
type Spot struct {
	Kind      schema.GroupVersionKind
	Namespace string
}

// spotsAtMost bounds the spots of one inventory, several times what revisions have.
const spotsAtMost = 200

// Shelf remembers the stored inventories, so that each is unpacked once. Whoever owns it guards it.
type Shelf struct {
	Place  Place
	stored []Stored
	heads  map[ConfigMap]*Inventory // what Head has read; nil is what cannot be read
}

// Of are the installation's inventories among ConfigMaps, lowest number first. Those of the numbers at hand are read first, in their order,
// then the newest: once there is no room for one, none after it is read either, and Err of all these is ErrNoRoom.
func (s *Shelf) Of(seen iter.Seq[ConfigMap], atHand ...int64) []Stored {
	known := map[ConfigMap]Stored{}
	for _, one := range s.stored {
		known[one.Object] = one
	}
	var stored []Stored
	for obj := range seen {
		if number, ours := s.Place.NumberOf(obj); ours {
			stored = append(stored, Stored{Object: obj, Number: number})
		}
	}
	slices.SortFunc(stored, func(a, b Stored) int { return cmp.Compare(a.Number, b.Number) })
	var order []*Stored
	for i := range slices.Backward(stored) {
		order = append(order, &stored[i])
	}
	slices.SortStableFunc(order, func(a, b *Stored) int {
		place := func(one *Stored) int {
			if i := slices.Index(atHand, one.Number); i >= 0 {
				return i
			}
			return len(atHand)
		}
		return cmp.Compare(place(a), place(b))
	})
	left, there := roomForAll, map[ConfigMap]bool{}
	for _, one := range order {
		there[one.Object] = true
		if before, is := known[one.Object]; is && before.isAsRead(left) {
			*one = before
		} else {
			one.readInto(s.Place, left)
		}
		if left = left.without(one.takes); one.noRoom {
			left = room{}
		}
	}
	maps.DeleteFunc(s.heads, func(obj ConfigMap, _ *Inventory) bool { return !there[obj] })
	s.stored = stored
	return stored
}

// Head is a stored inventory of which only what is beside its lists counts. One that lacks room is read by itself, once, and its
// lists are not kept. It is nil for one that cannot be read.
func (s *Shelf) Head(one Stored) *Inventory {
	if one.Inventory != nil || !one.noRoom {
		return one.Inventory
	}
	head, known := s.heads[one.Object]
	if !known {
		if inv, err := s.Place.Read(one.Object.Whole()); err == nil {
			head = inv
			head.Entries, head.Silent = nil, nil
		}
		if s.heads == nil {
			s.heads = map[ConfigMap]*Inventory{}
		}
		s.heads[one.Object] = head
	}
	return head
}

// isAsRead says that reading it again into so much room would come to the same.
func (s Stored) isAsRead(left room) bool {
	if s.noRoom {
		return left.bytes <= s.lacked.bytes && left.elements <= s.lacked.elements
	}
	return left.holds(s.takes)
}

func (r room) holds(other room) bool { return other.bytes <= r.bytes && other.elements <= r.elements }

func (r room) without(other room) room {
	return room{r.bytes - other.bytes, r.elements - other.elements}
}

// readInto reads the inventory if there is enough room left.
func (s *Stored) readInto(p Place, left room) {
	if s.Inventory, s.takes, s.Err = p.readInto(s.Object.Whole(), left); s.Err != nil {
		s.noRoom, s.lacked = errors.Is(s.Err, ErrNoRoom), left
		return
	}
	known := map[Spot]bool{}
	for _, entry := range s.Inventory.Entries {
		spot := Spot{entry.Key().GVK(), entry.Namespace}
		switch {
		case known[spot]:
			continue
		case len(s.Spots) < spotsAtMost:
			s.Spots = append(s.Spots, spot)
		default:
			s.MoreSpots++
		}
		known[spot] = true
	}
}

// NumberOf is the number of the revision that a ConfigMap is the inventory of; it says no for one that is not an inventory of
// the installation.
func (p Place) NumberOf(obj metav1.Object) (int64, bool) {
	text, named := strings.CutPrefix(obj.GetName(), p.Prefix)
	number, err := strconv.ParseInt(text, 10, 64)
	other := obj.GetAnnotations()[decide.OwnerAnnotation]
	return number, named && err == nil && p.Name(number) == obj.GetName() && number <= decide.MaxNumber && (other == "" || other == p.Owner)
}

// ReadStored says no for a ConfigMap that is not an inventory of the installation.
func ReadStored(p Place, obj ConfigMap) (Stored, bool) {
	number, ours := p.NumberOf(obj)
	if !ours {
		return Stored{}, false
	}
	s := Stored{Object: obj, Number: number}
	s.readInto(p, roomForOne)
	return s, true
}

// LacksRoom says that the inventory is not read because others take all the room: it may be as good as any other.
func (s Stored) LacksRoom() bool { return s.noRoom }

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
