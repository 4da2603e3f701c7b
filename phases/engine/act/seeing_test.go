package act

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/see"
	"github.com/capstan-capi/capstan/phases/engine/throttle"
)

var (
	testUs    = decide.Identity{Owner: enginetest.Owner, FieldManager: "capstan", Legacy: []string{"old-installer"}, Namespaces: []string{"ns"}}
	testPlace = inventory.Place{Namespace: "ns", Prefix: "capstan-inventory-", Owner: enginetest.Owner}
)

// seeing is an engine that has seen these inventories and nothing else.
func seeing(t testing.TB, inventories ...*inventory.Inventory) *Engine {
	t.Helper()
	e := &Engine{us: testUs, shelf: inventory.Shelf{Place: testPlace}, cfg: Config{Owner: enginetest.Owner, Namespace: "ns", Clock: clock.RealClock{}, Notify: func() {}}, kicked: make(chan struct{}, 1), plans: map[*decide.Revision]*plan{}}
	e.sees(nil)
	e.conflicts, e.throttle = newConflicts(clock.RealClock{}), throttle.New(nil, clock.RealClock{})
	e.inventories = &see.Watch{Cluster: e.cluster, Synced: true, Objects: map[types.NamespacedName]*see.Object{}, Changed: func(types.NamespacedName) { e.inventoryChanges++ }}
	for _, inv := range inventories {
		obj, err := testPlace.ConfigMap(inv)
		if err != nil {
			t.Fatal(err)
		}
		e.inventories.Wrote(see.ObjectFrom(obj))
	}
	return e
}

// listed is an inventory of ConfigMaps.
func listed(number int64, names ...string) *inventory.Inventory {
	inv := &inventory.Inventory{Number: number}
	for _, name := range names {
		inv.Entries = append(inv.Entries, inventory.Entry{Version: "v1", Kind: "ConfigMap", Name: name, Component: "core", Wave: 1})
	}
	return inv
}
