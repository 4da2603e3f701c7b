package act

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// nobody answers no request.
type nobody struct{}

func (nobody) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("nobody answers")
}

// unanswering is an engine of the namespaces capi and operator, which nobody answers, and the places that it watches.
func unanswering(t *testing.T) (e *Engine, watched func() []string) {
	t.Helper()
	e, err := New(Config{REST: &rest.Config{Host: "http://localhost", Transport: nobody{}}, Namespace: "operator", Namespaces: []string{"capi"}, Owner: enginetest.Owner, FieldManager: "capstan", InventoryPrefix: "capstan-inventory-"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() {
		cancel()
		e.cluster.Running.Wait()
	})
	return e, func() (places []string) {
		e.startWatches(ctx)
		for at := range e.watches {
			places = append(places, at.kind.Kind+" "+at.namespace)
		}
		slices.Sort(places)
		return places
	}
}

// in is an object of a kind in a namespace.
func in(namespace, kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind}}
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// locked does something as what the watches see is taken in.
func locked(e *Engine, do func()) {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	do()
}

func TestWatches_look_where_revisions_and_inventories_have_objects_and_nowhere_else(t *testing.T) {
	e, watched := unanswering(t)
	first := watched()
	for _, want := range []string{"Service capi", "Deployment capi", "ClusterRole ", "CustomResourceDefinition "} {
		if !slices.Contains(first, want) {
			t.Errorf("before a revision is known, %q is not watched", want)
		}
	}
	if slices.Contains(first, "Service ") || slices.Contains(first, "Service operator") || len(first) != len(see.CommonKinds) {
		t.Errorf("before a revision is known it watches %q", first)
	}
	rev := enginetest.Revision(2, in("capi", "ConfigMap", "a"), in("brought", "ConfigMap", "b"), in("", "Namespace", "brought"), in("wrong", "Namespace", "wrong"))
	e.Watch(rev)
	if got := watched(); !slices.Equal(got, []string{"ConfigMap brought", "ConfigMap capi", "Namespace "}) {
		t.Errorf("of the revision it watches %q", got)
	}
	older := &inventory.Inventory{Revision: "one", Number: 1, ContentID: "c", Entries: []inventory.Entry{{Version: "v1", Kind: "Secret", Namespace: "old", Name: "s"}}}
	stored, err := e.shelf.Place.ConfigMap(older)
	if err != nil {
		t.Fatal(err)
	}
	locked(e, func() {
		e.inventories = &see.Watch{Cluster: e.cluster, Synced: true}
		e.inventories.Wrote(see.ObjectFrom(stored))
	})
	if got := watched(); !slices.Equal(got, []string{"ConfigMap brought", "ConfigMap capi", "Namespace ", "Secret old"}) {
		t.Errorf("with an inventory it watches %q", got)
	}
	e.Watch()
	if got := watched(); !slices.Equal(got, []string{"Secret old"}) {
		t.Errorf("of the inventory alone it watches %q", got)
	}
}

func TestWatches_begin_anew_when_what_they_dropped_is_wanted(t *testing.T) {
	e, watched := unanswering(t)
	e.Watch(enginetest.Revision(2, in("capi", "ConfigMap", "a")))
	watched()
	at := place{configMapKind, "capi"}
	w := e.watches[at]
	seen := see.ObjectFrom(in("capi", "ConfigMap", "b"))
	if w.Wants(seen) || !w.Wants(see.ObjectFrom(in("capi", "ConfigMap", "a"))) {
		t.Fatal("it wants what nobody lists, or not what a revision has")
	}
	locked(e, func() {
		w.Synced = true
		w.Wrote(seen)
		if w.Strip(w.Wants); !w.Objects[seen.NamespacedName()].Bare {
			t.Fatal("it keeps what nobody lists")
		}
	})
	if watched(); e.watches[at] != w {
		t.Error("it began anew although nothing new is wanted")
	}
	e.Watch(enginetest.Revision(3, in("capi", "ConfigMap", "a"), in("capi", "ConfigMap", "b")))
	locked(e, func() {
		if s := e.observeLocked(decide.KeyOf(in("capi", "ConfigMap", "b"))); s.unobservable != decide.Unknown {
			t.Errorf("what was dropped is observed as %+v", s)
		}
	})
	if watched(); e.watches[at] == w {
		t.Error("it did not begin anew")
	}
}

func TestWatches_keep_little_before_it_is_known_what_is_wanted(t *testing.T) {
	e, _ := unanswering(t)
	wants := e.wants(configMapKind)
	small, kept := see.ObjectFrom(in("capi", "ConfigMap", "a")), 0
	for range unplannedBytes {
		if wants(small) {
			kept += small.Size()
		}
	}
	if kept > unplannedBytes || kept < unplannedBytes/2 {
		t.Errorf("it keeps %d bytes", kept)
	}
	if !e.wants(see.CRDKind)(see.ObjectFrom(in("", "CustomResourceDefinition", "a"))) {
		t.Error("it drops what no tenant can write")
	}
}

func TestAdopt_asks_only_for_kinds_that_revisions_may_have_and_where_they_may_have_them(t *testing.T) {
	s := &groupsServer{}
	e := s.engine(t)
	e.cfg.Namespaces = []string{"ns", "capi"}
	e.cfg.MayHave = func(kind schema.GroupKind) bool { return kind.Kind == "Thing" }
	if err := e.Adopt(t.Context(), inventory.RevisionRef{Name: "two", Number: 2}); err != nil {
		t.Fatal(err)
	}
	if s.asked["things"] != 2 || s.asked["secrets"]+s.asked["copys"] > 0 {
		t.Errorf("it asked for %v", s.asked)
	}
	e.Watch(enginetest.Revision(3, objects.Parse(t, `{apiVersion: v1, kind: Secret, metadata: {name: mine, namespace: brought}}`)))
	e.inventories = &see.Watch{Cluster: e.cluster, Synced: true}
	clear(s.asked)
	if err := e.Adopt(t.Context(), inventory.RevisionRef{Name: "two", Number: 2}); err != nil {
		t.Fatal(err)
	}
	if s.asked["secrets"] != 3 || s.asked["copys"] > 0 {
		t.Errorf("with a revision of Secrets it asked for %v", s.asked)
	}
}
