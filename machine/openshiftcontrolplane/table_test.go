package openshiftcontrolplane_test

import (
	"testing"

	"github.com/capstan-capi/capstan/machine/machinetest"
	table "github.com/capstan-capi/capstan/machine/openshiftcontrolplane"
)

func TestTable(t *testing.T) {
	machinetest.Check(t, table.Table, "../../docs/state-diagrams/openshiftcontrolplane.md")
}

func TestTable_asks_at_most_seven_questions_in_a_state(t *testing.T) {
	const most = 7
	for _, state := range table.Table.States {
		asked := map[string]bool{}
		for _, move := range table.Table.Leaving(state.Name) {
			for _, atom := range move.If.Atoms() {
				asked[atom.Name] = true
			}
		}
		if len(asked) > most {
			t.Errorf("%s asks %d questions: %v", state.Name, len(asked), asked)
		}
	}
}

func TestStories(t *testing.T) { machinetest.Play(t, table.Table, "testdata/*.txt") }
