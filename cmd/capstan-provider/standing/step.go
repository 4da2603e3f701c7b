package standing

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

// Step is what an installation has stopped at. Its number is an exit code.
type Step int

// The steps, in their order.
const (
	Infrastructure Step = iota + 10
	Inputs
	MakingMachines
	API
	Bootstrap
	Operators
)

var steps = map[Step]string{
	Infrastructure: "infrastructure", Inputs: "inputs", MakingMachines: "machines", API: "API", Bootstrap: "bootstrap", Operators: "operators",
}

func (s Step) String() string { return steps[s] }

// stepOf is by the state that was left.
var stepOf = map[machine.State]Step{
	guards.AwaitingInfrastructure: Infrastructure,
	guards.ResolvingInputs:        Inputs,
	guards.GeneratingIgnition:     Inputs,
	guards.CreatingMachines:       MakingMachines,
	guards.Clearing:               MakingMachines,
	guards.AwaitingAPI:            API,
	guards.Bootstrapping:          Bootstrap,
	guards.RemovingBootstrap:      Bootstrap,
	guards.Settling:               Operators,
	guards.Installed:              Operators,
	guards.Upgrading:              Operators,
	guards.Scaling:                Operators,
	guards.Remediating:            Operators,
}

// bootstrapLost is the event after which an attempt is not gone on with.
const bootstrapLost machine.Event = "BootstrapLost"

// stopped are the states in which an installation goes on only once something has changed.
var stopped = []machine.State{guards.Failed, guards.Degraded}

// Stopped says at which step an installation has stopped, if it has: the last one that it was at, by what the machine remembers, or else
// by its marks, which outlive that. One that somebody has just asked to be tried again has not.
func Stopped(plane *v1alpha1.OpenShiftControlPlane) (at Step, is bool) {
	if !slices.Contains(stopped, machine.State(plane.Status.State)) {
		return 0, false
	}
	record := RecordOf(plane)
	if retryIsAsked(plane, record) {
		return 0, false
	}
	if step, known := stepOf[record.CameFrom]; known {
		return step, true
	}
	for _, t := range slices.Backward(record.Transitions) {
		if step, known := stepOf[t.From]; known {
			return step, true
		}
	}
	switch marks := phases.MarksOf(plane); {
	case marks.Finished:
		return Operators, true
	case marks.Initialized:
		return Bootstrap, true
	case marks.Stage() == guards.Frozen:
		return MakingMachines, true
	case meta.IsStatusConditionFalse(plane.Status.Conditions, "InputsValid"):
		return Inputs, true
	}
	return Infrastructure, true
}

// retryIsAsked says that another try was asked for after the state was entered, and will be made: without its bootstrap Machine an
// attempt is tried again from scratch only.
func retryIsAsked(plane *v1alpha1.OpenShiftControlPlane, record machine.Record) bool {
	value := plane.Annotations[v1alpha1.RetryAnnotation]
	_, before, known := strings.Cut(record.Entry.Inputs, " ")
	_, now, _ := strings.Cut(guards.Fingerprint(guards.Facts{Seen: true, Object: guards.Object{Retry: value}}), " ")
	lost := record.LastEvent == bootstrapLost && !strings.HasPrefix(value, v1alpha1.FromScratch)
	return record.State == guards.Failed && known && before != now && !lost
}
