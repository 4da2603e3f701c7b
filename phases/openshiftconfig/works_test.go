package openshiftconfig

import (
	"context"
	"testing"

	guards "github.com/capstan-capi/capstan/guards/openshiftconfig"
	"github.com/capstan-capi/capstan/machine"
)

// noting is what works are done with that only notes how often.
type noting struct {
	facts     guards.Facts
	published int
}

func (n *noting) Facts() guards.Facts { return n.facts }

func (n *noting) PublishData(context.Context) (machine.Result, error) {
	n.published++
	return machine.Result{}, nil
}

func TestPublishData_never_writes_once_the_machine_was_started(t *testing.T) {
	for name, row := range map[string]struct {
		of   guards.Machine
		want int
	}{
		"it was not":             {guards.Machine{Known: true, Name: "a"}, 1},
		"it has infrastructure":  {guards.Machine{Known: true, Name: "a", Provisioned: true}, 0},
		"it is a Node":           {guards.Machine{Known: true, Name: "a", Node: "n"}, 0},
		"nobody knows the owner": {guards.Machine{}, 0},
	} {
		n := &noting{facts: guards.Facts{Seen: true, Machine: row.of}}
		result, err := PublishData.Run(t.Context(), n)
		if err != nil || n.published != row.want || (row.want == 0) != (result.LookAgain == again) {
			t.Errorf("%s: published %d times (%+v, %v)", name, n.published, result, err)
		}
	}
}
