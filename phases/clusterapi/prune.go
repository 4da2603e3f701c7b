package clusterapi

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/capstan-capi/capstan/phases/engine"
)

// pruned is what the last pruning found, for the next pass's facts.
type pruned struct {
	number  int64
	report  *engine.TeardownReport
	at      time.Time
	consent string
}

// due is when retained objects may be looked at again; long ago when they never were.
func (p pruned) due() time.Time {
	switch {
	case p.report == nil:
		return time.Time{}
	case slices.ContainsFunc(p.report.Retained, isNamespace):
		return p.at.Add(sweepEvery)
	}
	return p.at.Add(releaseEvery)
}

// lookAgainAtDeletions is how soon objects that are being deleted are looked at
// again, should no watch tell sooner that they are gone.
const lookAgainAtDeletions = 2 * time.Second

// lookAgainAtRetained is how soon retained objects are looked at again of which
// no watch tells that they hold nothing any more; see goesUnseen.
const lookAgainAtRetained = time.Minute

// How often retained objects are looked at, at most, however many passes there
// are: releaseEvery, or sweepEvery when a namespace is among them, because
// looking into one takes a request for every kind.
const (
	releaseEvery = 2 * time.Second
	sweepEvery   = 10 * time.Second
)

// pruneOrphans deletes what only older revisions had, and keeps the latest.
func (p *Pass) pruneOrphans(ctx context.Context) error {
	kept := p.keepLatest(ctx)
	return errors.Join(p.pruneOlder(ctx), kept)
}

func (p *Pass) pruneOlder(ctx context.Context) error {
	if p.latest == nil {
		return nil
	}
	if err := p.adopt(ctx); err != nil {
		return err
	}
	return p.prune(ctx)
}

// clearOlder prunes, and takes the older revisions off the list when nothing is left of them.
func (p *Pass) clearOlder(ctx context.Context) error {
	if err := p.pruneOlder(ctx); err != nil || p.pruned.report == nil || !p.pruned.report.Complete() {
		return err
	}
	return p.trimRevisions(ctx)
}

// adopt gives inventories to listed revisions that have none, because another
// installer has applied them or because their inventory was lost. What only they
// had could not be pruned otherwise.
func (p *Pass) adopt(ctx context.Context) error {
	var older []engine.RevisionRef
	for _, entry := range p.world.entries() {
		if entry.Revision < p.latest.Number {
			older = append(older, engine.RevisionRef{Name: string(entry.Name), Number: entry.Revision, ContentID: entry.ContentID})
		}
	}
	if len(older) == 0 || !p.olderSeen {
		return nil
	}
	return p.Engine.Adopt(ctx, older...)
}

// prune makes what is left of older revisions a fact for the next pass, and
// asks for that pass, because nothing else may announce it.
func (p *Pass) prune(ctx context.Context) error {
	report, err := p.Engine.Teardown(ctx, p.latest, engine.Consent(p.world.consent))
	if report == nil {
		return err
	}
	before := p.pruned
	news := before.report == nil || before.number != p.latest.Number || before.report.Progress() != report.Progress()
	if news {
		p.Log.Info("pruning", "keeping", p.latest.Name, "progress", report.Progress(), "blocked", report.Blocked(), "retained", report.WhyRetained())
	}
	p.removed(report, before.report)
	p.Phases.pruned = pruned{number: p.latest.Number, report: report, at: p.Now(), consent: p.world.consent}
	switch {
	case news:
		p.Again(0)
	case len(report.Waiting) > 0:
		p.Again(lookAgainAtDeletions)
	case slices.ContainsFunc(report.Retained, goesUnseen):
		p.Again(lookAgainAtRetained)
	}
	return err
}

// goesUnseen says that nothing announces when what a retained object holds is
// gone, or can be counted again: a namespace is not watched inside, and neither
// are instances of a CRD that the API server cannot give. Those that it gives
// are watched, and a volume goes by consent only.
func goesUnseen(o engine.Orphan) bool { return o.Count == 0 || isNamespace(o) }

func isNamespace(o engine.Orphan) bool { return o.Key.Group == "" && o.Key.Kind == "Namespace" }

// releaseRetained looks again at objects that were kept for their data, and
// takes those that are gone off the inventory.
func (p *Pass) releaseRetained(ctx context.Context) error {
	if p.latest == nil || len(p.Engine.Orphans(p.latest).Retained) == 0 {
		return nil
	}
	last := p.pruned
	if wait := last.due().Sub(p.Now()); last.number == p.latest.Number && last.consent == p.world.consent && wait > 0 {
		p.Again(wait)
		return nil
	}
	if err := p.prune(ctx); err != nil || !p.pruned.report.Complete() {
		return err
	}
	return p.Engine.Forget(ctx, p.latest, p.pruned.report)
}
