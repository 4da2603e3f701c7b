package inspect

import (
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
)

// drawnTransitions bounds the path in a diagram: more numbers on the arrows confuse.
const drawnTransitions = 8

// Diagram is the machine's, with the cluster's state and the way it took there.
func (v View) Diagram() (string, error) {
	if v.Record.State == "" {
		return "", &Error{What: v.Problem}
	}
	return table.Table.Diagram(v.Record.State, recent(v.Record.Transitions)...), nil
}

// recent is the way since the machine last left a state at rest, as far as it can be drawn.
func recent(made []machine.Transition) []machine.Transition {
	from := max(0, len(made)-drawnTransitions)
	for i := len(made) - 1; i > from; i-- {
		if row, _ := table.Table.State(made[i].From); row.Rest {
			return made[i:]
		}
	}
	return made[from:]
}
