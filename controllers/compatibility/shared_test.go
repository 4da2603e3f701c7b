package compatibility

import (
	"encoding/json"
	"testing"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/compatibility"
	phases "github.com/capstan-capi/capstan/phases/compatibility"
)

func TestInTrouble_is_what_is_degraded_or_open_or_has_failed_for_long(t *testing.T) {
	since := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	fresh := &machine.Failure{Message: "the API server is away", Since: since}
	lasted := &machine.Failure{Message: "the API server is away", Since: since, Lasted: true}
	for name, row := range map[string]struct {
		state   machine.State
		failure *machine.Failure
		want    bool
	}{
		"degraded":                         {table.Degraded, nil, true},
		"degraded, and it fails":           {table.Degraded, fresh, true},
		"open":                             {table.Open, nil, true},
		"open, and it fails":               {table.Open, fresh, true},
		"refused":                          {table.Refused, nil, false},
		"refused, and it fails":            {table.Refused, fresh, false},
		"refused, and it fails for long":   {table.Refused, lasted, true},
		"releasing":                        {table.Releasing, nil, false},
		"releasing, and it fails":          {table.Releasing, fresh, false},
		"releasing, and it fails for long": {table.Releasing, lasted, true},
		"arming":                           {table.Arming, fresh, false},
		"met":                              {table.Met, nil, false},
		"unmet":                            {table.Unmet, nil, false},
		"conflicted":                       {table.Conflicted, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			record, err := json.Marshal(machine.Record{State: row.state, Since: since, Failure: row.failure})
			if err != nil {
				t.Fatal(err)
			}
			r := &requirementsv1alpha1.CompatibilityRequirement{}
			r.Status.Conditions = []metav1.Condition{{Type: phases.RecordCondition, Message: string(record)}}
			if got := inTrouble(r); got != row.want {
				t.Errorf("it is in trouble: %t", got)
			}
		})
	}
	if inTrouble(&requirementsv1alpha1.CompatibilityRequirement{}) {
		t.Error("one without a record is in trouble")
	}
}
