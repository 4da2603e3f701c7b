package openshiftcontrolplane

import "github.com/capstan-capi/capstan/machine"

// The states, by the names that users, diagrams, logs and metrics show.
const (
	Pending                machine.State = "Pending"
	Locating               machine.State = "Locating"
	AwaitingInfrastructure machine.State = "AwaitingInfrastructure"
	ResolvingInputs        machine.State = "ResolvingInputs"
	GeneratingIgnition     machine.State = "GeneratingIgnition"
	CreatingMachines       machine.State = "CreatingMachines"
	AwaitingAPI            machine.State = "AwaitingAPI"
	Bootstrapping          machine.State = "Bootstrapping"
	RemovingBootstrap      machine.State = "RemovingBootstrap"
	Settling               machine.State = "Settling"
	Installed              machine.State = "Installed"
	Upgrading              machine.State = "Upgrading"
	Scaling                machine.State = "Scaling"
	Remediating            machine.State = "Remediating"
	Degraded               machine.State = "Degraded"
	Failed                 machine.State = "Failed"
	Clearing               machine.State = "Clearing"
	Paused                 machine.State = "Paused"
	Deleting               machine.State = "Deleting"
)

// Restful are the states in which nothing is expected to happen, of an object that is there to stay: guests are asked less often then.
var Restful = []machine.State{Pending, Installed, Degraded, Failed, Paused}

// Gated are the states that one answer of the guest leads out of, or two, on the way from where it is first asked to Installed: one that moves
// is asked for those between two whole looks, which take nine questions.
var Gated = []machine.State{AwaitingAPI, Bootstrapping, RemovingBootstrap, Settling}

// Events that guards look back at.
const (
	ProgressStalled    machine.Event = "ProgressStalled"
	FailureEstablished machine.Event = "FailureEstablished"
)

// Stage is how far an installation has come that cannot be taken back: the highest of its marks.
type Stage int

// The stages, lowest first. NoStage is also that of an attempt that was cleared away.
const (
	NoStage Stage = iota
	// Frozen: what is installed is decided, and edits of the inputs change nothing any more.
	Frozen
	// Initialized: the guest's API has answered.
	Initialized
	// Finished: the guest does without its bootstrap Machine. There is never another one.
	Finished
)

var stages = [...]string{"nothing is decided yet", "the inputs are frozen", "the guest's API has answered", "the bootstrap is finished"}

func (s Stage) String() string { return stages[s] }

// allowed are the stages that allow a state, lowest and highest; states that are not here go with all.
var allowed = map[machine.State][2]Stage{
	AwaitingInfrastructure: {NoStage, NoStage},
	ResolvingInputs:        {NoStage, NoStage},
	GeneratingIgnition:     {Frozen, Frozen},
	CreatingMachines:       {Frozen, Frozen},
	AwaitingAPI:            {Frozen, Frozen},
	Bootstrapping:          {Initialized, Initialized},
	RemovingBootstrap:      {Finished, Finished},
	Settling:               {Finished, Finished},
	Installed:              {Finished, Finished},
	Upgrading:              {Finished, Finished},
	Scaling:                {Finished, Finished},
	Remediating:            {Finished, Finished},
	Degraded:               {Finished, Finished},
	Failed:                 {NoStage, Initialized},
	Clearing:               {NoStage, Initialized},
}
