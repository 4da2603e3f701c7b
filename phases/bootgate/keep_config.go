package bootgate

import (
	"context"
	"fmt"

	operatorv1 "github.com/openshift/api/operator/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

// KeepConfig has the status of the MachineConfiguration as it has to be.
var KeepConfig = machine.Action[*Pass]{
	Name: "KeepConfig", Writes: []string{"MachineConfiguration.status"},
	Run: func(ctx context.Context, p *Pass) (machine.Result, error) { return p.keepConfig(ctx) },
	Doc: "writes managedBootImagesStatus, bootImageSkewEnforcementStatus and observedGeneration of MachineConfiguration cluster in one patch, if one of them is not what it has to be. Nothing of that is written where the boot images of the Machine API are somebody else's to manage, or where there is no MachineConfiguration.",
}

// keepConfig sends one merge patch, which also takes out what others have put beside it: a union whose mode is another one is
// refused as long as it has a member of the former mode, and an apply takes out nothing of others.
func (p *Pass) keepConfig(ctx context.Context) (machine.Result, error) {
	config := p.world.config
	if !p.Ours || p.world.platform() == "" {
		return machine.Result{}, nil
	}
	wanted := config.DeepCopy()
	if differing(p.resolved, config.Status.ManagedBootImagesStatus) != "" {
		wanted.Status.ManagedBootImagesStatus = p.resolved
	}
	if p.Enforced.Mode != "" {
		wanted.Status.BootImageSkewEnforcementStatus = p.Enforced
	}
	wanted.Status.ObservedGeneration = config.Generation
	if sameConfig(config, wanted) {
		return machine.Result{}, nil
	}
	if err := p.Client.Status().Patch(ctx, wanted, client.MergeFrom(config), client.FieldOwner(FieldManager)); err != nil {
		return machine.Result{}, fmt.Errorf("writing the status of MachineConfiguration %s: %w", Configuration, err)
	}
	p.wroteConfig(wanted)
	return machine.Result{Did: "wrote the status of MachineConfiguration " + Configuration}, nil
}

func sameConfig(config, wanted *operatorv1.MachineConfiguration) bool {
	return config.Status.ObservedGeneration == wanted.Status.ObservedGeneration &&
		config.Status.BootImageSkewEnforcementStatus == wanted.Status.BootImageSkewEnforcementStatus &&
		differing(wanted.Status.ManagedBootImagesStatus, config.Status.ManagedBootImagesStatus) == ""
}

// wroteConfig goes on from what the API server has answered.
func (p *Pass) wroteConfig(answered *operatorv1.MachineConfiguration) {
	p.world.config = answered
	p.memory.config.keep(answered, p.Now())
}
