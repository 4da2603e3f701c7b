package privatecapi_test

import (
	"strings"
	"testing"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	table "github.com/capstan-capi/capstan/machine/privatecapi"
)

func TestTable_tells_a_reason_wherever_a_move_is_undone_that_failed(t *testing.T) {
	for _, move := range table.Table.Moves {
		if move.To != guards.Repausing {
			continue
		}
		for _, from := range move.From {
			reason := guards.ReasonFor(from, move.On, false)
			switch move.On {
			case guards.ProgressStalled, guards.FailureEstablished:
				row, _ := table.Table.State(from)
				if reason == "" || reason == guards.AmbiguousState || !strings.Contains(row.Doc, string(reason)) {
					t.Errorf("what fails in %s is told as %q; the table says: %s", from, reason, row.Doc)
				}
			case guards.DeletionAsked:
				if reason != "" {
					t.Errorf("what is deleted in %s is told as %q", from, reason)
				}
			case guards.InterruptedEarly:
				if reason != guards.AmbiguousState {
					t.Errorf("what was interrupted is told as %q", reason)
				}
			default:
				if move.On != "RollbackResumed" {
					t.Errorf("nobody says what %s of %s is told as", move.On, from)
				}
			}
		}
	}
}
