// Package bootimage does the looking and the doing of the machine bootimage. It decides nothing; which
// phase runs when is in machine/bootimage/table.go. The works are named and documented as the table
// needs them, and do nothing: nothing here reads or writes a cluster.
package bootimage

import (
	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/status"
)

// Controller is the part of the machine that is summed up on the ClusterOperator.
const Controller = "BootImagesController"

// Snapshot is a target after a pass.
type Snapshot = machine.Snapshot[guards.Facts, *Pass]

// Line says in one line where a machine is.
func Line(r machine.Record) string { return status.Line(r) }

// Phases is what the machine's work is done with.
type Phases struct{}

// Pass is what one pass has seen, for the work of the same pass.
type Pass struct {
	*Phases
	// Tries says that the target is Failed: writes are sent as dry runs.
	Tries bool
}
