package engine

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestStrays(t *testing.T) {
	e := seeing(t, listed(2, "ConfigMap listed"))
	kind := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	w := e.watchOf(kind, resource{gvr: configMaps, namespaced: true})
	w.synced = true
	e.watches = map[schema.GroupVersionKind]*watched{kind: w}
	rev := revisionOf(3, parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: wanted}}`))
	e.Watch(rev)
	see := func(name, owner, number string) {
		obj := version(name, "1")
		obj.Annotations = map[string]string{OwnerAnnotation: owner, RevisionAnnotation: number}
		w.keep(obj)
	}
	see("wanted", testOwner, "3")
	see("listed", testOwner, "2")
	see("foreign", "other", "1")
	see("labelled", "", "")
	if got := e.Strays(); len(got) != 0 {
		t.Errorf("none expected, got %v", got)
	}
	see("stray", testOwner, "1")
	see("old", "", "2")
	see("unnumbered", testOwner, "")
	got := e.Strays()
	if len(got) != 3 || got[0].Key.Name != "old" || got[0].Number != 2 || got[1].Key.Name != "stray" || got[1].Number != 1 || got[2].Key.Name != "unnumbered" {
		t.Errorf("got %v", got)
	}
	if again := e.Strays(); &again[0] != &got[0] {
		t.Error("looked again although nothing changed")
	}
	w.drop(got[1].Key.name())
	e.Watch()
	if got := e.Strays(); len(got) != 3 || got[2].Key.Name != "wanted" {
		t.Errorf("without the revision: %v", got)
	}
}

func TestAdoptedInventory_lists_what_still_carries_the_number_in_the_order_of_its_components(t *testing.T) {
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	made := func(component, kind, name string, number int64, after time.Duration) adoptable {
		return adoptable{entry{Group: "apps", Version: "v1", Kind: kind, Name: name, Component: component, UID: "u"}, number, begun.Add(after)}
	}
	inv := adoptedInventory(RevisionRef{Name: "old", Number: 7, ContentID: "c"}, []adoptable{
		made("aws", "Deployment", "aws", 7, time.Minute),
		made("core", "Thing", "core-thing", 7, 2*time.Minute),
		made("core", "Deployment", "core", 7, time.Hour),
		made("core", "Deployment", "core-next", 8, 0),
	})
	got := ""
	for _, e := range inv.Entries {
		got += e.Name + string(rune('0'+e.Wave)) + " "
	}
	if got != "core1 core-thing2 aws3 " || inv.Number != 7 || inv.Revision != "old" || inv.ContentID != "c" || !inv.Adopted {
		t.Errorf("got %s, %+v", got, inv)
	}
}

func TestAdopt_asks_nobody_when_every_revision_has_an_inventory(t *testing.T) {
	e := seeing(t, listed(2), listed(3)) // without clients: a request would panic
	if err := e.Adopt(t.Context(), RevisionRef{Number: 2}, RevisionRef{Number: 3}); err != nil {
		t.Error(err)
	}
	e.inventories.synced = false
	if err := e.Adopt(t.Context(), RevisionRef{Number: 2}); err == nil {
		t.Error("revisions were adopted before the inventories were seen")
	}
}

func TestPreferred_asks_for_every_kind_once(t *testing.T) {
	kinds := map[schema.GroupVersionKind]resource{}
	for _, v := range []string{"v1beta1", "v1", "v1alpha1"} {
		gvk := schema.GroupVersionKind{Group: "g", Version: v, Kind: "Thing"}
		kinds[gvk] = resource{gvr: gvk.GroupVersion().WithResource("things"), lists: v != "v1alpha1"}
	}
	kinds[schema.GroupVersionKind{Version: "v1", Kind: "Binding"}] = resource{}
	got := preferred(kinds)
	if _, best := got[schema.GroupVersionKind{Group: "g", Version: "v1", Kind: "Thing"}]; len(got) != 1 || !best {
		t.Errorf("got %v", got)
	}
}

func TestUnmarked_takes_off_our_marks_and_nothing_else(t *testing.T) {
	obj := parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, resourceVersion: "9",
		labels: {capi-operator.openshift.io/managed-by: core, app: x}, annotations: {capi-operator.openshift.io/revision: "4", note: x},
		managedFields: [{manager: capstan, operation: Apply}, {manager: capstan, operation: Update}, {manager: kubectl, operation: Update}]}}`)
	for _, only := range []bool{false, true} {
		if only {
			unstructured.RemoveNestedField(obj.Object, "metadata", "managedFields")
		}
		patch, err := unmarked(obj, []string{FieldManager})
		if err != nil {
			t.Fatal(err)
		}
		fields := `[{"manager":"kubectl","operation":"Update"}]`
		if only {
			fields = `[{}]`
		}
		want := `[{"op":"replace","path":"/metadata/resourceVersion","value":"9"},` +
			`{"op":"remove","path":"/metadata/labels/capi-operator.openshift.io~1managed-by"},` +
			`{"op":"remove","path":"/metadata/annotations/capi-operator.openshift.io~1revision"},` +
			`{"op":"replace","path":"/metadata/managedFields","value":` + fields + `}]`
		if string(patch) != want {
			t.Errorf("got  %s\nwant %s", patch, want)
		}
	}
}
