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
		"a guard begins to hold":   {func(r *machine.Record, _ *Condition) { r.Held = map[machine.Event]time.Time{"GateLost": noon} }, false},
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
