package act

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

const manyObjects = 5000

// installed is an engine that has seen a revision of many objects as it was applied, and that revision.
func installed(tb testing.TB) (*Engine, *decide.Revision, *see.Watch) {
	tb.Helper()
	e := seeing(tb)
	key := decide.KeyOf(objects.Settings())
	w := e.watchOf(key.GVK(), see.Resource{})
	w.Synced = true
	e.watches = map[place]*see.Watch{{kind: key.GVK()}: w}
	objects := make([]*unstructured.Unstructured, manyObjects)
	for i := range objects {
		name := fmt.Sprintf("settings-%04d", i)
		objects[i] = &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": name, "namespace": "n"}, "data": map[string]any{"a": "1"},
		}}
		seen := enginetest.Applied()
		seen.SetName(name)
		w.Wrote(see.ObjectFrom(seen))
	}
	rev := enginetest.Revision(enginetest.Number, objects...)
	rev.Components[0] = rev.Components[0].Packed()
	e.Watch(rev)
	planned, _ := e.plan(rev)
	inv, err := testPlace.ConfigMap(e.inventoryOf(planned))
	if err != nil {
		tb.Fatal(err)
	}
	e.inventories.Wrote(see.ObjectFrom(inv))
	if report := e.Look(rev); !report.Complete() || report.Total() != manyObjects {
		tb.Fatal(report.Blocked())
	}
	return e, rev, w
}

// step is what the machine asks of the engine in every pass.
func step(tb testing.TB, e *Engine, rev *decide.Revision) {
	tb.Helper()
	e.Watch(rev)
	report := e.Look(rev)
	orphans := e.Orphans(rev)
	if report.Unknown() || report.Done() != report.Total() || report.Blocked() != "" || !orphans.Seen || len(orphans.Open) > 0 {
		tb.Fatal(report.Blocked())
	}
	kept, err := e.Reconcile(tb.Context(), rev, ReconcileOptions{Keep: true})
	if err != nil || !kept.Complete() || len(kept.Collisions()) > 0 {
		tb.Fatal(err, kept.Blocked())
	}
}

func BenchmarkLook5000(b *testing.B) {
	e, rev, w := installed(b)
	b.Run("nothing changed", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			step(b, e, rev)
		}
	})
	b.Run("one object changed", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			name := fmt.Sprintf("settings-%04d", i%manyObjects)
			old := w.Objects[types.NamespacedName{Namespace: "n", Name: name}]
			again := *old
			again.ResourceVersion = fmt.Sprint(100 + i)
			_ = w.Update(&again)
			step(b, e, rev)
		}
	})
	b.Run("everything again", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			e.cluster.Lock()
			e.markAllDirtyLocked()
			e.cluster.Unlock()
			step(b, e, rev)
		}
	})
}

func TestLook_at_thousands_of_objects_of_which_nothing_is_new_allocates_next_to_nothing(t *testing.T) {
	e, rev, _ := installed(t)
	if allocations := testing.AllocsPerRun(10, func() { step(t, e, rev) }); allocations > 200 {
		t.Errorf("%.0f allocations for %d objects", allocations, manyObjects)
	}
}
