package bootimage

import (
	"context"

	"github.com/capstan-capi/capstan/machine"
)

// ReadStub has it known which stub the target's machines start from.
var ReadStub = machine.Action[*Pass]{
	Name: "ReadStub",
	Run:  func(_ context.Context, p *Pass) (machine.Result, error) { return p.readStub(), nil },
	Doc:  "reads the Secret with the target's stub if it is new or has changed, once for all targets that name it. A read that fails is its error.",
}

func (*Phases) readStub() machine.Result { return machine.Result{} }
