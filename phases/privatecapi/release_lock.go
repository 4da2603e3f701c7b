package privatecapi

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// ReleaseLock takes the fence off, then the lock, and then gives the Lease back.
func (p *Pass) ReleaseLock(ctx context.Context) (machine.Result, error) {
	if p.lacksLock() {
		return p.send(ctx, "")
	}
	plan := []*Write{p.shut(guards.NoFence)}
	if p.facts.Marks.Locked() {
		plan = append(plan, p.unlock())
	}
	for _, w := range plan {
		if w == nil {
			continue
		}
		if _, err := p.API.Write(ctx, *w); err != nil {
			return p.stops(w, err)
		}
	}
	if began := Started(p.facts.Marks.Companion); p.Ended != nil && !began.IsZero() {
		p.Ended(p.facts.Marks.Companion, p.Now().Sub(began))
	}
	return p.releaseLease(ctx)
}

// unlock is the one write that takes the lock off and says how the move has ended.
func (p *Pass) unlock() *Write {
	annotations := map[string]any{guards.MigrationAnnotation: nil, guards.CompanionAnnotation: nil, guards.RevertAnnotation: nil}
	companion := p.facts.Marks.Companion
	switch {
	case companion.Stage == guards.Committed && companion.Direction == guards.ToStandard:
		annotations[guards.FailedAnnotation] = string(guards.Reverted)
	case companion.Stage == guards.Undone && companion.Reason != "":
		annotations[guards.FailedAnnotation] = string(companion.Reason)
	}
	return patchOf(HostedClusters, p.Hosted, map[string]any{"metadata": map[string]any{
		"annotations": annotations, "finalizers": p.finalizers(false),
	}})
}

func (p *Pass) releaseLease(ctx context.Context) (machine.Result, error) {
	lease, err := p.API.Get(ctx, Leases, p.Namespace, guards.ProgrammeName)
	switch {
	case apierrors.IsNotFound(err):
		return machine.Result{LookAgain: soon}, nil
	case err != nil && isAway(err):
		p.outage(p.Key, p.record.Since, err, nil)
		return machine.Result{LookAgain: soon}, nil
	case err != nil:
		return machine.Result{}, fmt.Errorf("reading Lease %s/%s: %w", p.Namespace, guards.ProgrammeName, err)
	case holder(lease) != p.Key:
		return machine.Result{LookAgain: soon}, nil
	}
	w := patchOf(Leases, lease, map[string]any{"spec": map[string]any{"holderIdentity": nil}})
	if _, err := p.API.Write(ctx, *w); err != nil {
		return p.stops(w, err)
	}
	return machine.Result{Did: "released the lock", LookAgain: soon}, nil
}
