package clusterapi

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/machine"
)

func TestPressing_words_and_counts_can_wait_and_nothing_else(t *testing.T) {
	before := machine.Record{State: "Applying", Since: noon, Reason: "wave 1/8", Progress: machine.Progress{Done: 3, Since: noon}}
	raw, err := json.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	operator := &configv1.ClusterOperator{}
	operator.Status.Extension.Raw = fmt.Appendf(nil, `{"clusterapi":%s}`, raw)
	operator.Status.Conditions = merge(nil, []Condition{{Type: "XProgressing", Is: true, Reason: "Progressing", Message: "wave 1/8"}}, noon)

	for name, row := range map[string]struct {
		change func(*machine.Record, *Condition)
		want   bool
	}{
		"another object is done": {func(r *machine.Record, c *Condition) {
			r.Reason, r.Progress, c.Message = "wave 2/8", machine.Progress{Done: 4, Since: noon.Add(time.Second)}, "wave 2/8"
			r.Deadline = &machine.Deadline{At: noon.Add(time.Minute)}
		}, false},
		"a move":                   {func(r *machine.Record, _ *Condition) { r.State, r.Since = "Pruning", noon.Add(time.Second) }, true},
		"the same state again":     {func(r *machine.Record, _ *Condition) { r.Since = noon.Add(time.Second) }, true},
		"an error":                 {func(r *machine.Record, _ *Condition) { r.Failure = &machine.Failure{Message: "x"} }, true},
		"a guard begins to hold":   {func(r *machine.Record, _ *Condition) { r.Lasting = map[machine.Event]time.Time{"GateLost": noon} }, false},
		"a condition turns":        {func(_ *machine.Record, c *Condition) { c.Is = false }, true},
		"a condition has a reason": {func(_ *machine.Record, c *Condition) { c.Reason = "EphemeralError" }, true},
		"a condition is new":       {func(_ *machine.Record, c *Condition) { c.Type = "YProgressing" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			record, told := before, Condition{Type: "XProgressing", Is: true, Reason: "Progressing", Message: "wave 1/8"}
			row.change(&record, &told)
			if got := pressing(operator, record, merge(operator.Status.Conditions, []Condition{told}, noon)); got != row.want {
				t.Errorf("pressing is %v", got)
			}
		})
	}
	if !pressing(&configv1.ClusterOperator{}, before, nil) {
		t.Error("the first record can wait")
	}
}

func TestMayGather_moves_wait_for_the_end_of_a_quick_passage(t *testing.T) {
	rests := func(s machine.State) bool { return s == "Installed" || s == "Degraded" }
	at := func(seconds float64, to machine.State) machine.Transition {
		return machine.Transition{To: to, At: noon.Add(time.Duration(seconds * float64(time.Second)))}
	}
	before := machine.Record{State: "Planning", Transitions: []machine.Transition{at(-60, "Installed"), at(-50, "Planning")}}
	rested, err := json.Marshal(machine.Record{State: "Installed", Transitions: before.Transitions[:1]})
	if err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	failure := &machine.Failure{Message: "x"}
	for name, row := range map[string]struct {
		stored []byte
		record machine.Record
		want   time.Duration
	}{
		"the end of a rest does not wait":   {rested, machine.Record{State: "Planning", Transitions: []machine.Transition{at(-60, "Installed"), at(-1, "Planning")}}, 0},
		"the first move after it waits":     {stored, machine.Record{State: "Applying", Transitions: []machine.Transition{at(-50, "Planning"), at(-1, "Applying")}}, 2 * time.Second},
		"the next waits no longer":          {stored, machine.Record{State: "Applying", Transitions: []machine.Transition{at(-2, "Planning"), at(0, "Applying")}}, time.Second},
		"nothing waits longer than that":    {stored, machine.Record{State: "Applying", Transitions: []machine.Transition{at(-4, "Planning")}}, 0},
		"the end does not wait":             {stored, machine.Record{State: "Installed", Transitions: []machine.Transition{at(-1, "Planning"), at(0, "Installed")}}, 0},
		"a failure does not wait":           {stored, machine.Record{State: "Planning", Failure: failure, Transitions: []machine.Transition{at(-1, "Planning")}}, 0},
		"an empty cluster's first waits":    {nil, machine.Record{State: "Planning", Transitions: []machine.Transition{at(0, "Planning")}}, 3 * time.Second},
		"what is no move does not wait":     {stored, machine.Record{State: "Planning", Transitions: before.Transitions}, 0},
		"a later clock's does not wait":     {stored, machine.Record{State: "Planning", Transitions: []machine.Transition{at(3600, "Planning")}}, 0},
		"an unreadable record is put right": {[]byte(`"broken"`), machine.Record{State: "Planning", Transitions: []machine.Transition{at(0, "Planning")}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := mayGather(row.stored, row.record, rests, noon); got != row.want {
				t.Errorf("waits %s", got)
			}
		})
	}
}

func TestUnwritten_counts_only_over_the_record_that_it_follows(t *testing.T) {
	ahead := &unwritten{stored: []byte(`{"state":"Installed","reason":""}`)}
	for text, want := range map[string]bool{`{"state":"Installed","reason":""}`: true, `{"reason":"","state":"Installed"}`: true, `{"state":"Applying"}`: false, ``: false} {
		if got := ahead.follows([]byte(text)); got != want {
			t.Errorf("over %q it counts: %v", text, got)
		}
	}
	var none *unwritten
	if none.follows(nil) {
		t.Error("nothing counts")
	}
	if first := (&unwritten{}); !first.follows(nil) {
		t.Error("the first record of all does not count")
	}
}
