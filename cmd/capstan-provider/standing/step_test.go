package standing

import (
	"encoding/json"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/openshiftcontrolplane"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

// plane is one in a state, with what its machine remembers.
func plane(t *testing.T, state machine.State, record machine.Record) *v1alpha1.OpenShiftControlPlane {
	t.Helper()
	record.State = state
	raw, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	o := &v1alpha1.OpenShiftControlPlane{}
	o.Status.State, o.Status.Machine = string(state), runtime.RawExtension{Raw: raw}
	return o
}

func TestStopped_has_a_step_for_every_state_that_leads_to_Failed_or_Degraded(t *testing.T) {
	for _, state := range table.Table.States {
		for _, move := range table.Table.Leaving(state.Name) {
			if move.To != guards.Failed && move.To != guards.Degraded {
				continue
			}
			step, is := Stopped(plane(t, move.To, machine.Record{CameFrom: state.Name}))
			if !is || step.String() == "" {
				t.Errorf("%s leads to %s, which is step %d", state.Name, move.To, step)
			}
			if _, known := stepOf[state.Name]; !known && state.Name != guards.Locating {
				t.Errorf("%s leads to %s, and has no step of its own", state.Name, move.To)
			}
		}
	}
}

func TestStopped_says_which_step_by_the_state_that_was_left(t *testing.T) {
	for state, want := range map[machine.State]Step{
		guards.AwaitingInfrastructure: 10, guards.ResolvingInputs: 11, guards.CreatingMachines: 12, guards.AwaitingAPI: 13, guards.Bootstrapping: 14,
	} {
		if step, is := Stopped(plane(t, guards.Failed, machine.Record{CameFrom: state})); !is || step != want {
			t.Errorf("%s is step %d (%t), want %d", state, step, is, want)
		}
	}
	if step, is := Stopped(plane(t, guards.Degraded, machine.Record{CameFrom: guards.Settling})); !is || step != 15 {
		t.Errorf("Settling is step %d (%t)", step, is)
	}
	looked := machine.Record{CameFrom: guards.Locating, Transitions: []machine.Transition{
		{From: guards.AwaitingAPI, To: guards.Failed}, {From: guards.Failed, To: guards.Locating}, {From: guards.Locating, To: guards.Failed},
	}}
	if step, _ := Stopped(plane(t, guards.Failed, looked)); step != API {
		t.Errorf("after a look it is step %d", step)
	}
}

func TestStopped_goes_by_marks_where_nothing_is_remembered(t *testing.T) {
	for name, row := range map[string]struct {
		marks      map[string]string
		conditions []metav1.Condition
		want       Step
	}{
		"nothing":             {nil, nil, Infrastructure},
		"inputs not valid":    {nil, []metav1.Condition{{Type: "InputsValid", Status: metav1.ConditionFalse}}, Inputs},
		"frozen":              {map[string]string{v1alpha1.InputsMark: "d"}, nil, MakingMachines},
		"initialized":         {map[string]string{v1alpha1.InitializedMark: "true"}, nil, Bootstrap},
		"bootstrap finished":  {map[string]string{v1alpha1.BootstrapFinishedMark: "true"}, nil, Operators},
		"another one's state": {map[string]string{v1alpha1.InputsMark: "d"}, nil, MakingMachines},
	} {
		t.Run(name, func(t *testing.T) {
			o := plane(t, guards.Failed, machine.Record{})
			o.Annotations, o.Status.Conditions = row.marks, row.conditions
			if name == "another one's state" {
				o.Status.Machine = runtime.RawExtension{Raw: []byte(`{"state":"Installed","cameFrom":"Settling"}`)}
			}
			if step, is := Stopped(o); !is || step != row.want {
				t.Errorf("it is step %s (%t), want %s", step, is, row.want)
			}
		})
	}
}

func TestStopped_is_nothing_that_goes_on(t *testing.T) {
	for _, state := range []machine.State{"", guards.Pending, guards.Bootstrapping, guards.Installed, guards.Paused, guards.Deleting} {
		if step, is := Stopped(plane(t, state, machine.Record{CameFrom: guards.Settling})); is {
			t.Errorf("%s has stopped at %s", state, step)
		}
	}
}

func TestStopped_is_not_what_is_about_to_be_tried_again(t *testing.T) {
	entered := guards.Fingerprint(guards.Facts{Seen: true, Inputs: guards.Inputs{Known: true, Digest: "d"}, Object: guards.Object{Retry: "1"}})
	for name, row := range map[string]struct {
		retry   string
		by      machine.Event
		stopped bool
	}{
		"the same value":                       {"1", guards.ProgressStalled, true},
		"a new value":                          {"2", guards.ProgressStalled, false},
		"a new value without a bootstrap":      {"2", bootstrapLost, true},
		"from scratch without a bootstrap":     {"from-scratch-2", bootstrapLost, false},
		"the annotation is gone, which is new": {"", guards.ProgressStalled, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := plane(t, guards.Failed, machine.Record{CameFrom: guards.AwaitingAPI, LastEvent: row.by, Entry: machine.Entry{Inputs: entered}})
			o.Annotations = map[string]string{v1alpha1.RetryAnnotation: row.retry}
			if _, is := Stopped(o); is != row.stopped {
				t.Errorf("it has stopped: %t", is)
			}
		})
	}
	leaving := table.Table.Leaving(guards.Bootstrapping)
	if !slices.ContainsFunc(leaving, func(m *machine.Move[guards.Facts, phases.Works]) bool { return m.On == bootstrapLost }) {
		t.Errorf("the table has no event %s", bootstrapLost)
	}
}
