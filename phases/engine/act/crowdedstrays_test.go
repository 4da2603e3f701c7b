package act

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// straysOf are so many of a kind in a namespace.
func straysOf(kind, namespace, prefix string, many int) (found []inventory.Stray) {
	for i := range many {
		found = append(found, inventory.Stray{Key: decide.Key{Version: "v1", Kind: kind, Namespace: namespace, Name: fmt.Sprintf("%s-%03d", prefix, i)}, Number: 1})
	}
	return found
}

// strayWatch has a watch show strays.
func strayWatch(e *Engine, strays ...inventory.Stray) {
	for _, stray := range strays {
		at := place{stray.Key.GVK(), stray.Key.Namespace}
		if e.watches == nil {
			e.watches = map[place]*see.Watch{}
		}
		if e.watches[at] == nil {
			e.watches[at] = e.watchOf(at.kind, see.Resource{Namespaced: at.namespace != ""})
			e.watches[at].Synced = true
		}
		u := objects.Settings()
		u.SetGroupVersionKind(at.kind)
		u.SetName(stray.Key.Name)
		u.SetNamespace(at.namespace)
		u.SetAnnotations(map[string]string{decide.OwnerAnnotation: enginetest.Owner, decide.RevisionAnnotation: "1"})
		e.watches[at].Wrote(see.ObjectFrom(u))
	}
}

func TestStrays_in_namespaces_of_others_hide_none_of_ours(t *testing.T) {
	others, ours := straysOf("ConfigMap", "a-tenant", "copy", straysAtMost+30), straysOf("ConfigMap", "ns", "ours", 3)
	watched := seeing(t)
	strayWatch(watched, slices.Concat(others, ours)...)
	swept := seeing(t)
	swept.sweptStrays(see.Discovered{}, slices.Concat(others, ours))
	for name, e := range map[string]*Engine{"watched": watched, "swept": swept} {
		if names, more := told(e); fmt.Sprint(names) != "[ours-000 ours-001 ours-002]" || more != len(others) {
			t.Errorf("%s: told are %v and %d more", name, names, more)
		}
		if counted := e.StraysElsewhere(); len(counted) != 1 || counted[schema.GroupKind{Kind: "ConfigMap"}] < straysAtMost-len(ours) {
			t.Errorf("%s: elsewhere are %v", name, counted)
		}
	}
	if len(swept.swept.objects) > straysAtMost {
		t.Errorf("%d are remembered", len(swept.swept.objects))
	}
}

func TestStrays_in_a_namespace_that_a_revision_brings_are_told_by_name(t *testing.T) {
	e := seeing(t)
	e.Watch(enginetest.Revision(3, objects.Parse(t, `{apiVersion: v1, kind: Namespace, metadata: {name: capa-system}}`)))
	strayWatch(e, slices.Concat(straysOf("ConfigMap", "capa-system", "ours", 1), straysOf("ConfigMap", "a-tenant", "copy", 1))...)
	if names, more := told(e); fmt.Sprint(names) != "[ours-000]" || more != 1 {
		t.Errorf("told are %v and %d more", names, more)
	}
}

func TestStrays_of_one_kind_crowd_out_none_of_another(t *testing.T) {
	all := slices.Concat(straysOf("ConfigMap", "ns", "copy", straysAtMost+30), straysOf("Secret", "ns", "secret", 2), straysOf("Namespace", "", "project", straysAtMost), straysOf("ClusterRole", "", "role", 1))
	watched := seeing(t)
	strayWatch(watched, all...)
	swept := seeing(t)
	swept.sweptStrays(see.Discovered{}, all)
	for name, e := range map[string]*Engine{"watched": watched, "swept": swept} {
		found, more := e.Strays()
		kinds := map[string]int{}
		for _, stray := range found {
			kinds[stray.Key.Kind]++
		}
		if len(found) != straysAtMost || more != len(all)-straysAtMost || kinds["Secret"] != 2 || kinds["ClusterRole"] != 1 || kinds["ConfigMap"] < 48 || kinds["Namespace"] < 48 {
			t.Errorf("%s: told are %v and %d more", name, kinds, more)
		}
		if !slices.IsSortedFunc(found, byWorth) || found[0].Key.Kind != "ClusterRole" {
			t.Errorf("%s: their order is %v", name, found[:5])
		}
	}
}

func TestInTurn_takes_of_each_kind_the_first(t *testing.T) {
	kind := func(text string) schema.GroupKind { return schema.GroupKind{Kind: text[:1]} }
	for most, want := range map[int]string{0: "[]", 1: "[a1]", 2: "[a1 b1]", 4: "[a1 b1 a2 b2]", 5: "[a1 b1 a2 b2 a3]", 6: "[a1 a2 a3 a4 b1 b2]"} {
		if got := fmt.Sprint(inTurn([]string{"a1", "a2", "a3", "a4", "b1", "b2"}, most, kind)); got != want {
			t.Errorf("%d are %s", most, got)
		}
	}
}
