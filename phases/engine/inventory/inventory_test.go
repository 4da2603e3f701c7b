package inventory

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
)

var place = Place{Namespace: "ns", Prefix: "capstan-inventory-", Owner: enginetest.Owner}

// seen is a ConfigMap that was seen.
type seen struct{ *unstructured.Unstructured }

func (s seen) Whole() *unstructured.Unstructured { return s.DeepCopy() }

// listed is an inventory of objects named "<kind> <name>", or "<kind> <name> retained".
func listed(number int64, names ...string) *Inventory {
	inv := &Inventory{Number: number}
	for _, name := range names {
		kind, name, _ := strings.Cut(name, " ")
		name, retained := strings.CutSuffix(name, " retained")
		group := map[string]string{"CustomResourceDefinition": "apiextensions.k8s.io", "Deployment": "apps", "ClusterRole": "rbac.authorization.k8s.io", "ValidatingWebhookConfiguration": "admissionregistration.k8s.io"}[kind]
		inv.Entries = append(inv.Entries, Entry{Group: group, Version: "v1", Kind: kind, Name: name, Component: "core", Wave: 1, Retained: retained})
	}
	return inv
}

func stored(inventories ...*Inventory) []Stored {
	var all []Stored
	for _, inv := range inventories {
		all = append(all, Stored{Number: inv.Number, Inventory: inv})
	}
	return all
}

func TestInventory_comes_back_as_it_was_stored(t *testing.T) {
	inv := listed(12, "Deployment o0", "Service o1")
	inv.Revision, inv.ContentID = "rev", "content"
	inv.Entries = append(inv.Entries, Entry{Version: "v1", Kind: "Namespace", Name: "old", Component: "gone", Wave: 3, UID: "u", Retained: true})
	obj, err := place.ConfigMap(inv)
	if err != nil {
		t.Fatal(err)
	}
	if obj.GetName() != "capstan-inventory-12" || obj.GetNamespace() != "ns" {
		t.Errorf("stored as %s/%s", obj.GetNamespace(), obj.GetName())
	}
	s, ours := ReadStored(place, seen{obj})
	if !ours || s.Err != nil || s.Number != 12 {
		t.Fatalf("%v %+v", ours, s)
	}
	if s.Inventory.ContentID != "content" || s.Inventory.Revision != "rev" || !slices.Equal(s.Inventory.Entries, inv.Entries) {
		t.Errorf("got %+v\nwant %+v", s.Inventory, inv)
	}
	if got := s.Inventory.Retained(); len(got) != 1 || got[0].Name != "old" {
		t.Errorf("retained %v", got)
	}
	for _, other := range []Place{{Prefix: place.Prefix, Owner: "somebody else"}, {Prefix: "other-", Owner: place.Owner}} {
		if _, ours := ReadStored(other, seen{obj}); ours {
			t.Error("an inventory of another installation was read as ours")
		}
	}
}

func TestInventory_that_was_tampered_with_is_an_error_that_names_it(t *testing.T) {
	good, err := place.ConfigMap(listed(2))
	if err != nil {
		t.Fatal(err)
	}
	for name, tamper := range map[string]func(*unstructured.Unstructured){
		"no data": func(u *unstructured.Unstructured) { unstructured.RemoveNestedField(u.Object, "binaryData") },
		"no base64": func(u *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(u.Object, "?", "binaryData", contentKey)
		},
		"no gzip": func(u *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(u.Object, "eA==", "binaryData", contentKey)
		},
		"other numbers": func(u *unstructured.Unstructured) { u.SetName("capstan-inventory-3") },
	} {
		obj := good.DeepCopy()
		tamper(obj)
		if s, _ := ReadStored(place, seen{obj}); s.Err == nil || !strings.Contains(s.Err.Error(), obj.GetName()) {
			t.Errorf("%s: %v", name, s.Err)
		}
	}
}

func orphanNames(t *testing.T, current *decide.Revision, inventories ...*Inventory) string {
	t.Helper()
	of := Current{Number: current.Number, Unmanaged: map[string]bool{}, Live: map[decide.Key]string{}}
	for _, name := range current.Unmanaged {
		of.Unmanaged[name] = true
	}
	for _, c := range current.Components {
		for _, key := range c.Keys() {
			of.Live[key.Identity()] = current.Name
		}
	}
	found, err := Candidates(stored(inventories...), of)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range found {
		names = append(names, x.Key.Name)
	}
	return strings.Join(names, " ")
}

func TestCandidates(t *testing.T) {
	keep := enginetest.Revision(3, enginetest.Made(t, "v1 ConfigMap", "v1 ConfigMap")...) // o0 and o1
	keep.Unmanaged = []string{"free"}
	rows := []struct {
		name        string
		inventories []*Inventory
		want        string
	}{
		{"none without inventories", nil, ""},
		{"none of the kept revision's own", []*Inventory{listed(3, "ConfigMap o0", "ConfigMap stray")}, ""},
		{"of all older revisions, each once", []*Inventory{listed(1, "ConfigMap a", "ConfigMap b"), listed(2, "ConfigMap b", "ConfigMap c")}, "a b c"},
		{"not what is kept", []*Inventory{listed(1, "ConfigMap o0", "ConfigMap a")}, "a"},
		{"not what a newer revision has", []*Inventory{listed(1, "ConfigMap a", "ConfigMap b"), listed(4, "ConfigMap a")}, "b"},
		{"what was retained before", []*Inventory{listed(3, "ConfigMap o0", "Namespace a retained")}, "a"},
		{"also CRDs that are unmanaged now, which are let go of", []*Inventory{listed(1, "CustomResourceDefinition free", "CustomResourceDefinition a")}, "a free"},
		{
			"webhooks, the rest, workloads, services, config, CRDs, namespaces",
			[]*Inventory{listed(1, "Namespace g", "CustomResourceDefinition f", "ClusterRole e", "Service d", "Deployment c", "ValidatingWebhookConfiguration a", "Thing b")},
			"a b c d e f g",
		},
	}
	for _, row := range rows {
		if got := orphanNames(t, keep, row.inventories...); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

func TestCandidates_the_component_that_came_last_goes_first(t *testing.T) {
	inv := listed(1, "Namespace core-namespace", "ValidatingWebhookConfiguration core-webhook", "Namespace aws-namespace", "Deployment aws-deployment")
	for i := range inv.Entries[2:] {
		inv.Entries[2+i].Component, inv.Entries[2+i].Wave = "aws", 2+i
	}
	if got := orphanNames(t, enginetest.Revision(2), inv); got != "aws-deployment aws-namespace core-webhook core-namespace" {
		t.Error(got)
	}
}

func TestCandidates_a_component_goes_as_one_although_revisions_had_different_waves_of_it(t *testing.T) {
	newer := listed(2, "CustomResourceDefinition definition")
	newer.Entries[0].Wave = 7
	if got := orphanNames(t, enginetest.Revision(3), listed(1, "Deployment old"), newer); got != "old definition" {
		t.Error(got)
	}
}

func TestSameContent_refuses_for_good_to_use_a_number_twice(t *testing.T) {
	s := Stored{Number: 3, Inventory: &Inventory{Number: 3, ContentID: "old"}}
	var err *decide.RevisionError
	if !errors.As(s.SameContent(enginetest.Revision(3)), &err) || !err.Terminal() || !strings.Contains(err.Error(), "content old") {
		t.Errorf("got %v", err)
	}
}

func TestShelf_unpacks_an_inventory_once(t *testing.T) {
	shelf := Shelf{Place: place}
	var all []ConfigMap
	for _, number := range []int64{10, 9} {
		obj, err := place.ConfigMap(listed(number, "ConfigMap a"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, seen{obj})
	}
	first, again := shelf.Of(slices.Values(all)), shelf.Of(slices.Values(all))
	if len(first) != 2 || first[0].Number != 9 || first[0].Inventory != again[0].Inventory {
		t.Errorf("got %v and %v", first, again)
	}
}

func TestInventory_that_does_not_fit_is_refused_for_good(t *testing.T) {
	inv := &Inventory{Revision: "big", Number: 1}
	for i := range 60_000 {
		inv.Entries = append(inv.Entries, Entry{Version: "v1", Kind: "ConfigMap", Name: "x", UID: scattered(i)})
	}
	_, err := place.ConfigMap(inv)
	var fault *decide.RevisionError
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), "60000 objects") {
		t.Errorf("got %v", err)
	}
}

func TestInventory_with_more_entries_than_are_read_is_refused_for_good(t *testing.T) {
	_, err := place.ConfigMap(&Inventory{Revision: "many", Number: 1, Entries: make([]Entry, listLimit+1)})
	var fault *decide.RevisionError
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), "20001 objects") {
		t.Errorf("got %v", err)
	}
	long := Entry{Name: strings.Repeat("x", 1<<10)}
	_, err = place.ConfigMap(&Inventory{Revision: "long", Number: 1, Entries: slices.Repeat([]Entry{long}, 10_000)})
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), "10000 objects") {
		t.Errorf("got %v", err)
	}
}

func TestInventory_forged_to_be_large_takes_little_memory(t *testing.T) {
	for name, text := range map[string]string{
		"entries":      `{"number":1,"entries":[` + strings.Repeat(`{},`, contentLimit/3-20) + `{}]}`,
		"other case":   `{"number":1,"Entries":[` + strings.Repeat(`{},`, contentLimit/3-20) + `{}]}`,
		"groups":       `{"number":1,"silent":[` + strings.Repeat(`"",`, contentLimit/3-20) + `""]}`,
		"text":         `{"number":1,"revision":"` + strings.Repeat(`x`, 2*contentLimit) + `"}`,
		"no list":      `{"number":1,"entries":{}}`,
		"half a list":  `{"number":1,"entries":[{}`,
		"another kind": `{"number":1,"entries":[5]}`,
	} {
		var packed bytes.Buffer
		zip := gzip.NewWriter(&packed)
		_, _ = zip.Write([]byte(text))
		_ = zip.Close()
		obj, err := place.ConfigMap(&Inventory{Number: 1})
		if err != nil {
			t.Fatal(err)
		}
		obj.Object["binaryData"] = map[string]any{contentKey: base64.StdEncoding.EncodeToString(packed.Bytes())}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		inv, err := place.Read(obj)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "ConfigMap") {
			t.Errorf("%s: %d entries, %v", name, len(inv.Entries), err)
		}
		if takes := (after.TotalAlloc - before.TotalAlloc) >> 20; takes > 64 {
			t.Errorf("%s: reading takes %d MiB", name, takes)
		} else {
			t.Logf("%s: reading takes %d MiB: %v", name, takes, err)
		}
	}
}

func TestInventory_of_5000_objects_fits_five_times(t *testing.T) {
	inv := &Inventory{Revision: "large", Number: 1}
	for i := range 5000 {
		uid := scattered(i)
		inv.Entries = append(inv.Entries, Entry{
			Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta1", Kind: "AWSMachineTemplate", Namespace: "openshift-cluster-api",
			Name: "object-" + string(uid[:12]), Component: "cluster-api-provider-aws", Wave: i / 500, UID: uid,
		})
	}
	obj, err := place.ConfigMap(inv)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := unstructured.NestedString(obj.Object, "binaryData", contentKey)
	if size := len(text) * 3 / 4; size > configMapLimit/5 {
		t.Errorf("%d bytes", size)
	} else {
		t.Logf("%d bytes", size)
	}
}

// scattered is a UID that does not compress better than real ones.
func scattered(i int) types.UID {
	sum := sha256.Sum256([]byte(strconv.Itoa(i)))
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]))
}
