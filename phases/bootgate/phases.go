// Package bootgate does the looking and the doing of the machine bootgate. It decides nothing; which
// phase runs when is in machine/bootgate/table.go. What is pure is whole: what the configuration
// resolves to, and how old the boot images may be. The works are named and documented as the table
// needs them, and do nothing: nothing here reads or writes a cluster.
package bootgate

import (
	operatorv1 "github.com/openshift/api/operator/v1"

	guards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/status"
)

// The names of what the machine reports on, and of the part that has conditions of its own.
const (
	ClusterOperator = "cluster-api"
	Controller      = "BootImagesController"
	// Configuration is the name of the MachineConfiguration.
	Configuration = "cluster"
)

// Condition is one that people are told, on the ClusterOperator or on the MachineConfiguration.
type Condition = status.Condition

// Line says in one line where the gate is.
func Line(r machine.Record) string { return status.Line(r) }

// Snapshot is the gate after a pass.
type Snapshot = machine.Snapshot[guards.Facts, *Pass]

// Phases is what the machine's work is done with.
type Phases struct{}

// Pass is what one pass has seen, for the work of the same pass and for what people are told.
type Pass struct {
	*Phases
	// Facts are those of the pass.
	Facts guards.Facts
	// Ours says that the boot images of the Machine API are this operator's to manage.
	Ours bool
	// Enforced is how the age of the boot images is watched, Upgradeable what follows from that, nil as long as nobody can tell.
	Enforced    operatorv1.BootImageSkewEnforcementStatus
	Upgradeable *Upgradeable
	// Targets are the sums of all targets.
	Targets Sums
}

// Unwatched counts 1 where nobody watches how old the boot images are.
func (p *Pass) Unwatched() int {
	return count(p.Ours && p.Enforced.Mode == operatorv1.BootImageSkewEnforcementModeStatusNone)
}

// Shut counts 1 where the gate is not open although the release is complete.
func (p *Pass) Shut() int { return count(guards.ShutAfterRelease(p.Facts)) }

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
