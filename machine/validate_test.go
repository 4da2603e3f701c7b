package machine

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestValidate_names_every_mistake(t *testing.T) {
	if err := door().Validate(); err != nil {
		t.Fatalf("the sound table is refused: %v", err)
	}
	for want, spoil := range map[string]func(*Table[world, *world]){
		"Opened leaves Closed twice":            func(d *Table[world, *world]) { d.Moves[1].On = "Opened" },
		"leads to \"Ajar\"":                     func(d *Table[world, *world]) { d.Moves[0].To = "Ajar" },
		"leaves \"Ajar\"":                       func(d *Table[world, *world]) { d.Moves[0].From = []State{"Ajar"} },
		"from Closed to itself":                 func(d *Table[world, *world]) { d.Moves[0].To = "Closed" },
		"state Open is declared twice":          func(d *Table[world, *world]) { d.States[2].Name = "Open" },
		"start state \"Ajar\"":                  func(d *Table[world, *world]) { d.Start = "Ajar" },
		"state Closed has no doc sentence":      func(d *Table[world, *world]) { d.States[0].Doc = "Shut" },
		"move Opened has no doc sentence":       func(d *Table[world, *world]) { d.Moves[0].Doc = "" },
		"has 0 triggers":                        func(d *Table[world, *world]) { d.Moves[0].If = Guard[world]{} },
		"has 2 triggers":                        func(d *Table[world, *world]) { d.Moves[0].Stalled = time.Second },
		"not at rest and has no deadline":       func(d *Table[world, *world]) { d.Moves[2].From = []State{"Open"} },
		"no move leaves state Stuck":            func(d *Table[world, *world]) { d.Moves[5].From = []State{"Open"} },
		"which has no failure edge":             func(d *Table[world, *world]) { d.Moves[3].From = []State{"Open"} },
		"the start, and has nothing to resume":  func(d *Table[world, *world]) { d.States[0].Work = Resume[*world]() },
		"the part \"hinge\" of state Open":      func(d *Table[world, *world]) { d.States[1].Part = "hinge" },
		"11 questions are asked in state Stuck": func(d *Table[world, *world]) { d.Moves[5].If = Any(questions(11)...) },
		"state Open is quiet, and its work writes": func(d *Table[world, *world]) {
			d.States[1].Work, d.States[1].Quiet = act("Paint", func(*world) error { return nil }), true
			d.States[1].Work.Writes = []string{"colour"}
		},
		"state Stuck is quiet, and its work writes": func(d *Table[world, *world]) {
			d.States[2].Work, d.States[2].Quiet = Resume[*world](), true
		},
		"move Opened leads to Open, which is quiet": func(d *Table[world, *world]) { d.States[1].Quiet = true },
		"urgent without a guard":                    func(d *Table[world, *world]) { d.Moves[2].Urgent = true },
		"has For without If":                        func(d *Table[world, *world]) { d.Moves[2].For = time.Second },
		"a guard of move Opened":                    func(d *Table[world, *world]) { d.Moves[0].If.Doc = "" },
		"the effect of move Opened has no":          func(d *Table[world, *world]) { d.Moves[0].Do.Name = "" },
		"the work of state Closed has no name":      func(d *Table[world, *world]) { d.States[0].Work.Name = "" },
		"no rest state can be reached from Closed": func(d *Table[world, *world]) {
			d.States[1].Rest, d.States[2].Rest = false, false
		},
	} {
		table := door()
		spoil(&table)
		if err := table.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want a complaint with %q, got: %v", want, err)
		}
	}
}

func questions(many int) []Guard[world] {
	var asked []Guard[world]
	for i := range many {
		asked = append(asked, is(fmt.Sprint("question", i), func(world) bool { return false }))
	}
	return asked
}
