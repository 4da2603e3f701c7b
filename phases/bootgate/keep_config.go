package bootgate

import (
	"context"

	"github.com/capstan-capi/capstan/machine"
)

// KeepConfig has the status of the MachineConfiguration as it has to be.
var KeepConfig = machine.Action[*Pass]{
	Name: "KeepConfig", Writes: []string{"MachineConfiguration.status"},
	Run: func(_ context.Context, p *Pass) (machine.Result, error) { return p.keepConfig(), nil },
	Doc: "writes managedBootImagesStatus, bootImageSkewEnforcementStatus and observedGeneration of MachineConfiguration cluster in one apply, if one of them is not what it has to be. Nothing of that is written where the boot images of the Machine API are somebody else's to manage, or where there is no MachineConfiguration.",
}

func (*Phases) keepConfig() machine.Result { return machine.Result{} }
