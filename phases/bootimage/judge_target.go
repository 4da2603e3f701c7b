package bootimage

import (
	"context"

	"github.com/capstan-capi/capstan/machine"
)

// JudgeTarget has it known whether the target can be understood.
var JudgeTarget = machine.Action[*Pass]{
	Name: "JudgeTarget",
	Run:  func(_ context.Context, p *Pass) (machine.Result, error) { return p.judgeTarget(), nil },
	Doc:  "does what ReadStub does, and fails for good if the target cannot be understood.",
}

func (*Phases) judgeTarget() machine.Result { return machine.Result{} }
