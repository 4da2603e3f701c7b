package bootgate

import (
	"context"
	"errors"
	"fmt"

	operatorv1 "github.com/openshift/api/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/machine"
)

// KeepConfig has the status of the MachineConfiguration as it has to be, and what the gate may open for known.
var KeepConfig = machine.Action[*Pass]{
	Name: "KeepConfig", Writes: []string{"MachineConfiguration.status", "ConfigMap"},
	Run: func(ctx context.Context, p *Pass) (machine.Result, error) { return p.keep(ctx) },
	Doc: "writes managedBootImagesStatus, bootImageSkewEnforcementStatus and observedGeneration of MachineConfiguration cluster in one patch, if one of them is not what it has to be; at most every two seconds, and bound to what was seen. Fails as long as the operator lacks a right to look at what boot images depend on, and says which. Nothing of that is written where the boot images of the Machine API are somebody else's to manage, or where there is no MachineConfiguration. If every question of the gate says Yes, as also while its move to Open cannot be stored, adds the golden images to ConfigMap capstan-known-images, before which no target moves, also where the status cannot be written, and tells by an Event if they are older than those before them.",
}

func (p *Pass) keep(ctx context.Context) (machine.Result, error) {
	result, err := p.keepConfig(ctx)
	if guards.MayOpen(p.Facts).Truth != machine.Yes {
		return result, err
	}
	// Targets wait for the one write and not for the other.
	did, lookAgain, failed := p.rememberImages(ctx)
	result.Did, result.LookAgain = joined(result.Did, did), sooner(result.LookAgain, lookAgain)
	return result, errors.Join(err, failed)
}

// keepConfig sends one merge patch, which also takes out what others have put beside it: a union whose mode is another one is
// refused as long as it has a member of the former mode, and an apply takes out nothing of others. It is bound to the version that
// was seen, and so to its UID, which by itself binds no write of a status.
func (p *Pass) keepConfig(ctx context.Context) (machine.Result, error) {
	if p.Facts.Blind != "" {
		return machine.Result{}, errors.New(p.Facts.Blind)
	}
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
	if wait := p.memory.keeps.wait(p.Now()); wait > 0 {
		return machine.Result{LookAgain: wait}, nil
	}
	patch := client.MergeFromWithOptions(config, client.MergeFromWithOptimisticLock{})
	err := p.Client.Status().Patch(ctx, wanted, patch, client.FieldOwner(FieldManager))
	switch {
	case isQuicker(err):
		return machine.Result{LookAgain: again}, nil
	case err != nil:
		return machine.Result{}, fmt.Errorf("writing the status of MachineConfiguration %s: %w", Configuration, err)
	}
	p.memory.keeps.wrote(p.Now())
	p.wroteConfig(wanted)
	return machine.Result{Did: "wrote the status of MachineConfiguration " + Configuration}, nil
}

// isQuicker says that somebody else has changed or deleted an object first: what became of it is seen soon.
func isQuicker(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }

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
