package status

import (
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/machine"
)

func rests(s machine.State) bool { return s == "Installed" || s == "Degraded" }

func after(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

func move(at float64, to machine.State) machine.Transition {
	return machine.Transition{To: to, At: after(at)}
}

// reportOf is a report with a record and one condition.
func reportOf(record machine.Record, c Condition) report {
	return report{record: record, raw: []byte("{}"), conditions: merge(nil, []Condition{c}, nil, noon)}
}

func TestWriteAt(t *testing.T) {
	progressing := Condition{Type: "XProgressing", Is: true, Reason: "Progressing", Message: "wave 1/8"}
	planning := reportOf(machine.Record{State: "Planning", Since: after(-50), Transitions: []machine.Transition{move(-60, "Installed"), move(-50, "Planning")}}, progressing)
	installed := reportOf(machine.Record{State: "Installed", Since: after(-60), Transitions: []machine.Transition{move(-60, "Installed")}}, progressing)
	failure, terminal := &machine.Failure{Message: "x"}, &machine.Failure{Message: "x", Terminal: true}
	failing := planning
	failing.record.Failure = failure
	unreadable := report{raw: []byte(`"broken"`), unreadable: "it is text"}
	versioned := planning
	versioned.versions = []configv1.OperandVersion{{Name: "operator", Version: "4.22.6"}}

	with := func(r report, change func(*report)) report { change(&r); return r }
	moved := func(r report, made ...machine.Transition) report {
		last := made[len(made)-1]
		r.record.State, r.record.Since, r.record.Transitions = last.To, last.At, append([]machine.Transition{move(-60, "Installed"), move(-50, "Planning")}, made...)
		return r
	}
	told := func(r report, c Condition) report {
		r.conditions = merge(r.conditions, []Condition{c}, nil, noon)
		return r
	}
	words := func(r *report) {
		r.record.Reason, r.record.Progress, r.record.Deadline = "wave 2/8", machine.Progress{Done: 4, Since: noon}, &machine.Deadline{At: after(60)}
	}
	for name, row := range map[string]struct {
		stored, wanted report
		words          float64 // when words may be written, in seconds from now
		want           float64
	}{
		"another object is done":                    {planning, with(planning, words), 1.5, 1.5},
		"another object is done, and words are due": {planning, with(planning, words), -1, -1},
		"a guard begins to hold": {
			planning, with(planning, func(r *report) { r.record.Lasting = map[machine.Event]time.Time{"GateLost": noon} }), 1.5, 1.5,
		},
		"words in a state of rest have to last":     {installed, with(installed, words), 1.5, 5},
		"words in a state of rest, after a start":   {installed, with(installed, words), 7, 7},
		"a condition has another message":           {planning, told(planning, Condition{Type: "XProgressing", Is: true, Reason: "Progressing", Message: "wave 2/8"}), 1.5, 1.5},
		"a condition turns":                         {planning, told(planning, Condition{Type: "XProgressing", Reason: "Progressing"}), 1.5, 0},
		"a condition has another reason":            {planning, told(planning, Condition{Type: "XProgressing", Is: true, Reason: "EphemeralError"}), 1.5, 0},
		"a condition is new":                        {planning, told(planning, Condition{Type: "YProgressing"}), 1.5, 0},
		"the first move out of a rest":              {installed, moved(installed, move(-1, "Planning")), 1.5, 0},
		"the first move after that waits":           {planning, moved(planning, move(-1, "Applying")), 1.5, 2},
		"the next waits for the first of them":      {planning, moved(planning, move(-2, "Applying"), move(0, "Pruning")), 1.5, 1},
		"no move waits longer than that":            {planning, moved(planning, move(-4, "Applying")), 1.5, -1},
		"the same state was entered again":          {planning, moved(planning, move(-1, "Applying"), move(0, "Planning")), 1.5, 2},
		"the end of a passage":                      {planning, moved(planning, move(-1, "Applying"), move(0, "Installed")), 1.5, 0},
		"a failure begins":                          {planning, failing, 1.5, 0},
		"a failure begins with a move":              {planning, with(moved(planning, move(0, "Applying")), func(r *report) { r.record.Failure = failure }), 1.5, 0},
		"a failure has other words":                 {failing, with(failing, func(r *report) { r.record.Failure = &machine.Failure{Message: "y"} }), 1.5, 1.5},
		"a failure becomes terminal":                {failing, with(failing, func(r *report) { r.record.Failure = terminal }), 1.5, 0},
		"a failure ends":                            {failing, planning, 1.5, 0},
		"the first record of all, with a move":      {report{}, moved(planning, move(0, "Planning")), 1.5, -57},
		"the first record of a new cluster":         {report{}, with(planning, func(r *report) { r.record.Transitions = []machine.Transition{move(0, "Planning")} }), 1.5, 3},
		"the first record, without a move":          {report{}, with(planning, func(r *report) { r.record.Transitions = nil }), 1.5, 0},
		"a record that cannot be read is put right": {unreadable, planning, 1.5, 0},
		"another version":                           {planning, versioned, 1.5, 0},
		"the version is somebody else's matter":     {versioned, with(planning, words), 1.5, 1.5},
		"a move of a clock that was set back":       {planning, moved(planning, move(3600, "Applying")), 1.5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			throttle := throttle{rests: rests, words: after(row.words), differs: noon}
			if got := throttle.writeAt(row.stored, row.wanted, noon); !got.Equal(after(row.want)) {
				t.Errorf("is written %s from now, want %vs", got.Sub(noon), row.want)
			}
		})
	}
}

func TestThrottle_a_clock_that_is_set_back_holds_up_nothing_for_long(t *testing.T) {
	throttle := throttle{rests: rests}
	throttle.begin(noon)
	if throttle.words != noon.Add(quietStart) || throttle.differs != noon {
		t.Errorf("after a start: %+v", throttle)
	}
	throttle.sends(noon)
	throttle.begin(noon.Add(-time.Hour))
	if throttle.words != noon.Add(quietStart-time.Hour) || throttle.differs != noon.Add(-time.Hour) {
		t.Errorf("an hour earlier: %+v", throttle)
	}
	throttle.end()
	throttle.begin(noon)
	if throttle.differs != noon {
		t.Errorf("after a write: %+v", throttle)
	}
}
