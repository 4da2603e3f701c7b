// Package legacyoperator does the looking and the doing of the machine legacyoperator. It decides
// nothing; which phase runs when is in machine/legacyoperator/table.go.
package legacyoperator

import (
	"context"

	guards "github.com/capstan-capi/capstan/guards/legacyoperator"
	"github.com/capstan-capi/capstan/machine"
)

// Works is what the machine's work is done with, in one pass. Each work is safe to repeat.
type Works interface {
	KeepOperator(context.Context) (machine.Result, error)
	RemoveOperator(context.Context) (machine.Result, error)
}

// Snapshot is the machine after a pass.
type Snapshot = machine.Snapshot[guards.Facts, Works]

var writesDeployment = []string{"Deployment"}

// KeepOperator has the old operator run.
var KeepOperator = machine.Action[Works]{
	Name: "KeepOperator", Writes: writesDeployment,
	Run: func(ctx context.Context, w Works) (machine.Result, error) { return w.KeepOperator(ctx) },
	Doc: "gives the Deployment of the old operator back the replicas that RemoveOperator took, and leaves the replicas alone that it did not take; notes on it since when nobody needs it.",
}

// RemoveOperator has it run no more.
var RemoveOperator = machine.Action[Works]{
	Name: "RemoveOperator", Writes: writesDeployment,
	Run: func(ctx context.Context, w Works) (machine.Result, error) { return w.RemoveOperator(ctx) },
	Doc: "notes on the Deployment of the old operator how many replicas it has, and gives it none.",
}
