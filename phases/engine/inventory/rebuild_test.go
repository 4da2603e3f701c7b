package inventory

import (
	"maps"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

func TestRebuild_lists_what_still_carries_the_number_in_the_order_of_its_components(t *testing.T) {
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	made := func(component, kind, name string, number int64, after time.Duration) Found {
		return Found{Entry{Group: "apps", Version: "v1", Kind: kind, Name: name, Component: component, UID: "u"}, number, true, begun.Add(after)}
	}
	inv := Rebuild(RevisionRef{Name: "old", Number: 7, ContentID: "c"}, []Found{
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

func TestSift_believes_managed_fields_only_where_no_tenant_writes(t *testing.T) {
	found := func(group, kind, namespace, name string, numbered bool, uid types.UID) Found {
		return Found{entry: Entry{Group: group, Version: "v1", Kind: kind, Namespace: namespace, Name: name, UID: uid}, number: 7, numbered: numbered}
	}
	ours, strays := Sift([]Found{
		found("", "Namespace", "", "provided", true, "1"),
		found("project.test", "Project", "", "provided", true, "1"),
		found("", "Namespace", "", "copied", false, "2"),
		found("", "ConfigMap", "provided", "inside", true, "3"),
		found("", "ConfigMap", "copied", "inside", true, "4"),
		found("", "ConfigMap", "guarded", "ours", true, "5"),
		found("", "ConfigMap", "guarded", "copy", false, "6"),
		found("", "ConfigMap", "tenant", "forged", true, "7"),
		found("rbac", "ClusterRole", "", "ours", true, "8"),
	}, decide.Identity{Namespaces: []string{"guarded"}}, func(key decide.Key) int { return len(key.Group) })
	names := map[string]bool{}
	for _, f := range ours {
		names[f.entry.Key().String()] = true
	}
	for _, stray := range strays {
		names[stray.Key.String()] = false
	}
	want := map[string]bool{
		"Namespace provided": true, "ConfigMap provided/inside": true, "ConfigMap guarded/ours": true, "ClusterRole ours": true,
		"Namespace copied": false, "ConfigMap copied/inside": false, "ConfigMap guarded/copy": false, "ConfigMap tenant/forged": false,
	}
	if !maps.Equal(names, want) {
		t.Errorf("got %v", names)
	}
}
