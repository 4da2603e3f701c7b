package privatecapi

import (
	"testing"

	"github.com/capstan-capi/capstan/machine"
)

// went is a record in the state of its last transition.
func went(all ...machine.Transition) machine.Record {
	last := all[len(all)-1]
	return machine.Record{State: last.To, CameFrom: last.From, LastEvent: last.Event, Transitions: all}
}

func TestReason_is_that_of_the_state_in_which_the_way_back_began_whatever_happens_on_it(t *testing.T) {
	began := machine.Transition{From: Copying, To: Repausing, Event: FailureEstablished}
	drained := machine.Transition{From: Repausing, To: DrainingBack, Event: "TargetPaused"}
	blocked := machine.Transition{From: DrainingBack, To: RollbackBlocked, Event: ProgressStalled}
	resumed := machine.Transition{From: RollbackBlocked, To: Repausing, Event: "RollbackResumed"}
	stalled := machine.Transition{From: Repausing, To: RollbackBlocked, Event: ProgressStalled}
	for name, row := range map[string]struct {
		record      machine.Record
		unreachable bool
		written     Reason
		want        Reason
	}{
		"just begun":                             {record: went(began), want: ResourceConversionFailed},
		"begun while the API server was away":    {record: went(began), unreachable: true, want: APIUnavailable},
		"blocked before anything was written":    {record: went(began, stalled), want: ResourceConversionFailed},
		"begun anew after it was blocked":        {record: went(began, drained, blocked, resumed), want: ResourceConversionFailed},
		"for a deletion":                         {record: went(machine.Transition{From: Copying, To: Repausing, Event: DeletionAsked}), unreachable: true},
		"of a record that was lost":              {record: went(machine.Transition{From: Classifying, To: Repausing, Event: InterruptedEarly}), unreachable: true, want: AmbiguousState},
		"of a history that was cut":              {record: went(resumed), want: AmbiguousState},
		"without a history":                      {record: machine.Record{State: Repausing, CameFrom: Observing, LastEvent: ProgressStalled}, want: HealthCheckTimeout},
		"of a move before this one":              {record: went(machine.Transition{From: Starting, To: Repausing, Event: ProgressStalled}, began), want: ResourceConversionFailed},
		"written before, whatever is remembered": {record: went(began), written: ScaleUpTimeout, want: ScaleUpTimeout},
	} {
		f := Facts{Seen: true, Unreachable: row.unreachable, Marks: Marks{Companion: Companion{Reason: row.written}}}
		if Recall(&f, row.record, machine.Resumed{}); ReasonOf(f) != row.want {
			t.Errorf("%s: %q, want %q", name, ReasonOf(f), row.want)
		}
	}
}

func TestReason_is_the_own_of_each_state_or_that_of_the_next_one_on_the_way(t *testing.T) {
	for state, want := range map[machine.State]Reason{
		Pausing: ScaleDownTimeout, Draining: ScaleDownTimeout, Snapshotting: ResourceConversionFailed, Copying: ResourceConversionFailed,
		CopyingStatus: StatusCopyFailed, Rewiring: WorkloadUpdateFailed, Equipping: WorkloadUpdateFailed, Starting: ScaleUpTimeout,
		Comparing: ProxyVerifyFailed, Unpausing: HealthCheckTimeout, Observing: HealthCheckTimeout,
		Classifying: AmbiguousState, Repausing: AmbiguousState, "Nowhere": AmbiguousState,
	} {
		for _, on := range []machine.Event{ProgressStalled, FailureEstablished} {
			if is := ReasonFor(state, on, false); is != want {
				t.Errorf("%s by %s: %q, want %q", state, on, is, want)
			}
		}
		if is := ReasonFor(state, DeletionAsked, false); is != "" {
			t.Errorf("%s for a deletion: %q", state, is)
		}
	}
}
