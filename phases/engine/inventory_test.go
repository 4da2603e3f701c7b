package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

func TestInventory_comes_back_as_it_was_stored(t *testing.T) {
	rev := revisionOf(12, made(t, "apps/v1 Deployment", "v1 Service")...)
	inv := seeing(t).inventoryOf(planOf(rev, testOwner))
	inv.Entries = append(inv.Entries, entry{Version: "v1", Kind: "Namespace", Name: "old", Component: "gone", Wave: 3, UID: "u", Retained: true})
	obj, err := inv.configMap("ns", testOwner)
	if err != nil {
		t.Fatal(err)
	}
	if obj.GetName() != "capstan-inventory-12" || obj.GetNamespace() != "ns" {
		t.Errorf("stored as %s/%s", obj.GetNamespace(), obj.GetName())
	}
	s, ours := readStored(observedFrom(obj), testOwner)
	if !ours || s.err != nil || s.number != 12 {
		t.Fatalf("%v %+v", ours, s)
	}
	if s.inventory.ContentID != "content" || s.inventory.Revision != "rev" || !slices.Equal(s.inventory.Entries, inv.Entries) {
		t.Errorf("got %+v\nwant %+v", s.inventory, inv)
	}
	if got := s.inventory.retained(); len(got) != 1 || got[0].Name != "old" {
		t.Errorf("retained %v", got)
	}
	if _, ours := readStored(observedFrom(obj), "somebody else"); ours {
		t.Error("an inventory of another installation was read as ours")
	}
}

func TestInventory_that_was_tampered_with_is_an_error_that_names_it(t *testing.T) {
	good, err := seeing(t).inventoryOf(planOf(revisionOf(2), testOwner)).configMap("ns", testOwner)
	if err != nil {
		t.Fatal(err)
	}
	for name, tamper := range map[string]change{
		"no data": func(u *unstructured.Unstructured) { unstructured.RemoveNestedField(u.Object, "binaryData") },
		"no base64": func(u *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(u.Object, "?", "binaryData", inventoryKey)
		},
		"no gzip": func(u *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(u.Object, "eA==", "binaryData", inventoryKey)
		},
		"other numbers": func(u *unstructured.Unstructured) { u.SetName("capstan-inventory-3") },
	} {
		obj := good.DeepCopy()
		tamper(obj)
		if s, _ := readStored(observedFrom(obj), testOwner); s.err == nil || !strings.Contains(s.err.Error(), obj.GetName()) {
			t.Errorf("%s: %v", name, s.err)
		}
	}
}

// seeing is an engine that has seen these inventories and nothing else.
func seeing(t testing.TB, inventories ...*inventory) *Engine {
	t.Helper()
	e := &Engine{cfg: Config{Owner: testOwner, Namespace: "ns", Notify: func() {}}, kicked: make(chan struct{}, 1), plans: map[*Revision]*plan{}}
	e.rivalries, e.hold = newRivalries(clock.RealClock{}), newHold(nil, clock.RealClock{})
	e.inventories = &watched{e: e, synced: true, objects: map[types.NamespacedName]*observed{}, changed: func(types.NamespacedName) { e.booked++ }}
	for _, inv := range inventories {
		obj, err := inv.configMap("ns", testOwner)
		if err != nil {
			t.Fatal(err)
		}
		e.inventories.keep(observedFrom(obj))
	}
	return e
}

func listed(number int64, names ...string) *inventory {
	inv := &inventory{Number: number}
	for _, name := range names {
		kind, name, _ := strings.Cut(name, " ")
		name, retained := strings.CutSuffix(name, " retained")
		group := map[string]string{"CustomResourceDefinition": "apiextensions.k8s.io", "Deployment": "apps", "ClusterRole": "rbac.authorization.k8s.io", "ValidatingWebhookConfiguration": "admissionregistration.k8s.io"}[kind]
		inv.Entries = append(inv.Entries, entry{Group: group, Version: "v1", Kind: kind, Name: name, Component: "core", Wave: 1, Retained: retained})
	}
	return inv
}

func orphanNames(t *testing.T, e *Engine, keep *Revision) string {
	t.Helper()
	if _, err := e.plan(keep); err != nil {
		e.Watch(keep)
	}
	p, err := e.plan(keep)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := e.orphans(p)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range entries {
		names = append(names, x.key.Name)
	}
	return strings.Join(names, " ")
}

func TestOrphans(t *testing.T) {
	keep := revisionOf(3, made(t, "v1 ConfigMap", "v1 ConfigMap")...) // o0 and o1
	keep.Unmanaged = []string{"free"}
	rows := []struct {
		name        string
		inventories []*inventory
		want        string
	}{
		{"none without inventories", nil, ""},
		{"none of the kept revision's own", []*inventory{listed(3, "ConfigMap o0", "ConfigMap stray")}, ""},
		{"of all older revisions, each once", []*inventory{listed(1, "ConfigMap a", "ConfigMap b"), listed(2, "ConfigMap b", "ConfigMap c")}, "a b c"},
		{"not what is kept", []*inventory{listed(1, "ConfigMap o0", "ConfigMap a")}, "a"},
		{"not what a newer revision has", []*inventory{listed(1, "ConfigMap a", "ConfigMap b"), listed(4, "ConfigMap a")}, "b"},
		{"what was retained before", []*inventory{listed(3, "ConfigMap o0", "Namespace a retained")}, "a"},
		{"also CRDs that are unmanaged now, which are let go of", []*inventory{listed(1, "CustomResourceDefinition free", "CustomResourceDefinition a")}, "a free"},
		{
			"webhooks, the rest, workloads, services, config, CRDs, namespaces",
			[]*inventory{listed(1, "Namespace g", "CustomResourceDefinition f", "ClusterRole e", "Service d", "Deployment c", "ValidatingWebhookConfiguration a", "Thing b")},
			"a b c d e f g",
		},
	}
	for _, row := range rows {
		if got := orphanNames(t, seeing(t, row.inventories...), keep); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

func TestOrphans_the_component_that_came_last_goes_first(t *testing.T) {
	inv := listed(1, "Namespace core-namespace", "ValidatingWebhookConfiguration core-webhook", "Namespace aws-namespace", "Deployment aws-deployment")
	for i := range inv.Entries[2:] {
		inv.Entries[2+i].Component, inv.Entries[2+i].Wave = "aws", 2+i
	}
	e := seeing(t, inv)
	if got := orphanNames(t, e, revisionOf(2)); got != "aws-deployment aws-namespace core-webhook core-namespace" {
		t.Error(got)
	}
	rev := revisionOf(2)
	e.Watch(rev)
	o := e.Orphans(rev)
	if !o.Seen || len(o.Open) != 4 || len(o.Retained) != 0 || !slices.Equal(o.Revisions, []int64{1}) {
		t.Errorf("%+v", o)
	}
}

func TestOrphans_a_component_goes_as_one_although_revisions_had_different_waves_of_it(t *testing.T) {
	newer := listed(2, "CustomResourceDefinition definition")
	newer.Entries[0].Wave = 7
	if got := orphanNames(t, seeing(t, listed(1, "Deployment old"), newer), revisionOf(3)); got != "old definition" {
		t.Error(got)
	}
}

func TestSameContent_refuses_for_good_to_use_a_number_twice(t *testing.T) {
	e := seeing(t, &inventory{Number: 3, ContentID: "old"})
	s, found := e.storedOf(3)
	if !found {
		t.Fatal("the inventory is not seen")
	}
	var err *RevisionError
	if !errors.As(sameContent(s, revisionOf(3)), &err) || !err.Terminal() || !strings.Contains(err.Error(), "content old") {
		t.Errorf("got %v", err)
	}
}
