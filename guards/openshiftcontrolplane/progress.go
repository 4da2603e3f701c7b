package openshiftcontrolplane

import (
	"slices"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// ahead is more than any state counts, so that what a state counts is more than what the states before it did.
const ahead = 1 << 20

// way are the states in which progress is counted, in the order in which an installation passes them.
var way = []machine.State{
	AwaitingInfrastructure, ResolvingInputs, GeneratingIgnition, CreatingMachines, AwaitingAPI, Bootstrapping, RemovingBootstrap, Settling,
	Upgrading, Scaling, Remediating, Clearing,
}

// counted is what a state's progress is counted in; others stand still.
var counted = map[machine.State]func(Facts) Tally{
	AwaitingInfrastructure: infrastructure,
	GeneratingIgnition:     func(f Facts) Tally { return f.Payload.Roles },
	CreatingMachines:       func(f Facts) Tally { return f.Provisioned },
	Bootstrapping:          func(f Facts) Tally { return f.Guest.Nodes },
	RemovingBootstrap:      removal,
	Settling:               func(f Facts) Tally { return f.Guest.Operators },
	Upgrading:              func(f Facts) Tally { return f.Upgrade.Steps },
	Scaling:                func(f Facts) Tally { return f.Scaling.Steps },
	Remediating:            func(f Facts) Tally { return f.Remediation.Steps },
	Clearing:               func(f Facts) Tally { return f.Attempt },
}

// infrastructure counts what there is of that which AwaitingInfrastructure waits for.
func infrastructure(f Facts) Tally {
	t := Tally{Known: f.Cluster.Known, Done: f.met(PostInfrastructure)}
	for _, is := range []bool{f.Cluster.Provisioned, f.Cluster.Host != "" && f.Cluster.Port > 0} {
		if is {
			t.Done++
		}
	}
	return t
}

// removal counts what is gone of the bootstrap's, and the hooks that do not hold the rest any more.
func removal(f Facts) Tally {
	t := f.Bootstrap.Removal
	t.Done += f.met(PreBootstrapRemoval)
	return t
}

// met counts the hooks of a phase whose condition is True.
func (f Facts) met(phase HookPhase) (met int) {
	for _, hook := range f.Hooks {
		if hook.Phase == phase && hook.Met {
			met++
		}
	}
	return met
}

// Progress counts what is done in a state that counts it. A state that comes later on the way has more, and one at rest has none,
// so that the next one begins anew.
func Progress(f Facts) (done int, known bool) {
	at := slices.Index(way, f.Then.State)
	if !f.Seen || at < 0 {
		return 0, f.Seen
	}
	done = (at + 1) * ahead
	if of := counted[f.Then.State]; of != nil {
		tally := of(f)
		if !tally.Known {
			return 0, false
		}
		done += min(max(tally.Done, 0), ahead/2)
	}
	return done, true
}

// How long states have patience that are asked for it outside the table, too; slowBootstrap is that of machines that are slow to start.
const (
	InfrastructurePatience = 15 * time.Minute
	IgnitionPatience       = 10 * time.Minute
	MachinesPatience       = 15 * time.Minute
	APIPatience            = 20 * time.Minute
	BootstrapPatience      = 45 * time.Minute
	RemovalPatience        = 5 * time.Minute
	slowBootstrap          = time.Hour
)

var usual = map[machine.State]time.Duration{
	AwaitingInfrastructure: InfrastructurePatience, GeneratingIgnition: IgnitionPatience, CreatingMachines: MachinesPatience,
	AwaitingAPI: APIPatience, Bootstrapping: BootstrapPatience, RemovingBootstrap: RemovalPatience,
}

// PatienceOf is how long an instance may go without progress in one of the states whose patience has a name here.
func (f Facts) PatienceOf(state machine.State) time.Duration {
	f.Then.State = state
	if own := Patience(f, ProgressStalled); own > 0 {
		return own
	}
	return usual[state]
}

// slow are the platforms whose machines are slow to start, as install-configs spell them. One that is not known may be one of them.
var slow = []string{"baremetal", "vsphere", ""}

// Patience is how long an instance may go without progress: what its spec asks for, more on some platforms, and as long as its
// hooks are waited for. Zero is the table's.
func Patience(f Facts, on machine.Event) time.Duration {
	if on != ProgressStalled {
		return 0
	}
	own := f.Timeouts[f.Then.State]
	switch f.Then.State {
	case Bootstrapping:
		if own == 0 && slices.Contains(slow, f.Cluster.Platform) {
			own = slowBootstrap
		}
	case AwaitingInfrastructure:
		own = f.hooksPatience(PostInfrastructure, own, InfrastructurePatience)
	case RemovingBootstrap:
		own = f.hooksPatience(PreBootstrapRemoval, own, RemovalPatience)
	}
	return own
}

// hooksPatience is own, or usual where that is zero, and not less than any hook of the phase is waited for.
func (f Facts) hooksPatience(phase HookPhase, own, usual time.Duration) time.Duration {
	longest := time.Duration(0)
	for _, hook := range f.Hooks {
		if hook.Phase == phase && !hook.Met {
			longest = max(longest, hook.Timeout)
		}
	}
	if own == 0 {
		own = usual
	}
	return max(own, longest)
}
