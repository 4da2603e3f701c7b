package inventory

import (
	"testing"
	"time"
)

func TestRebuild_lists_what_still_carries_the_number_in_the_order_of_its_components(t *testing.T) {
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	made := func(component, kind, name string, number int64, after time.Duration) Found {
		return Found{Entry{Group: "apps", Version: "v1", Kind: kind, Name: name, Component: component, UID: "u"}, number, begun.Add(after)}
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
