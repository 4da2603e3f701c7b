package compatibility

import (
	"testing"

	"github.com/capstan-capi/capstan/machine"
)

func TestGuards(t *testing.T) {
	for name, row := range map[string]struct {
		guard machine.Guard[Facts]
		facts Facts
		want  machine.Truth
	}{
		"Asked/not seen is unknown": {Asked, Facts{}, machine.Unknown},
		"Asked/no ConfigMap":        {Asked, Facts{Seen: true}, machine.No},
		"Asked/a ConfigMap":         {Asked, Facts{Seen: true, Asked: true}, machine.Yes},
	} {
		t.Run(name, func(t *testing.T) {
			if got := row.guard.Answer(row.facts); got.Truth != row.want {
				t.Errorf("answers %s (%q), want %s", got.Truth, got.Reason, row.want)
			}
		})
	}
}
