package act

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/report"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// stores has the engine see inventories.
func stores(t *testing.T, e *Engine, inventories ...*inventory.Inventory) {
	t.Helper()
	if e.inventories == nil {
		e.inventories = &see.Watch{Cluster: e.cluster, Synced: true, Changed: func(types.NamespacedName) { e.inventoryChanges++ }}
	}
	for _, inv := range inventories {
		obj, err := e.shelf.Place.ConfigMap(inv)
		if err != nil {
			t.Fatal(err)
		}
		locked(e, func() { e.inventories.Wrote(see.ObjectFrom(obj)) })
	}
}

// everywhere is an inventory of so many objects, each in a namespace of its own, with its Namespace.
func everywhere(number int64, objects int) *inventory.Inventory {
	inv := &inventory.Inventory{Revision: "forged", Number: number, ContentID: "forged"}
	for i := range objects {
		name := fmt.Sprintf("tenant-%05d", i)
		inv.Entries = append(inv.Entries, inventory.Entry{Version: "v1", Kind: "Secret", Namespace: name, Name: "x"}, inventory.Entry{Version: "v1", Kind: "Namespace", Name: name})
	}
	return inv
}

// elsewhere is the same in other namespaces.
func elsewhere(number int64, objects int) *inventory.Inventory {
	inv := everywhere(number, objects)
	for i := range inv.Entries {
		if entry := &inv.Entries[i]; entry.Namespace != "" {
			entry.Namespace = "else-" + entry.Namespace
		}
	}
	return inv
}

func TestWatches_of_what_a_forged_inventory_lists_are_few(t *testing.T) {
	e, watched := unanswering(t)
	stores(t, e, everywhere(1, 10_000), everywhere(3, 10_000), everywhere(4, 10_000))
	rev := enginetest.Revision(2, in("capi", "ConfigMap", "a"), in("", "Namespace", "capi"))
	e.Watch(rev)
	first := watched()
	if len(first) > listedPlacesAtMost+2 || !slices.Contains(first, "ConfigMap capi") || !slices.Contains(first, "Namespace ") || !slices.Contains(first, "Secret tenant-00000") {
		t.Errorf("%d places are watched: %.300q", len(first), first)
	}
	if again := watched(); !slices.Equal(again, first) {
		t.Error("others are watched the next time, and none to its end")
	}
}

func TestWatches_that_are_left_out_are_told_once(t *testing.T) {
	for name, row := range map[string]struct {
		inventories []*inventory.Inventory
		told        string // how many of them, empty if nothing is told
	}{
		"all are watched":         {[]*inventory.Inventory{everywhere(1, 100)}, ""},
		"of one inventory":        {[]*inventory.Inventory{everywhere(1, 500)}, "301"},
		"of several":              {[]*inventory.Inventory{everywhere(1, 150), elsewhere(3, 150)}, "44"},
		"of one and of several":   {[]*inventory.Inventory{everywhere(1, 500), elsewhere(3, 150)}, "394"},
		"of two, which are alike": {[]*inventory.Inventory{everywhere(1, 150), elsewhere(3, 150), elsewhere(4, 150), everywhere(5, 150)}, "44"},
	} {
		t.Run(name, func(t *testing.T) {
			e, watched := unanswering(t)
			var told []string
			e.cfg.Log = funcr.New(func(_, text string) { told = append(told, text) }, funcr.Options{})
			e.Watch(enginetest.Revision(2, in("", "Namespace", "capi")))
			stores(t, e, row.inventories...)
			watched()
			watched()
			if row.told == "" && len(told) > 0 || row.told != "" && (len(told) != 1 || !strings.HasSuffix(told[0], `"more"=`+row.told)) {
				t.Errorf("told is %q", told)
			}
		})
	}
}

func TestSweep_looks_through_few_of_the_namespaces_that_a_forged_inventory_lists(t *testing.T) {
	e := seeing(t, everywhere(1, 10_000))
	e.Watch(enginetest.Revision(2, in("", "Namespace", "zoo"), in("brought", "ConfigMap", "a")))
	got := e.newSweep(see.Discovered{}, nil).namespaces
	if most := listedPlacesAtMost + listedNamespacesAtMost + 3; len(got) > most || !slices.Contains(got, "zoo") || !slices.Contains(got, "brought") || !slices.Contains(got, "ns") {
		t.Errorf("%d namespaces are looked through", len(got))
	}
}

func TestSweep_looks_first_through_the_namespaces_that_the_inventory_of_a_watched_revision_lists(t *testing.T) {
	mine := own(func(inv *inventory.Inventory) {
		inv.Number = 2
		inv.Entries = append(inv.Entries, inventory.Entry{Version: "v1", Kind: "Namespace", Name: "zoo-kept", Retained: true})
	})
	e := seeing(t, everywhere(1, 1000), mine)
	e.Watch(enginetest.Revision(2))
	if got := e.newSweep(see.Discovered{}, nil).namespaces; !slices.Contains(got, "zoo-kept") || !slices.Contains(got, "tenant-00000") {
		t.Errorf("these namespaces are looked through: %q", got)
	}
}

func TestRecord_of_the_current_revision_goes_on_however_much_room_newer_inventories_take(t *testing.T) {
	e, p := recording(t, own(func(*inventory.Inventory) {}))
	stores(t, e, listed(2, "old"))
	for number := range int64(6) {
		stores(t, e, everywhere(number+10, 10_000))
	}
	if recorded, err := e.record(t.Context(), p); !recorded || err != nil {
		t.Errorf("it is recorded: %v, %v", recorded, err)
	}
	if got := e.Inventories(); got.Seen || !errors.Is(got.Err, inventory.ErrNoRoom) {
		t.Errorf("what runs is known before anybody knows what is listed: %v, %v", got.Seen, got.Err)
	}
	e.Proofs(3)
	if got := e.Inventories(); !got.Seen || got.Err != nil {
		t.Errorf("who asks what runs is told %v, %v", got.Seen, got.Err)
	}
	s, _ := e.storedOf(2)
	before := s.Object
	if err := e.store(t.Context(), listed(2)); !s.LacksRoom() || !errors.Is(err, inventory.ErrNoRoom) {
		t.Errorf("storing over one that is not read: %v, %v", s.LacksRoom(), err)
	}
	if s, _ := e.storedOf(2); s.Object != before {
		t.Error("it is written over")
	}
	e.Watch() // as after a start
	proves := func(found report.Proofs) bool {
		return slices.ContainsFunc(found.Of, func(p report.Proof) bool { return p.Number == 3 && p.Listed == "proof" && p.Own })
	}
	if got := e.Proofs(3); !proves(got) {
		t.Errorf("the listed revision is not proved: %v", got.Err)
	}
	if got := e.Proofs(); proves(got) || got.Seen || !errors.Is(got.Err, inventory.ErrNoRoom) {
		t.Errorf("who asks for proofs is told %v, %v", got.Seen, got.Err)
	}
	if got := e.Inventories(); got.Seen || !errors.Is(got.Err, inventory.ErrNoRoom) {
		t.Errorf("who asks for inventories is told %v, %v", got.Seen, got.Err)
	}
}

func TestOrphans_an_announcement_that_lists_something_stands_in_the_way_and_is_told(t *testing.T) {
	forged := listed(9, "a")
	forged.Revision, forged.Announced, forged.Adopted = "next", true, true
	e, rev := seeing(t, listed(1, "a", "b"), forged), enginetest.Revision(2)
	e.Watch(rev)
	if o := e.Orphans(rev); o.Ahead != 9 {
		t.Errorf("nobody is told: %+v", o)
	}
	p, _ := e.plan(rev)
	if _, err := e.orphansLocked(p); err == nil {
		t.Error("pruning goes on without it")
	}
	if _, hides := e.listedLocked()[listed(9, "a").Entries[0].Key().Identity()]; !hides {
		t.Error("the older revision lists it all the same")
	}
	stores(t, e, inventory.Announcement(inventory.RevisionRef{Name: "next", Number: 9, ContentID: "next", Listed: "proof"}))
	if got := orphanNames(t, e, rev); got != "a b" {
		t.Errorf("with an announcement of nothing: %q", got)
	}
}
