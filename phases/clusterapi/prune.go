package clusterapi

import (
	"context"
	"errors"
	"slices"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	"github.com/capstan-capi/capstan/phases/engine"
)

// torndown is what the last look at orphans found, for the next pass's facts.
type torndown struct {
	number int64
	report *engine.TeardownReport
	// older are the numbers of the older revisions that were looked at and were there ever since.
	older []int64
	// looked says that nothing was deleted: what the report waits for is what may go.
	looked bool
	at     time.Time
	// consent is what was consented to then.
	consent string
}

// of says whether the look was at what a revision does not have.
func (t torndown) of(revision *engine.Revision) bool {
	return t.report != nil && revision != nil && t.number == revision.Number
}

// lookAgainAtDeletions is how soon objects that are being deleted are looked at
// again, should no watch tell sooner that they are gone.
const lookAgainAtDeletions = 2 * time.Second

// pruneOrphans deletes what only older revisions had, and keeps the desired revision.
func (p *Pass) pruneOrphans(ctx context.Context) error {
	kept := p.keep(ctx)
	return errors.Join(p.prune(ctx), kept)
}

// prune tears down for the desired revision, if the status says that it is
// current: nothing is deleted for one whose gates were not passed, whatever the
// record or this process believe.
func (p *Pass) prune(ctx context.Context) error {
	if p.desired == nil || p.world.api == nil || string(p.world.api.Status.CurrentRevision) != p.desired.Name {
		return nil
	}
	if err := p.adopt(ctx); err != nil {
		return err
	}
	consents, err := p.consentsNow(ctx, p.desired.Number)
	if err != nil {
		return err
	}
	report, err := p.Engine.Teardown(ctx, p.desired, engine.Consented(consents), engine.Losing(p.losing(ctx), p.sent(ctx)),
		engine.Standing(func() (bool, error) { return p.consentStands(ctx) }))
	p.tornDown(report, false)
	return err
}

// adopt gives inventories to listed revisions that have none, because another
// installer has applied them or because their inventory was lost. What only they
// had could not be pruned otherwise. Inventories with gaps are filled, whether
// their revisions are listed or not.
func (p *Pass) adopt(ctx context.Context) error {
	var older []engine.RevisionRef
	for _, entry := range p.world.entries() {
		if entry.Revision < p.desired.Number {
			older = append(older, engine.RevisionRef{Name: string(entry.Name), Number: entry.Revision, ContentID: entry.ContentID})
		}
	}
	if !p.olderSeen {
		return nil
	}
	return p.Engine.Adopt(ctx, older...)
}

// tornDown makes what a teardown found a fact for the next pass, and asks for
// that pass when it is another one: nothing else may announce it.
func (p *Pass) tornDown(report *engine.TeardownReport, looked bool) {
	if report == nil {
		return
	}
	before := p.memory.torndown
	changed := !before.of(p.desired) || before.looked != looked || before.report.Progress() != report.Progress() || before.report.Wait != report.Wait
	p.tellConsents(report, before.report)
	p.memory.data = p.memory.data.after(report, p.desired.Number, p.consents(p.desired.Number))
	if !looked {
		if changed {
			p.Log.Info("pruning", "keeping", p.desired.Name, "progress", report.Progress(), "blocked", report.Blocked(), "retained", report.WhyRetained())
		}
		p.removed(report, before.report)
	}
	p.memory.torndown = torndown{number: p.desired.Number, report: report, older: slices.Clone(p.older), looked: looked, at: p.Now(), consent: p.consentText()}
	switch {
	case changed && (!looked || len(report.Waiting) > 0):
		p.lookAgainIn(0)
	case !looked && len(report.Waiting) > 0:
		p.lookAgainIn(lookAgainAtDeletions)
	case !looked && report.Wait != "", slices.ContainsFunc(report.Retained, goesUnseen):
		p.lookAgainIn(lookAgainAtRetained)
	}
}

// trimRevisions takes what came before the desired revision off the list, and
// then the engine forgets it.
func (p *Pass) trimRevisions(ctx context.Context) error {
	if p.desired == nil {
		return nil
	}
	last := p.memory.torndown
	if !last.of(p.desired) {
		return errors.New("what older revisions left behind has not been looked at yet")
	}
	if err := p.holdHistory(ctx); err != nil {
		return err
	}
	err := p.writeStatus(ctx, func(api *operatorv1alpha1.ClusterAPI) []string {
		return said(trim(api, p.desired.Number), "took the revisions before %d off the list", p.desired.Number)
	})
	if err != nil {
		return err
	}
	return p.Engine.Forget(ctx, p.desired, last.report)
}
