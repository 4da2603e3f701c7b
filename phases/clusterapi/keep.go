package clusterapi

import (
	"context"
	"errors"

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
	report, err := p.Engine.Maintain(ctx, revision)
	p.tried[revision] = true
	p.acted("keeping", report)
	return errors.Join(inTheWay(report), err)
}

// keepApplied keeps the installed revision, deletes retained objects whose data
// is gone, and reports that the next revision cannot be planned if that is so.
// It writes the status again when somebody took the current revision out of it.
func (p *Pass) keepApplied(ctx context.Context) error {
	kept := errors.Join(p.keepLatest(ctx), p.releaseRetained(ctx))
	switch {
	case p.world.api == nil:
		return errors.Join(errors.New(p.plan.waiting), kept)
	case p.plan.err != nil:
		return errors.Join(p.plan.err, kept)
	case p.plan.revision != nil:
		return errors.Join(p.publish(ctx), p.recordInstalled(ctx), kept)
	}
	return kept
}

// recordInstalled writes that the latest revision is current. A newer one that
// was listed in this very pass is not in what the pass has seen, and is not meant.
func (p *Pass) recordInstalled(ctx context.Context) error {
	latest := p.world.latestEntry()
	if latest == nil || latest.ContentID != p.plan.revision.ContentID || p.world.api.Status.CurrentRevision == latest.Name {
		return nil
	}
	return p.recordCurrent(ctx)
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
	case p.world.api.Status.CurrentRevision != latest.Name:
		if err := p.applyRevision(ctx); err != nil || p.latest == nil || !p.Engine.Look(p.latest).Complete() {
			return err
		}
		return p.recordCurrent(ctx)
	case p.olderLeft > 0:
		if err := p.pruneOrphans(ctx); err != nil || p.Phases.pruned.report == nil || !p.Phases.pruned.report.Complete() {
			return err
		}
		return p.trimRevisions(ctx)
	}
	return p.keepLatest(ctx)
}
