package bootimage

import (
	"context"

	"github.com/capstan-capi/capstan/machine"
)

// AwaitWrite has it known whether the write has arrived.
var AwaitWrite = machine.Action[*Pass]{
	Name: "AwaitWrite",
	Run:  func(_ context.Context, p *Pass) (machine.Result, error) { return p.awaitWrite(), nil },
	Doc:  "does what ReadStub does, and reads the target from the API server if the answer to the write was lost.",
}

func (*Phases) awaitWrite() machine.Result { return machine.Result{} }
