package bootimage

import (
	"context"
	"errors"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/golden"
)

// JudgeTarget has it known whether the target can be understood.
var JudgeTarget = machine.Action[*Pass]{
	Name: "JudgeTarget",
	Run:  func(_ context.Context, p *Pass) (machine.Result, error) { return machine.Result{}, p.judgeTarget() },
	Doc:  "does what ReadStub does, and fails for good if the target cannot be understood.",
}

func (p *Pass) judgeTarget() error {
	if p.Judged.Outcome == golden.Invalid {
		return machine.Terminal(errors.New(kindName(p.Target.Kind) + " " + p.Target.Name + ": " + p.Judged.Message))
	}
	return p.readStub()
}
