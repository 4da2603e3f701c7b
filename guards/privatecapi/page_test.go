package privatecapi

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/machine"
)

// People ask at night whether there is a way back, and the page has the stage for each state.
func TestPage_says_which_stage_each_state_of_a_move_has(t *testing.T) {
	page, err := os.ReadFile("../../docs/private-capi.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "| states, in order | stage |")
	if !found {
		t.Fatal("there is no table of states with their stages")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	said := map[machine.State][]Stage{}
	for line := range strings.Lines(table) {
		columns := strings.Split(strings.TrimPrefix(line, "| "), " | ")
		if len(columns) != 4 {
			continue // it is the head
		}
		for _, state := range strings.Split(columns[0], ", ") {
			for _, stage := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(columns[1], -1) {
				said[machine.State(state)] = append(said[machine.State(state)], Stage(stage[1]))
			}
		}
	}
	states := 0
	for state, only := range fitting {
		allowed := slices.Concat(only, also[state].stages)
		stages, told := said[state]
		if states++; !told || len(stages) == 0 {
			t.Errorf("the page does not say which stage %s has", state)
		}
		for _, stage := range stages {
			if !slices.Contains(allowed, stage) {
				t.Errorf("the page says that %s has stage %s, which does not allow it", state, stage)
			}
		}
	}
	if states < 15 {
		t.Errorf("only %d states were looked at", states)
	}
}
