package clusterapi

import (
	"context"
	"errors"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	"github.com/capstan-capi/capstan/phases/engine"
)

// keepCurrent repairs drift of the current revision and recreates what was
// deleted of it, except for what a newer revision has taken over.
func (p *Pass) keepCurrent(ctx context.Context) error {
	if p.current == nil {
		return failure(p.currentErr)
	}
	return p.keep(ctx, p.current)
}

// keepLatest does the same for a latest revision that is known to be applied.
// It does not ask the status which one is current: the cache may not yet show
// that, and keeping the one before would bring back what was pruned.
func (p *Pass) keepLatest(ctx context.Context) error {
	if p.latest == nil {
		return failure(p.latestErr)
	}
	return p.keep(ctx, p.latest)
}

func (p *Pass) keep(ctx context.Context, revision *engine.Revision) error {
	report, err := p.Engine.Reconcile(ctx, revision, engine.Keep())
	p.tried[revision] = true
	p.acted("keeping", report)
	return errors.Join(inTheWay(report), err, p.restoreCurrent(ctx))
}

// restoreCurrent writes the current revision into the status again when somebody has taken it out.
func (p *Pass) restoreCurrent(ctx context.Context) error {
	if p.world.api == nil || p.world.current == p.world.api.Status.CurrentRevision {
		return nil
	}
	return p.writeStatus(ctx, func(api *operatorv1alpha1.ClusterAPI) bool {
		return api.Status.CurrentRevision == "" && makeCurrent(api, p.world.current)
	})
}

// keepApplied keeps the installed revision, deletes retained objects whose data
// is gone, and reports that the next revision cannot be planned if that is so.
// It puts the status in order when somebody took the current revision out of it,
// or put others in.
func (p *Pass) keepApplied(ctx context.Context) error {
	kept := errors.Join(p.keepLatest(ctx), p.releaseRetained(ctx))
	switch {
	case p.world.api == nil:
		return errors.Join(errors.New(p.plan.waiting), kept)
	case p.plan.err != nil:
		return errors.Join(p.plan.err, kept)
	case p.plan.revision != nil:
		return errors.Join(p.publish(ctx), p.putInOrder(ctx), kept)
	}
	return kept
}

// putInOrder writes that the latest revision is current, and clears what is
// listed before it. A newer one that was listed in this very pass is not in what
// the pass has seen, and is not meant.
func (p *Pass) putInOrder(ctx context.Context) error {
	latest := p.world.latestEntry()
	switch {
	case latest == nil || latest.ContentID != p.plan.revision.ContentID:
		return nil
	case p.world.current != latest.Name:
		return p.recordCurrent(ctx)
	case p.olderLeft > 0 && p.olderSeen:
		return p.clearOlder(ctx)
	}
	return nil
}

// retryWork tries whatever is next, as far as that is possible: also what the
// machine records on its way, because that may be what keeps failing.
func (p *Pass) retryWork(ctx context.Context) error {
	latest, wanted := p.world.latestEntry(), p.plan.revision
	switch {
	case p.plan.err != nil:
		return errors.Join(p.plan.err, p.keepCurrent(ctx))
	case latest == nil || wanted == nil || latest.ContentID != wanted.ContentID:
		return p.planRevision(ctx)
	case p.world.current != latest.Name:
		if err := p.applyRevision(ctx); err != nil || p.latest == nil || !p.Engine.Look(p.latest).Complete() {
			return err
		}
		return p.recordCurrent(ctx)
	case p.olderLeft > 0:
		kept := p.keepLatest(ctx)
		return errors.Join(p.clearOlder(ctx), kept)
	}
	return p.keepLatest(ctx)
}
