package joint

import (
	"context"
	"errors"
	"strings"
	"time"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

const (
	// whileHeld is how often it is looked whether the time of a hook is over.
	whileHeld = 10 * time.Second
	// whileLeft is after how long the removal of what is left of the bootstrap is tried again.
	whileLeft = 30 * time.Second
)

// part is what one room does for a work.
type part func(context.Context) (machine.Result, error)

// together does all parts, whatever one of them meets, and looks again when the first of them wants to.
func together(ctx context.Context, parts ...part) (machine.Result, error) {
	var all machine.Result
	var errs []error
	var did []string
	for _, one := range parts {
		result, err := one(ctx)
		errs = append(errs, err)
		if result.Did != "" {
			did = append(did, result.Did)
		}
		if again := result.LookAgain; again > 0 && (all.LookAgain == 0 || again < all.LookAgain) {
			all.LookAgain = again
		}
	}
	all.Did = strings.Join(did, ", ")
	return all, errors.Join(errs...)
}

// keepKubeconfig is a part that every work of an installed cluster has.
func (p *Pass) keepKubeconfig(ctx context.Context) (machine.Result, error) {
	did, err := p.guest.KeepKubeconfig(ctx)
	return machine.Result{Did: did}, err
}

// waitsForHooks has a pass made while hooks hold the removal of the bootstrap machine: that their time is over nobody else tells.
func (p *Pass) waitsForHooks(context.Context) (machine.Result, error) {
	if p.facts.Reached().Finished && len(p.facts.Held()) > 0 {
		return machine.Result{LookAgain: whileHeld}, nil
	}
	return machine.Result{}, nil
}

// whileUnasked is how often somebody is asked again who could not say what is wanted of an installed cluster.
const whileUnasked = time.Minute

// asksAgain has a pass made while nobody knows what the guest is to be upgraded to: that a registry answers again nobody tells.
func (p *Pass) asksAgain(context.Context) (machine.Result, error) {
	if p.facts.Upgrade.Unasked != "" {
		return machine.Result{LookAgain: whileUnasked}, nil
	}
	return machine.Result{}, nil
}

// held does a part once the finalizer is there that keeps the object until all is gone that the part makes.
func (p *Pass) held(of part) part {
	return func(ctx context.Context) (machine.Result, error) {
		if err := p.machines.Hold(ctx); err != nil {
			return machine.Result{}, err
		}
		return of(ctx)
	}
}

// aside does a part that goes on in every state after its own, and holds none of those up: what it meets there is told, and it is done
// again in a while.
func (p *Pass) aside(of part) part {
	return func(ctx context.Context) (machine.Result, error) {
		result, err := of(ctx)
		if err == nil || p.facts.Then.State == guards.RemovingBootstrap {
			return result, err
		}
		return machine.Result{Did: "has met: " + err.Error(), LookAgain: whileLeft}, nil
	}
}

// ResolveInputs is the first work that changes an object.
func (p *Pass) ResolveInputs(ctx context.Context) (machine.Result, error) {
	return p.held(p.inputs.ResolveInputs)(ctx)
}

// FreezeInputs is of package inputs.
func (p *Pass) FreezeInputs(ctx context.Context) (machine.Result, error) {
	return p.inputs.FreezeInputs(ctx)
}

// GenerateIgnition makes the payload.
func (p *Pass) GenerateIgnition(ctx context.Context) (machine.Result, error) {
	return p.held(p.inputs.GenerateIgnition)(ctx)
}

// CreateMachines makes Machines.
func (p *Pass) CreateMachines(ctx context.Context) (machine.Result, error) {
	return p.machines.CreateMachines(ctx)
}

// ProbeAPI stores the kubeconfig, and makes Machines whole.
func (p *Pass) ProbeAPI(ctx context.Context) (machine.Result, error) {
	return together(ctx, p.guest.ProbeAPI, p.machines.CreateMachines)
}

// MarkInitialized is of package machines.
func (p *Pass) MarkInitialized(ctx context.Context) (machine.Result, error) {
	return p.machines.MarkInitialized(ctx)
}

// WatchBootstrap keeps the kubeconfig, and makes Machines whole.
func (p *Pass) WatchBootstrap(ctx context.Context) (machine.Result, error) {
	return together(ctx, p.guest.WatchBootstrap, p.machines.CreateMachines)
}

// MarkFinished is of package machines.
func (p *Pass) MarkFinished(ctx context.Context) (machine.Result, error) {
	return p.machines.MarkFinished(ctx)
}

// RemoveBootstrap removes the bootstrap machine and the keys of its payload, and keeps the kubeconfig.
func (p *Pass) RemoveBootstrap(ctx context.Context) (machine.Result, error) {
	return together(ctx, p.machines.RemoveBootstrap, p.aside(p.inputs.RemoveKeys), p.aside(p.inputs.KeepStubs), p.keepKubeconfig, p.waitsForHooks)
}

// HandOver is of package machines.
func (p *Pass) HandOver(ctx context.Context) (machine.Result, error) {
	return p.machines.HandOver(ctx)
}

// KeepInstalled keeps Machines and the kubeconfig.
func (p *Pass) KeepInstalled(ctx context.Context) (machine.Result, error) {
	return together(ctx, p.machines.KeepInstalled, p.aside(p.inputs.RemoveKeys), p.aside(p.inputs.KeepStubs), p.keepKubeconfig, p.waitsForHooks, p.asksAgain)
}

// AskUpgrade asks the guest for the release, and keeps Machines and the kubeconfig.
func (p *Pass) AskUpgrade(ctx context.Context) (machine.Result, error) {
	return together(ctx, p.guest.AskUpgrade, p.machines.KeepInstalled, p.aside(p.inputs.RemoveKeys), p.aside(p.inputs.KeepStubs), p.asksAgain)
}

// ScaleMachines changes how many there are, and keeps the kubeconfig.
func (p *Pass) ScaleMachines(ctx context.Context) (machine.Result, error) {
	return together(ctx, p.machines.ScaleMachines, p.aside(p.inputs.KeepStubs), p.keepKubeconfig)
}

// ReplaceMachine replaces one, and keeps the kubeconfig.
func (p *Pass) ReplaceMachine(ctx context.Context) (machine.Result, error) {
	return together(ctx, p.machines.ReplaceMachine, p.aside(p.inputs.KeepStubs), p.keepKubeconfig)
}

// whileCleared is how soon the next pass is made of what is being taken down. That the status says nothing of it any more is our own write,
// of which no event tells.
const whileCleared = time.Second

// ClearAttempt is of package machines.
func (p *Pass) ClearAttempt(ctx context.Context) (machine.Result, error) {
	result, err := p.machines.ClearAttempt(ctx)
	if result.LookAgain == 0 {
		result.LookAgain = whileCleared
	}
	return result, err
}

// DeleteCluster is of package machines.
func (p *Pass) DeleteCluster(ctx context.Context) (machine.Result, error) {
	return p.machines.DeleteCluster(ctx)
}
