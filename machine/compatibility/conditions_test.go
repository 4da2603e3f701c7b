package compatibility_test

import (
	"slices"
	"testing"

	guards "github.com/capstan-capi/capstan/guards/compatibility"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/compatibility"
	phases "github.com/capstan-capi/capstan/phases/compatibility"
)

func TestConditions_say_nothing_of_what_nobody_can_tell(t *testing.T) {
	known, seen := guards.Hooks{Known: true}, guards.CRD{Seen: true}
	for name, row := range map[string]struct {
		state machine.State
		facts guards.Facts
		want  []string
	}{
		"in force, and read":            {table.Met, guards.Facts{Hooks: known, CRD: seen}, []string{"Progressing", "Admitted", "Compatible"}},
		"in force, and CRD not read":    {table.Unmet, guards.Facts{Hooks: known}, []string{"Progressing", "Admitted"}},
		"in force before, and not read": {table.Met, guards.Facts{}, []string{"Progressing"}},
		"not in force, and not read":    {table.Arming, guards.Facts{}, []string{"Progressing", "Admitted"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range table.Conditions(phases.Snapshot{Record: machine.Record{State: row.state}, Facts: row.facts, Seen: &phases.Pass{}}) {
				got = append(got, c.Type)
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("told are %v, want %v", got, row.want)
			}
		})
	}
}
