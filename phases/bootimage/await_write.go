package bootimage

import (
	"context"

	"github.com/capstan-capi/capstan/machine"
)

// AwaitWrite has it known whether the write has arrived.
var AwaitWrite = machine.Action[*Pass]{
	Name: "AwaitWrite",
	Run:  func(ctx context.Context, p *Pass) (machine.Result, error) { return p.awaitWrite(ctx) },
	Doc:  "does what ReadStub does, and reads the target from the API server if the answer to the write was lost.",
}

func (p *Pass) awaitWrite(ctx context.Context) (machine.Result, error) {
	r := p.memory.of(p.Key, nil)
	if !r.lost && r.written != "" {
		return machine.Result{}, p.readStub()
	}
	live, err := p.target(ctx, p.Live, p.Key)
	if err != nil {
		return machine.Result{}, err
	}
	if live != nil {
		version := live.Object.GetResourceVersion()
		p.memory.of(p.Key, func(r *remembered) { r.written, r.lost = version, false })
	}
	return machine.Result{LookAgain: soon}, p.readStub()
}
