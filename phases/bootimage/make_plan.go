package bootimage

import (
	"context"

	"github.com/capstan-capi/capstan/machine"
)

// MakePlan notes what is planned for a target.
var MakePlan = machine.Action[*Pass]{
	Name: "MakePlan",
	Run:  func(_ context.Context, p *Pass) (machine.Result, error) { return p.makePlan(), nil },
	Doc:  "notes the wanted image, the old reference and the version of the Secret as they are seen; they are stored with the new state. What was planned before is forgotten. Nothing is sent.",
}

func (*Phases) makePlan() machine.Result { return machine.Result{} }
