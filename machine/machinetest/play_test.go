package machinetest_test

import (
	"context"
	"testing"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/machine/machinetest"
)

// door is what guards of the machine know.
type door struct {
	Seen   bool `yaml:"seen"`
	Pushed bool `yaml:"pushed"`
}

var pushed = machine.Guard[door]{
	Name: "Pushed", Doc: "Somebody has pushed the door.",
	Ask: func(d door) machine.Answer {
		if !d.Seen {
			return machine.SayUnknown("nobody has looked")
		}
		return machine.Say(d.Pushed, "the door was looked at")
	},
}

func does(name string) machine.Action[*door] {
	return machine.Action[*door]{
		Name: name, Doc: "does it, on nothing.",
		Run: func(context.Context, *door) (machine.Result, error) { panic("a story on facts runs no real action") },
	}
}

func TestPlay_tells_a_story_on_facts(t *testing.T) {
	machinetest.Play(t, machine.Table[door, *door]{
		Name: "door", Doc: "Opens when it is pushed.", Start: "Closed",
		States: []machine.StateRow[*door]{
			{Name: "Closed", Rest: true, Work: does("Listen"), Doc: "The door is closed."},
			{Name: "Open", Rest: true, Doc: "The door is open."},
			{Name: "Stuck", Rest: true, Doc: "The door does not move."},
		},
		Moves: []machine.Move[door, *door]{
			{On: "Opened", From: []machine.State{"Closed"}, To: "Open", If: pushed, Do: does("Creak"), Doc: "It was pushed."},
			{On: "Jammed", From: []machine.State{"Closed"}, To: "Stuck", Failing: 300e9, Doc: "It has not moved for long."},
			{On: "Shut", From: []machine.State{"Open"}, To: "Closed", If: machine.Not(pushed), Doc: "Nobody holds it."},
		},
	}, "testdata/door.txt")
}
