package inventory

import (
	"errors"
	"maps"
	"slices"
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
	in := func(name string, inside ...string) (all []Found) {
		all = append(all, found("", "Namespace", "", name, true, types.UID(name)))
		for _, kind := range inside {
			all = append(all, found("", kind, name, "inside", true, types.UID(name+kind)))
		}
		return all
	}
	all := slices.Concat(in("listed", "ConfigMap"), in("guarded", "ConfigMap"), in("tenant", "ConfigMap"), []Found{
		found("project.test", "Project", "", "listed", true, "listed"),
		found("project.test", "Project", "", "another", true, "1"),
		found("used.test", "Project", "", "used", true, "2"),
		found("", "Namespace", "", "copied", false, "3"),
		found("", "ConfigMap", "guarded", "copy", false, "4"),
		found("rbac", "ClusterRole", "", "ours", true, "5"),
		found("rbac", "ClusterRole", "", "copy", false, "6"),
	})
	ours, strays := Sift(all, Evidence{
		Us:       decide.Identity{Namespaces: []string{"guarded"}},
		Rank:     func(key decide.Key) int { return len(key.Group) },
		Believed: func(key decide.Key) bool { return key.Group != "project.test" },
		Lists:    func(key decide.Key) bool { return key.IsNamespace() && (key.Name == "listed" || key.Name == "copied") },
	})
	names := map[string]bool{}
	for _, f := range ours {
		names[f.entry.Key().String()] = true
	}
	for _, stray := range strays {
		names[stray.Key.String()] = false
	}
	want := map[string]bool{
		"Namespace listed": true, "ConfigMap listed/inside": true, "Namespace guarded": true, "ConfigMap guarded/inside": true,
		"Namespace tenant": false, "ConfigMap tenant/inside": false, "Namespace copied": false, "ConfigMap guarded/copy": false,
		"ClusterRole ours": true, "ClusterRole copy": false,
		"Project another": false, "Project used": true,
	}
	if !maps.Equal(names, want) {
		t.Errorf("got %v", names)
	}
}

func TestGaps_are_those_of_all_that_is_stored(t *testing.T) {
	stored := []Stored{
		{Number: 2, Inventory: &Inventory{Revision: "two", Number: 2, ContentID: "c2", Silent: []string{"a.test"}}},
		{Number: 3, Err: errors.New("it is damaged")},
		{Number: 4, Inventory: &Inventory{Revision: "four", Number: 4}},
		{Number: 5, Inventory: &Inventory{Revision: "five", Number: 5, ContentID: "c5", Silent: []string{"b.test", "a.test"}}},
		{Number: 6, Inventory: &Inventory{Revision: "six", Number: 6, ContentID: "c6", Unsearched: true}},
	}
	two, five, six := RevisionRef{Name: "two", Number: 2, ContentID: "c2"}, RevisionRef{Name: "five", Number: 5, ContentID: "c5"}, RevisionRef{Name: "six", Number: 6, ContentID: "c6"}
	for _, row := range []struct{ got, want Gaps }{
		{GapsIn(stored), Gaps{[]RevisionRef{two, five, six}, []string{"a.test", "b.test"}, true}},
		{GapsBefore(stored, 6), Gaps{[]RevisionRef{two, five}, []string{"a.test", "b.test"}, false}},
		{GapsBefore(stored, 2), Gaps{}},
	} {
		if !slices.Equal(row.got.With, row.want.With) || !slices.Equal(row.got.Silent, row.want.Silent) || row.got.Unsearched != row.want.Unsearched {
			t.Errorf("got %+v, want %+v", row.got, row.want)
		}
	}
}

func TestUnite_closes_the_gaps_that_one_of_both_looks_has_not(t *testing.T) {
	a, ab := []string{"a.test"}, []string{"a.test", "b.test"}
	for name, row := range map[string]struct {
		inv, before    Inventory
		wantSilent     []string
		wantUnsearched bool
	}{
		"a group answers":                         {Inventory{Silent: a}, Inventory{Silent: ab}, a, false},
		"another group is silent":                 {Inventory{Silent: ab}, Inventory{Silent: a}, a, false},
		"there are more Namespaces now":           {Inventory{Unsearched: true}, Inventory{}, nil, false},
		"there were more Namespaces":              {Inventory{}, Inventory{Unsearched: true}, nil, false},
		"there are still more":                    {Inventory{Unsearched: true}, Inventory{Unsearched: true}, nil, true},
		"a group answers, of some Namespaces":     {Inventory{Unsearched: true}, Inventory{Silent: a}, nil, true},
		"all Namespaces, though not of one group": {Inventory{Silent: a}, Inventory{Unsearched: true}, a, false},
	} {
		row.inv.Unite(&row.before)
		if !slices.Equal(row.inv.Silent, row.wantSilent) || row.inv.Unsearched != row.wantUnsearched {
			t.Errorf("%s: %v, %v", name, row.inv.Silent, row.inv.Unsearched)
		}
	}
}

func TestUnite_loses_nothing_that_was_listed(t *testing.T) {
	entry := func(version, name string, uid types.UID) Entry {
		return Entry{Group: "g", Version: version, Kind: "Thing", Name: name, UID: uid}
	}
	inv := &Inventory{Entries: []Entry{entry("v2", "both", "new"), entry("v2", "found", "1")}}
	inv.Unite(&Inventory{Entries: []Entry{entry("v1", "both", "old"), entry("v1", "lost", "2")}})
	if !slices.Equal(inv.Entries, []Entry{entry("v2", "both", "new"), entry("v2", "found", "1"), entry("v1", "lost", "2")}) {
		t.Errorf("got %+v", inv.Entries)
	}
}

func TestAnnouncement_gives_way_to_the_revisions_own_list_whoever_reads_it(t *testing.T) {
	inv := Announcement(RevisionRef{Name: "rev", Number: 3, ContentID: "c", Listed: "proof"})
	obj, err := place.ConfigMap(inv)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := ReadStored(place, seen{obj})
	if s.Err != nil || !s.Inventory.Announced || !s.Inventory.Adopted || s.Inventory.IsOwn() || s.Inventory.Listed != "proof" {
		t.Errorf("got %+v, %v", s.Inventory, s.Err)
	}
}
