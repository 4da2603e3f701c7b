package act

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// shop is an API server of ConfigMaps, by name.
type shop struct {
	objects map[string]*unstructured.Unstructured
	reads   int
}

func (s *shop) add(name string, finalizers ...string) {
	o := enginetest.Applied()
	o.SetName(name)
	o.SetNamespace("")
	o.SetFinalizers(finalizers)
	s.objects[name] = o
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	o := s.objects[path.Base(r.URL.Path)]
	if r.Method == http.MethodGet {
		s.reads++
	}
	switch {
	case o == nil:
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(refused(http.StatusNotFound, "NotFound").body))
		return
	case r.Method == http.MethodDelete && len(o.GetFinalizers()) == 0:
		delete(s.objects, o.GetName())
	}
	_ = json.NewEncoder(w).Encode(o)
}

// tearing is an engine that prunes what an inventory lists in a shop.
func tearing(t *testing.T, s *shop, inv *inventory.Inventory) (*Engine, *decide.Revision) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	keep := enginetest.Revision(enginetest.Number + 1)
	e := seeing(t, inv)
	e.cfg.Concurrency = 1
	e.dynamic = dynamic.NewForConfigOrDie(&rest.Config{Host: server.URL})
	e.kinds = see.Kinds{Asked: true, Discovered: see.Discovered{Kinds: map[schema.GroupVersionKind]see.Resource{configMapKind: {GVR: configMaps}}}}
	e.Watch(keep)
	return e, keep
}

func TestTeardown_looks_once_more_at_what_it_saw_go(t *testing.T) {
	s := &shop{objects: map[string]*unstructured.Unstructured{}}
	e, keep := tearing(t, s, listed(enginetest.Number, "first", "last"))
	s.add("first")
	s.add("last", "somebody.test/waits")
	done, err := e.Teardown(t.Context(), keep, TeardownOptions{})
	if err != nil || done.Complete() || len(done.Gone) != 1 || s.objects["first"] != nil {
		t.Fatalf("%v, %v", done, err)
	}
	s.add("first") // the API server was restored
	delete(s.objects, "last")
	if done, err = e.Teardown(t.Context(), keep, TeardownOptions{}); err != nil || !done.Complete() || len(done.Gone) != 2 {
		t.Errorf("%v, %v", done, err)
	}
	if s.objects["first"] != nil {
		t.Error("pruning counts as complete, and what is back runs on")
	}
	s.reads = 0
	if done, err = e.Teardown(t.Context(), keep, TeardownOptions{}); err != nil || !done.Complete() || s.reads > 2 {
		t.Errorf("%v, %v, %d reads", done, err, s.reads)
	}
	for _, o := range done.Gone {
		if want := map[string]decide.Action{"first": decide.Deleted, "last": decide.Absent}[o.Key.Name]; o.Action != want {
			t.Errorf("%s: %s", o.Key, o.Action)
		}
	}
}

func TestTeardown_looks_once_in_a_pass_at_what_it_leaves(t *testing.T) {
	s := &shop{objects: map[string]*unstructured.Unstructured{}}
	e, keep := tearing(t, s, listed(enginetest.Number, "given", "gone"))
	s.add("given")
	s.objects["given"].SetAnnotations(map[string]string{decide.OwnerAnnotation: "somebody"})
	for range 2 {
		s.reads = 0
		if done, err := e.Teardown(t.Context(), keep, TeardownOptions{}); err != nil || !done.Complete() || len(done.Left) != 1 || len(done.Gone) != 1 || s.reads != 2 {
			t.Errorf("%+v, %v, %d reads", done, err, s.reads)
		}
	}
}

func TestTeardown_counts_as_gone_what_it_saw_go_while_it_waits_for_what_is_back(t *testing.T) {
	s := &shop{objects: map[string]*unstructured.Unstructured{}}
	inv := listed(enginetest.Number, "first", "second", "third")
	for i := range inv.Entries {
		inv.Entries[i].Component, inv.Entries[i].Wave = inv.Entries[i].Name, len(inv.Entries)-i // one step each
	}
	e, keep := tearing(t, s, inv)
	s.add("first")
	if done, err := e.Teardown(t.Context(), keep, TeardownOptions{}); err != nil || !done.Complete() || len(done.Gone) != 3 {
		t.Fatalf("%+v, %v", done, err)
	}
	s.add("second", "somebody.test/waits") // the API server was restored
	for range 2 {
		done, err := e.Teardown(t.Context(), keep, TeardownOptions{})
		if err != nil || len(done.Waiting) != 1 || done.Waiting[0].Key.Name != "second" || len(done.Gone) != 2 {
			t.Errorf("%+v, %v", done, err)
		}
	}
	s.objects["second"].SetFinalizers(nil)
	if done, err := e.Teardown(t.Context(), keep, TeardownOptions{}); err != nil || !done.Complete() || len(done.Gone) != 3 || len(s.objects) > 0 {
		t.Errorf("%+v, %v", done, err)
	}
}
