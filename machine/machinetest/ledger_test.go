package machinetest

import (
	"context"
	"slices"
	"testing"

	"github.com/capstan-capi/capstan/machine"
)

// house is what actions write to.
type house map[string]int

func TestLedger_finds_what_an_action_does_not_name_and_what_it_never_does(t *testing.T) {
	for name, row := range map[string]struct {
		writes []string
		doc    string
		does   []string
		want   []string
		whole  []string
	}{
		"nothing at all":                {nil, "looks.", nil, nil, nil},
		"all that it names":             {[]string{"door"}, "opens.", []string{"door"}, nil, nil},
		"more than it names":            {[]string{"door"}, "opens.", []string{"door", "roof"}, []string{"wrote roof, which it does not name"}, nil},
		"less than it names":            {[]string{"door", "roof"}, "opens.", []string{"door"}, nil, []string{"names roof, and never wrote it"}},
		"a deletion that its Doc names": {[]string{"door"}, "clears. Deletes: door and window. Waits.", []string{"door", Deletion("window")}, nil, nil},
		"a deletion that it does not":   {[]string{"door"}, "clears the door. Waits.", []string{Deletion("door"), "door"}, []string{"deleted door, which its Doc does not name"}, nil},
		"no deletion of those it names": {[]string{"door"}, "clears. Deletes: door.", []string{"door"}, nil, []string{"says that it deletes door, and never deleted anything"}},
		"a deletion in another sentence": {
			[]string{"door"}, "Deletes: window. Opens the door.", []string{"door", Deletion("door")}, []string{"deleted door, which its Doc does not name"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := machine.Action[house]{Name: "Tidy", Writes: row.writes, Doc: row.doc, Run: func(_ context.Context, in house) (machine.Result, error) {
				for _, word := range row.does {
					in[word]++
				}
				return machine.Result{}, nil
			}}
			var l Ledger[house]
			in := house{"cellar": 1}
			if _, err := l.Note(a, func() map[string]int { return in }).Run(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			if got := l.faults(a, false); !slices.Equal(got, row.want) {
				t.Errorf("it finds %q, want %q", got, row.want)
			}
			if got, want := l.faults(a, true), slices.Concat(row.want, row.whole); !slices.Equal(got, want) {
				t.Errorf("of the whole it finds %q, want %q", got, want)
			}
		})
	}
}

func TestLedger_notes_what_was_written_before_a_panic(t *testing.T) {
	var l Ledger[house]
	in := house{}
	a := l.Note(machine.Action[house]{Name: "Fall", Run: func(_ context.Context, in house) (machine.Result, error) {
		in["roof"]++
		panic("it falls")
	}}, func() map[string]int { return in })
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is gone")
			}
		}()
		_, _ = a.Run(t.Context(), in)
	}()
	if got := l.faults(a, false); len(got) != 1 {
		t.Errorf("it finds %q", got)
	}
}

func TestLedger_of_a_whole_table_knows_each_of_its_actions(t *testing.T) {
	actions := []machine.Action[house]{{Name: "Tidy"}, {Name: "Dream"}}
	got := strangers("| `Clean` | all is done | **Tidy**: opens the door. | **Resume**: does what failed. |\n| Left | **Sweep**: sweeps. |", actions)
	if want := []string{"Dream is tried, and the table does not have it", "Sweep is in the table, and is not tried"}; !slices.Equal(got, want) {
		t.Errorf("it finds %q, want %q", got, want)
	}
}
