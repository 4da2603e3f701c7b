package clusterapi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
)

func TestNews_what_stood_before_is_none(t *testing.T) {
	before := Detail{
		Retained:  []guards.RetainedObject{{Object: "CustomResourceDefinition as", Why: "holds 1 instances", Count: 1}},
		Contested: []guards.Contested{{Object: "ConfigMap a", Field: ".data.x", Managers: []string{"x"}, Times: 5}},
	}
	now := guards.Display{
		Retained:   []guards.RetainedObject{{Object: "CustomResourceDefinition as", Why: "holds 2 instances", Count: 2}, {Object: "Namespace b", Why: "holds 1 objects", Count: 1}},
		Strays:     []string{"ConfigMap s"},
		Collisions: []guards.Collision{{Object: "ConfigMap c", Holder: "x", Why: "exists already"}, {Object: "ConfigMap d", Holder: "x", Why: "exists already"}},
		Refused:    []guards.Refused{{Object: "CustomResourceDefinition bs", Why: "version v1 is dropped"}},
		Contested:  []guards.Contested{{Object: "ConfigMap a", Field: ".data.x", Managers: []string{"x"}, Times: 9}},
	}
	var got []string
	written := storedDetail(detailOf("", now, nil).encode())
	for _, n := range eventsOf(before, written, now) {
		got = append(got, fmt.Sprintf("%v %s: %s", n.Warns, n.Reason, n.Text))
	}
	want := []string{
		"true Collision: ConfigMap c exists already; ConfigMap d exists already",
		"true Refused: the update of CustomResourceDefinition bs is refused: version v1 is dropped",
		"false Retained: Namespace b (holds 1 objects)",
		"true Stray: ConfigMap s",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := eventsOf(Detail{}, written, now); len(got) != 5 {
		t.Errorf("without a stored detail everything is news, but %+v", got)
	}
}

func TestNews_what_the_detail_has_no_room_for_is_none_either(t *testing.T) {
	d := guards.Display{}
	for i := range 300 {
		d.Strays = append(d.Strays, fmt.Sprintf("ConfigMap tenant/copy-%03d", i))
	}
	stored := storedDetail(detailOf("", d, nil).encode())
	if got := eventsOf(Detail{}, stored, d); len(got) != 1 {
		t.Errorf("a new set is told once, got %+v", got)
	}
	if got := eventsOf(stored, storedDetail(detailOf("", d, nil).encode()), d); len(got) != 0 {
		t.Errorf("a set that was told is told again: %+v", got)
	}
}
