package machine

import (
	"strings"
	"testing"
)

func TestDiagram_marks_where_the_machine_is_and_how_it_came_there(t *testing.T) {
	got := door().Diagram("Closed",
		Transition{From: "Closed", Event: "Forced", To: "Stuck"},
		Transition{From: "Stuck", Event: "Mended", To: "Closed"},
		Transition{From: "Closed", Event: "Forced", To: "Stuck"},
		Transition{From: "Stuck", Event: "Mended", To: "Closed"},
	)
	for _, want := range []string{
		"    Closed --> Stuck: (1, 3) Forced [urgent, urgent]\n",
		"    Stuck --> Closed: (2, 4) Mended [mended]\n",
		"    Closed --> Open: Opened [open] / Greet\n",
		"    class Closed current\n",
		"    class Stuck visited\n",
		"    classDef visited ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no line %q in\n%s", want, got)
		}
	}
	for _, unwanted := range []string{"class Open visited", "class Open current", "class Closed visited"} {
		if strings.Contains(got, unwanted) {
			t.Errorf("it says %q in\n%s", unwanted, got)
		}
	}
	if plain := door().Diagram(""); strings.Contains(plain, "visited") || strings.Contains(plain, "(1)") {
		t.Errorf("without a path it shows one:\n%s", plain)
	}
}

func TestPage_tells_what_a_move_writes_and_which_conditions_it_takes_back(t *testing.T) {
	table := door()
	for i := range table.Moves {
		switch table.Moves[i].On {
		case "Opened":
			table.Moves[i].Do.Writes, table.Moves[i].Takes = []string{"the guest book"}, []string{"Locked", "Warm"}
		case "Forced":
			table.Moves[i].Takes = []string{"Whole"}
		}
	}
	page := table.Page()
	for _, want := range []string{
		" | **Greet**: " + doc + "<br/>Writes: the guest book.<br/>False until `Open` is left: Locked, Warm. | ",
		" | urgent, urgent | False until `Stuck` is left: Whole. | ",
		" | mended | nothing | ",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("there is no %q in\n%s", want, page)
		}
	}
}
