package machine

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// alert is a whole one.
func alert(name string) Alert {
	return Alert{Name: "Capstan" + name, Severity: Warning, After: time.Minute, Summary: "The door needs a carpenter"}
}

// called is a door with an alert of each sort.
func called() Table[world, *world] {
	table := besideDoor()
	table.States[2].Alarm, table.States[2].Alert = true, alert("Stuck")
	for i := range table.Moves {
		if table.Moves[i].To == "Open" {
			table.Moves[i].Takes, table.Moves[i].Alert = []string{"Warm"}, alert("Cold")
		}
	}
	table.Asides[0].For = 0
	table.Notices = []Notice[*world]{
		{Name: "visitor", Doc: doc, Alert: alert("Visitors"), Count: func(w *world) int {
			if w.urgent {
				return 1
			}
			return 0
		}},
		{Name: "nobody", Doc: doc, Count: func(*world) int { return 1 }},
	}
	return table
}

func TestCalling_names_what_stands_and_nothing_else(t *testing.T) {
	table := called()
	if err := table.Validate(); err != nil {
		t.Fatal(err)
	}
	opened := Record{State: "Open", CameFrom: "Closed", LastEvent: "Opened"}
	lasted, fresh := opened, opened
	lasted.Failure, fresh.Failure = &Failure{Message: "it slips", Lasted: true}, &Failure{Message: "it slips"}
	for name, row := range map[string]struct {
		record Record
		world  world
		want   string
	}{
		"at rest":                               {record: Record{State: "Closed"}},
		"a state that needs a human":            {record: Record{State: "Stuck"}, want: "CapstanStuck"},
		"a move that takes a condition":         {record: opened, want: "CapstanCold"},
		"the same state by no such move":        {record: Record{State: "Open"}},
		"an error that has lasted":              {record: lasted, want: "CapstanSlips CapstanCold"},
		"an error that has not":                 {record: fresh, want: "CapstanCold"},
		"what is told besides":                  {record: Record{State: "Open"}, world: world{failing: true}, want: "CapstanHeavy"},
		"what was noticed":                      {record: Record{State: "Closed"}, world: world{urgent: true}, want: "CapstanVisitors"},
		"a state that is not of the table":      {record: Record{State: "Ajar"}},
		"what is besides is not told over work": {record: Record{State: "Open", Failure: &Failure{Part: "Hinge"}}, world: world{failing: true}},
	} {
		got := table.Calling(Snapshot[world, *world]{Record: row.record, Facts: row.world, Seen: &row.world})
		if text := strings.Join(got, " "); text != row.want {
			t.Errorf("%s: %q calls, want %q", name, text, row.want)
		}
	}
}

func TestCalls_are_all_alerts_of_a_table_once_with_what_they_stand_for(t *testing.T) {
	table := called()
	table.States[2].Trouble = table.States[1].Trouble // two states may share what an error in them calls for
	if err := table.Validate(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, call := range table.Calls() {
		names = append(names, call.Name)
		if !isSentence(call.Doc) {
			t.Errorf("%s stands for %q", call.Name, call.Doc)
		}
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "CapstanCold CapstanHeavy CapstanSlips CapstanStuck CapstanVisitors" {
		t.Errorf("the alerts are %s", got)
	}
	if page := table.Page(); !strings.Contains(page, "| [CapstanStuck](../runbooks/CapstanStuck.md) | warning | 1m | ") {
		t.Error("the page does not tell who is called")
	}
}

func TestCalls_of_a_notice_that_shares_the_alert_of_a_row_stand_for_both(t *testing.T) {
	table := called()
	table.Notices[0].Alert = table.States[2].Alert
	if err := table.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, call := range table.Calls() {
		if call.Name == "CapstanStuck" && call.Doc != table.States[2].Doc+" "+table.Notices[0].Doc {
			t.Errorf("it stands for %q", call.Doc)
		}
	}
	seen := &world{urgent: true}
	if got := table.Calling(Snapshot[world, *world]{Record: Record{State: "Stuck"}, Seen: seen}); strings.Join(got, " ") != "CapstanStuck" {
		t.Errorf("%v call", got)
	}
}

func TestValidate_what_needs_a_human_calls_one(t *testing.T) {
	for want, spoil := range map[string]func(*Table[world, *world]){
		"state Stuck needs a human":                  func(d *Table[world, *world]) { d.States[2].Alert = Alert{} },
		"an error in state Open may need a human":    func(d *Table[world, *world]) { d.States[1].Trouble.Alert = Alert{} },
		"takes a condition back and has no alert":    func(d *Table[world, *world]) { d.Moves[0].Takes, d.Moves[0].Alert = []string{"Warm"}, Alert{} },
		"needs a human and has no alert":             func(d *Table[world, *world]) { d.Asides[0].Alert = Alert{} },
		"two rows have the alert CapstanHeavy":       func(d *Table[world, *world]) { d.States[2].Alert = d.Asides[0].Alert },
		"the notice \"\" needs a name":               func(d *Table[world, *world]) { d.Notices[0].Name = "" },
		"the alert \"stuck\" needs":                  func(d *Table[world, *world]) { d.States[2].Alert.Name = "stuck" },
		"the alert \"CapstanStuck\" needs":           func(d *Table[world, *world]) { d.States[2].Alert.After = 0 },
		"the alert \"CapstanSlips\" needs a name":    func(d *Table[world, *world]) { d.States[1].Trouble.Alert.Severity = "loud" },
		"the alert \"CapstanVisitors\" needs a name": func(d *Table[world, *world]) { d.Notices[0].Alert.Summary = "A sentence." },
	} {
		table := called()
		spoil(&table)
		if err := table.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want a complaint with %q, got: %v", want, err)
		}
	}
}
