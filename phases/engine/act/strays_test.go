package act

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

func TestStrays(t *testing.T) {
	e := seeing(t, listed(2, "listed"))
	kind := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	w := e.watchOf(kind, see.Resource{GVR: configMaps, Namespaced: true})
	w.Synced = true
	e.watches = map[place]*see.Watch{{kind: kind}: w}
	rev := enginetest.Revision(3, objects.Parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: wanted}}`))
	e.Watch(rev)
	see := func(name, owner, number string) {
		u := objects.Settings()
		u.SetName(name)
		u.SetNamespace("")
		u.SetAnnotations(map[string]string{decide.OwnerAnnotation: owner, decide.RevisionAnnotation: number})
		obj := see.ObjectFrom(u)
		w.Wrote(obj)
	}
	see("wanted", enginetest.Owner, "3")
	see("listed", enginetest.Owner, "2")
	see("foreign", "other", "1")
	see("labelled", "", "")
	if got, _ := e.Strays(); len(got) != 0 {
		t.Errorf("none expected, got %v", got)
	}
	see("stray", enginetest.Owner, "1")
	see("old", "", "2")
	see("unnumbered", enginetest.Owner, "")
	got, _ := e.Strays()
	if len(got) != 3 || got[0].Key.Name != "old" || got[0].Number != 2 || got[1].Key.Name != "stray" || got[1].Number != 1 || got[2].Key.Name != "unnumbered" {
		t.Errorf("got %v", got)
	}
	if again, _ := e.Strays(); &again[0] != &got[0] {
		t.Error("looked again although nothing changed")
	}
	w.Drop(got[1].Key.NamespacedName())
	e.Watch()
	if got, _ := e.Strays(); len(got) != 3 || got[2].Key.Name != "wanted" {
		t.Errorf("without the revision: %v", got)
	}
}

func TestAdopt_asks_nobody_when_every_revision_has_an_inventory(t *testing.T) {
	e := seeing(t, listed(2), listed(3)) // without clients: a request would panic
	if err := e.Adopt(t.Context(), inventory.RevisionRef{Number: 2}, inventory.RevisionRef{Number: 3}); err != nil {
		t.Error(err)
	}
	e.inventories.Synced = false
	if err := e.Adopt(t.Context(), inventory.RevisionRef{Number: 2}); err == nil {
		t.Error("revisions were adopted before the inventories were seen")
	}
}

func TestUnlisted_is_a_gap_of_a_revision_that_nobody_lists_any_more(t *testing.T) {
	gap := listed(2)
	gap.Revision, gap.ContentID, gap.Silent = "two", "c2", []string{"other.test"}
	e := seeing(t, gap, listed(3))
	missing, gaps, err := e.unlisted(nil)
	if err != nil || !slices.Equal(missing, []inventory.RevisionRef{{Name: "two", Number: 2, ContentID: "c2"}}) || !slices.Equal(gaps.Silent, []string{"other.test"}) {
		t.Errorf("%v, %v, %v", missing, gaps, err)
	}
}

func TestPreferred_asks_for_every_kind_once(t *testing.T) {
	kinds := map[schema.GroupVersionKind]see.Resource{}
	for _, v := range []string{"v1beta1", "v1", "v1alpha1"} {
		gvk := schema.GroupVersionKind{Group: "g", Version: v, Kind: "Thing"}
		kinds[gvk] = see.Resource{GVR: gvk.GroupVersion().WithResource("things"), Lists: v != "v1alpha1"}
	}
	kinds[schema.GroupVersionKind{Version: "v1", Kind: "Binding"}] = see.Resource{}
	got := see.Discovered{Kinds: kinds}.Preferred()
	if _, best := got[schema.GroupVersionKind{Group: "g", Version: "v1", Kind: "Thing"}]; len(got) != 1 || !best {
		t.Errorf("got %v", got)
	}
}

func TestByWorth_objects_in_namespaces_crowd_out_none_of_the_clusters_own(t *testing.T) {
	stray := func(kind, namespace, name string) inventory.Stray {
		return inventory.Stray{Key: decide.Key{Kind: kind, Namespace: namespace, Name: name}}
	}
	found := []inventory.Stray{stray("ConfigMap", "a", "a"), stray("Namespace", "", "z"), stray("ConfigMap", "a", "b"), stray("ClusterRole", "", "y")}
	slices.SortFunc(found, byWorth)
	want := []inventory.Stray{stray("ClusterRole", "", "y"), stray("Namespace", "", "z"), stray("ConfigMap", "a", "a"), stray("ConfigMap", "a", "b")}
	if !slices.Equal(found, want) {
		t.Errorf("the order is %v", found)
	}
}
