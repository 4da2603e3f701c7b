package clusterapi

import (
	"context"
	"errors"
	"fmt"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	"github.com/capstan-capi/capstan/phases/engine"
)

// applyRevision applies the desired revision as far as its gates allow. The
// current one is kept at the same time, except for what the desired one has taken.
// Trouble with that is told, and holds up nothing.
func (p *Pass) applyRevision(ctx context.Context) error {
	var kept error
	if p.current != p.desired {
		kept = p.keepCurrent(ctx)
	}
	p.memory.keeping = kept
	if p.desired == nil {
		return failure(p.desiredErr)
	}
	report, err := p.Engine.Reconcile(ctx, p.desired, p.applyOptions()...)
	p.memory.tried[p.desired] = true
	p.acted(applying, report)
	return errors.Join(inTheWay(report), err)
}

// applyOptions say how the desired revision is applied. While none is current,
// and no inventory tells of an earlier one, nothing is installed that half a wave
// could break. The inventories count because a status can be lost.
func (p *Pass) applyOptions() []engine.ReconcileOption {
	if p.world.current == "" && p.olderSeen && len(p.older) == 0 {
		return []engine.ReconcileOption{engine.FirstInstall()}
	}
	return nil
}

// recordCurrent writes that the desired revision has been fully applied.
func (p *Pass) recordCurrent(ctx context.Context) error {
	if p.desired == nil {
		return nil
	}
	name, listed := operatorv1alpha1.RevisionName(p.desired.Name), true
	err := p.writeStatus(ctx, func(api *operatorv1alpha1.ClusterAPI) []string {
		listed = isListed(api, name)
		return said(makeCurrent(api, name), "made %s the current revision", name)
	})
	if err == nil && !listed {
		return fmt.Errorf("recording the current revision: %s is not listed any more", name)
	}
	return err
}

// failure is err unless it only says that something is on its way, or somebody else's.
func failure(err error) error {
	var notYet *notYetError
	var notOurs *notOursError
	if errors.As(err, &notYet) || errors.As(err, &notOurs) {
		return nil
	}
	return err
}
