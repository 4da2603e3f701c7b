package openshiftcontrolplane_test

import (
	"slices"
	"testing"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/machine/machinetest"
	table "github.com/capstan-capi/capstan/machine/openshiftcontrolplane"
)

func TestTable(t *testing.T) {
	machinetest.Check(t, table.Table, "../../docs/state-diagrams/openshiftcontrolplane.md", 7)
}

func TestTable_rests_where_guests_are_asked_less_often_but_for_an_object_that_goes(t *testing.T) {
	for _, row := range table.Table.States {
		if restful := slices.Contains(guards.Restful, row.Name); restful != row.Rest && row.Name != guards.Deleting {
			t.Errorf("%s is at rest: %t, and its guest is asked as if it was: %t", row.Name, row.Rest, restful)
		}
	}
}

func TestTable_has_guests_asked_in_between_on_the_whole_way_from_their_first_answer_to_Installed(t *testing.T) {
	way := []machine.State{guards.AwaitingAPI}
	for i := 0; i < len(way); i++ {
		for _, move := range table.Table.Moves {
			if onWay := slices.Contains(move.From, way[i]) && !move.Urgent && move.To != guards.Failed && move.To != guards.Degraded && move.To != guards.Installed; onWay && !slices.Contains(way, move.To) {
				way = append(way, move.To)
			}
		}
	}
	if !slices.Equal(way, guards.Gated) {
		t.Errorf("the way is %v, and asked in between are those in %v", way, guards.Gated)
	}
}

func TestStories(t *testing.T) { machinetest.Play(t, table.Table, "testdata/*.txt") }
