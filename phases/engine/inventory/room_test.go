package inventory

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// forged is an inventory of so many objects, each in a namespace of its own.
func forged(number int64, objects int) *Inventory {
	inv := &Inventory{Revision: "forged", Number: number}
	for i := range objects {
		inv.Entries = append(inv.Entries, Entry{Version: "v1", Kind: "ConfigMap", Namespace: fmt.Sprintf("tenant-%d-%d", number, i), Name: "x"})
	}
	return inv
}

// shown are inventories as a watch shows them.
func shown(t *testing.T, inventories ...*Inventory) []ConfigMap {
	t.Helper()
	var all []ConfigMap
	for _, inv := range inventories {
		obj, err := place.ConfigMap(inv)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, seen{obj})
	}
	return all
}

// readable says of each inventory, lowest number first, whether it was read.
func readable(stored []Stored) (text string) {
	for _, s := range stored {
		switch {
		case s.Inventory != nil:
			text += fmt.Sprintf("%d ", s.Number)
		case s.LacksRoom() && errors.Is(s.Err, ErrNoRoom):
			text += fmt.Sprintf("(%d) ", s.Number)
		default:
			text += fmt.Sprintf("[%d] ", s.Number)
		}
	}
	return strings.TrimSpace(text)
}

func TestShelf_has_room_for_so_much_of_all_inventories_and_reads_the_newest(t *testing.T) {
	all := shown(t, forged(1, 1), forged(2, listLimit), forged(3, listLimit), forged(4, listLimit), forged(5, listLimit), forged(6, listLimit-1), forged(7, 1))
	s := Shelf{Place: place}
	if got := readable(s.Of(slices.Values(all[1:]))); got != "2 3 4 5 6 7" {
		t.Errorf("what just fits: %s", got)
	}
	before := s.stored
	stored := s.Of(slices.Values(all))
	if got := readable(stored); got != "(1) 2 3 4 5 6 7" {
		t.Errorf("what does not fit: %s", got)
	}
	if stored[6].Inventory != before[5].Inventory {
		t.Error("what is known was unpacked again")
	}
	for _, want := range []string{"capstan-inventory-1", "48 MiB", "100000 objects"} {
		if told := fmt.Sprint(stored[0].Err); !strings.Contains(told, want) {
			t.Errorf("told is %s", told)
		}
	}
	more := append(shown(t, forged(8, 2)), all...)
	if got := readable(s.Of(slices.Values(more))); got != "(1) (2) 3 4 5 6 7 8" {
		t.Errorf("when a newer one comes: %s", got)
	}
	if got := readable(s.Of(slices.Values(all))); got != "(1) 2 3 4 5 6 7" {
		t.Errorf("when it goes: %s", got)
	}
	if got := readable(s.Of(slices.Values(all[:2]))); got != "1 2" {
		t.Errorf("when all but two go: %s", got)
	}
}

func TestShelf_has_room_for_so_many_bytes_of_all_inventories(t *testing.T) {
	large := func(number int64) *Inventory {
		return &Inventory{Revision: strings.Repeat("x", contentLimit-1000), Number: number}
	}
	s := Shelf{Place: place}
	if got := readable(s.Of(slices.Values(shown(t, listed(1), large(2), large(3), large(4), large(5), large(6), large(7), large(8))))); got != "(1) (2) 3 4 5 6 7 8" {
		t.Errorf("read are %s", got)
	}
}

func TestShelf_has_room_for_a_full_list_of_revisions_with_long_names(t *testing.T) {
	var all []*Inventory
	for number := range int64(16) {
		inv := forged(number+1, 5000)
		for i := range inv.Entries {
			e := &inv.Entries[i]
			e.Namespace, e.Name, e.UID = strings.Repeat("n", 63), fmt.Sprintf("%0120d", i), types.UID(fmt.Sprintf("%036d", i))
			e.Group, e.Kind, e.Component = "infrastructure.cluster.x-k8s.io", strings.Repeat("K", 63), strings.Repeat("c", 63)
		}
		all = append(all, inv)
	}
	s := Shelf{Place: place}
	if got := readable(s.Of(slices.Values(shown(t, all...)))); strings.Contains(got, "(") {
		t.Errorf("read are %s", got)
	}
}

func TestShelf_reads_first_what_is_at_hand_and_heads_by_themselves(t *testing.T) {
	forged := shown(t, listed(1), listed(2), forged(3, listLimit), forged(4, listLimit), forged(5, listLimit), forged(6, listLimit), forged(7, listLimit))
	s := Shelf{Place: place}
	if got := readable(s.Of(slices.Values(forged), 1)); got != "1 2 3 4 5 6 7" {
		t.Errorf("what fits: %s", got)
	}
	full := append(shown(t, &Inventory{Number: 8, Entries: listed(8, "Service a").Entries}), forged...)
	stored := s.Of(slices.Values(full), 1)
	if got := readable(stored); got != "1 (2) (3) 4 5 6 7 8" {
		t.Errorf("with one more: %s", got)
	}
	head := s.Head(stored[2])
	if head == nil || head.Number != 3 || head.Entries != nil || s.Head(stored[2]) != head {
		t.Errorf("the head of what lacks room is %+v", head)
	}
}

func TestShelf_counts_what_was_unpacked_in_vain(t *testing.T) {
	large := func(number int64) *Inventory {
		return &Inventory{Revision: strings.Repeat("x", contentLimit-1000), Number: number}
	}
	all := shown(t, listed(1), large(2), large(3), large(4), large(5), large(6), large(7))
	for i := range all[1:] { // each says that it is of another revision
		obj := all[i+1].Whole()
		obj.SetName(place.Name(int64(i) + 12))
		all[i+1] = seen{obj}
	}
	s := Shelf{Place: place}
	for range 2 {
		if got := readable(s.Of(slices.Values(append(all, shown(t, large(11))...)))); got != "(1) (11) [12] [13] [14] [15] [16] [17]" {
			t.Errorf("read are %s", got)
		}
	}
}

func TestNumberOf_takes_no_other_spelling_of_a_number(t *testing.T) {
	for name, want := range map[string]bool{"capstan-inventory-5": true, "capstan-inventory-005": false, "capstan-inventory-+5": false} {
		obj := shown(t, listed(5))[0].Whole()
		obj.SetName(name)
		if _, ours := place.NumberOf(obj); ours != want {
			t.Errorf("%s counts: %v", name, ours)
		}
	}
}

func TestShelf_of_all_that_it_has_room_for_takes_little_memory(t *testing.T) {
	var all []*Inventory
	for number := range int64(8) {
		inv := forged(number+1, listLimit)
		for i := range inv.Entries {
			inv.Entries[i].Kind, inv.Entries[i].Name = fmt.Sprintf("Kind%d", i), strings.Repeat("x", 315)
		}
		all = append(all, inv)
	}
	seen := shown(t, all...)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools hold outlives the first one
	runtime.ReadMemStats(&before)
	s := Shelf{Place: place}
	stored := s.Of(slices.Values(seen))
	listed := ListedIn(stored)
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	takes := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) >> 20
	t.Logf("it takes %d MiB to keep %s, and %d MiB to read them", takes, readable(stored), (after.TotalAlloc-before.TotalAlloc)>>20)
	if readable(stored) != "(1) (2) (3) 4 5 6 7 8" || len(listed) != roomForAll.elements {
		t.Errorf("of %s, %d objects are listed", readable(stored), len(listed))
	}
	if takes > 80 {
		t.Errorf("it takes %d MiB", takes)
	}
	for _, one := range stored {
		if one.Inventory != nil && (len(one.Spots) != spotsAtMost || one.MoreSpots != listLimit-spotsAtMost) {
			t.Errorf("%d spots of inventory %d, and %d more", len(one.Spots), one.Number, one.MoreSpots)
		}
	}
	runtime.KeepAlive(seen)
	runtime.KeepAlive(s)
	runtime.KeepAlive(listed)
}

func TestUnreadable_names_a_few_inventories_and_counts_the_others(t *testing.T) {
	var all []Stored
	for number := range int64(50) {
		all = append(all, Stored{Number: number, Err: fmt.Errorf("reading the inventory in ConfigMap n%d", number)})
	}
	err := unreadable(all)
	if text := err.Error(); !strings.Contains(text, "n49; restore it") || !strings.Contains(text, "and 47 more inventories") || len(text) > 1000 {
		t.Errorf("%d bytes: %v", len(text), err)
	}
	if err := unreadable(stored(listed(1), listed(2))); err != nil {
		t.Error(err)
	}
	lacking := (&Shelf{Place: place}).Of(slices.Values(shown(t, forged(1, 1), forged(2, listLimit), forged(3, listLimit), forged(4, listLimit), forged(5, listLimit), forged(6, listLimit))))
	if err := unreadable(lacking); !errors.Is(err, ErrNoRoom) || strings.Contains(err.Error(), "restore") {
		t.Errorf("for lack of room: %v", err)
	}
}

func TestRead_refuses_an_announcement_that_lists_anything(t *testing.T) {
	for name, change := range map[string]func(*Inventory){
		"an object":    func(inv *Inventory) { inv.Entries = listed(9, "Service hidden").Entries },
		"an API group": func(inv *Inventory) { inv.Silent = []string{"group"} },
	} {
		inv := Announcement(RevisionRef{Name: "next", Number: 9, ContentID: "c", Listed: "proof"})
		change(inv)
		s, ours := ReadStored(place, shown(t, inv)[0])
		if !ours || s.Inventory != nil || s.Err == nil || s.LacksRoom() || !strings.Contains(s.Err.Error(), "capstan-inventory-9") {
			t.Errorf("%s: %+v, %v", name, s.Inventory, s.Err)
		}
		_, err := Candidates([]Stored{{Number: 1, Inventory: listed(1, "Service hidden")}, s}, Current{Number: 2, Live: map[decide.Key]string{}})
		if err == nil {
			t.Errorf("%s: pruning goes on, and nobody is told", name)
		}
	}
}
