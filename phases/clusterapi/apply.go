package clusterapi

import (
	"context"
	"errors"
	"slices"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	"github.com/capstan-capi/capstan/phases/engine"
)

// applyRevision applies the newest revision as far as its gates allow. The
// current one is kept at the same time, except for what the newest has taken.
func (p *Pass) applyRevision(ctx context.Context) error {
	kept := p.keepCurrent(ctx)
	if p.latest == nil {
		return errors.Join(failure(p.latestErr), kept)
	}
	report, err := p.Engine.Reconcile(ctx, p.latest)
	p.tried[p.latest] = true
	p.acted("applying", report)
	return errors.Join(inTheWay(report), err, kept)
}

// recordCurrent writes that the latest revision has been fully applied, and
// takes the older ones off the list in the same write when they leave nothing.
func (p *Pass) recordCurrent(ctx context.Context) error {
	if p.latest == nil {
		return nil
	}
	name := operatorv1alpha1.RevisionName(p.latest.Name)
	left := p.Engine.Orphans(p.latest)
	return p.writeStatus(ctx, func(api *operatorv1alpha1.ClusterAPI) bool {
		if !makeCurrent(api, name) {
			return false
		}
		if leaveNothing(api, p.latest.Number, left) {
			trim(api, p.latest.Number)
		}
		return true
	})
}

// leaveNothing says whether the revisions listed before a number have nothing
// that the one of this number has not: then there is nothing to prune, and one
// write tells both that it is current and that nothing is before it.
func leaveNothing(api *operatorv1alpha1.ClusterAPI, number int64, left engine.Orphans) bool {
	if !left.Seen || len(left.Open)+len(left.Retained) > 0 {
		return false
	}
	return !slices.ContainsFunc(api.Status.Revisions, func(r operatorv1alpha1.ClusterAPIInstallerRevision) bool {
		return r.Revision < number && !slices.Contains(left.Revisions, r.Revision)
	})
}

// trimRevisions forgets what came before the latest revision.
func (p *Pass) trimRevisions(ctx context.Context) error {
	if p.latest == nil {
		return nil
	}
	err := p.writeStatus(ctx, func(api *operatorv1alpha1.ClusterAPI) bool { return trim(api, p.latest.Number) })
	if err != nil {
		return err
	}
	last := p.pruned
	if last.report == nil || last.number != p.latest.Number {
		return errors.New("what older revisions left behind has not been looked at yet")
	}
	return p.Engine.Forget(ctx, p.latest, last.report)
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
