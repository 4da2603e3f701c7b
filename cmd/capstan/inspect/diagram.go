package inspect

import (
	"github.com/capstan-capi/capstan/controllers/view"
	"github.com/capstan-capi/capstan/machine"
)

// drawnTransitions bounds the path in a diagram: more numbers on the arrows confuse.
const drawnTransitions = 8

// Diagram is the machine's, with the cluster's state and the way it took there.
func (v View) Diagram() (string, error) {
	if v.Record.State == "" {
		return "", &Error{What: v.Problem}
	}
	return v.Table.Diagram(v.Record.State, recent(v.Table, v.Record.Transitions)...), nil
}

// recent is the way since the machine last left a state at rest, as far as it can be drawn.
func recent(table view.Table, made []machine.Transition) []machine.Transition {
	from := max(0, len(made)-drawnTransitions)
	for i := len(made) - 1; i > from; i-- {
		if row, _ := table.State(made[i].From); row.Rest {
			return made[i:]
		}
	}
	return made[from:]
}
