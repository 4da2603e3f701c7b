package compatibility_test

import (
	"testing"
	"time"

	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/compatibility"
	"github.com/capstan-capi/capstan/machine/machinetest"
)

func TestTable(t *testing.T) {
	machinetest.Check(t, table.Table, "../../docs/state-diagrams/compatibility.md", 7)
}

func TestStories(t *testing.T) {
	machinetest.Play(t, table.Table, "testdata/*.txt")
}

func TestOpeningAfter_changes_the_patience_with_the_checker_or_ends_it(t *testing.T) {
	for away, want := range map[time.Duration]int{0: 0, time.Minute: 2} {
		opens := 0
		changed := table.OpeningAfter(away)
		for _, move := range changed.Moves {
			if move.To == table.Open {
				opens++
				if move.For != away {
					t.Errorf("it opens after %s, not %s", move.For, away)
				}
			}
		}
		if err := changed.Validate(); opens != want || away > 0 && err != nil {
			t.Errorf("after %s: %d moves open it (%v)", away, opens, err)
		}
	}
	if move := table.Table.Leaving(table.Met)[0]; move.On != machine.Event("CheckerGone") || move.For != 15*time.Minute {
		t.Errorf("the table itself has changed: %+v", move)
	}
}
