package bootimage

import (
	"context"

	"github.com/capstan-capi/capstan/machine"
)

// ReadStub has it known which stub the target's machines start from.
var ReadStub = machine.Action[*Pass]{
	Name: "ReadStub",
	Run:  func(_ context.Context, p *Pass) (machine.Result, error) { return machine.Result{}, p.readStub() },
	Doc:  "reads the Secret with the target's stub if it is new or has changed, once for all targets that name it. A read that fails is its error.",
}

// readStub returns why the stub was not read, when it was looked at.
func (p *Pass) readStub() error {
	if !p.Verdict.Open {
		return nil
	}
	return p.stub.unread
}
