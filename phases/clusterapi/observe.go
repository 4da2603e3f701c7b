package clusterapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/images"
)

// Observe looks at the cluster without changing anything in it. What it needs
// watched is watched from then on, in the background; it waits for nothing but
// what is prepared before the first pass.
func (p *Phases) Observe(ctx context.Context, _ machine.Key) (guards.Facts, *Pass, error) {
	p.passing.Lock()
	defer p.passing.Unlock()
	w, err := p.readWorld(ctx, p.Client)
	if err != nil {
		return guards.Facts{}, nil, err
	}
	if err := p.reachRegistries(ctx, w); err != nil {
		return guards.Facts{}, nil, err
	}
	wanted := p.wantImages(w)
	p.heed(w)
	p.forget(w)
	pass := &Pass{Phases: p, world: w, plan: p.makePlan(w)}
	latest, current := w.latestEntry(), w.currentEntry()
	pass.latest, pass.latestErr = p.revision(latest, pass.plan.revision)
	p.newest = pass.latest
	if p.apiUID = ""; w.api != nil {
		p.apiUID = w.api.UID
	}
	pass.current, pass.currentErr = p.revision(current, pass.plan.revision)
	p.Engine.Watch(known(pass.latest, pass.current)...)

	facts := guards.Facts{
		ClusterAPI: w.api != nil,
		Platform:   w.platform,
		Planning:   pass.plan.waiting,
		Images:     pass.plan.ready,
		Listed:     len(w.entries()),
		Inputs:     w.inputs,
		Consent:    w.consent,
		Attempted:  p.tried[pass.latest],

		ImageStates:  imageStates(wanted, w.componentsOf(), p.Images.State),
		ImageWarning: p.Images.Warning(),
	}
	if pass.plan.err != nil {
		facts.Planning, facts.PlanFailed, facts.PlanTerminal = pass.plan.err.Error(), true, machine.IsTerminal(pass.plan.err)
	}
	if pass.plan.revision != nil {
		facts.Wanted = pass.plan.revision.ContentID
	}
	if latest != nil {
		facts.Latest, facts.LatestName, facts.LatestNumber = latest.ContentID, string(latest.Name), latest.Revision
	}
	if current != nil {
		facts.Current, facts.CurrentNumber = current.ContentID, current.Revision
	}
	facts.Applied, facts.Revisions = pass.applied()
	pass.older(&facts)
	pass.olderLeft, pass.olderSeen = facts.Older, facts.OlderSeen
	facts.Strays = pass.strays(facts)
	return facts, pass, nil
}

// heed tries failed images again when the administrator asks for another
// attempt. What was asked for before a start is done by starting.
func (p *Phases) heed(w world) {
	if p.heeded != nil && *p.heeded != w.retry {
		p.Images.Retry()
	}
	p.heeded = &w.retry
}

// wantImages asks for the images of the inputs and of every listed revision, so
// that the current one can be kept applied while the next is on its way.
func (p *Phases) wantImages(w world) []images.Ref {
	wanted := slices.Clone(w.refs)
	wanted = append(wanted, entryRefs(w.latestEntry())...)
	wanted = append(wanted, entryRefs(w.currentEntry())...)
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	p.Images.Want(wanted)
	return wanted
}

// applied tells how the latest revision stands, what stands in its way and the
// current one's, and how far all listed ones are.
func (p *Pass) applied() (guards.Applied, []guards.Revision) {
	var reports []*engine.Report
	for _, revision := range slices.Compact(known(p.latest, p.current)) {
		reports = append(reports, p.Engine.Look(revision))
	}
	told := guards.Applied{Collisions: collisions(reports...), Refused: refused(reports...), Contested: contested(reports...)}
	var notYet *notYetError
	switch {
	case errors.As(p.latestErr, &notYet):
		told.Why = notYet.what
	case p.latestErr != nil:
		told.Why = p.latestErr.Error()
	case p.latest == nil:
		told.Why = "no revision is listed"
	default:
		report := reports[0]
		told.Known, told.Complete, told.Done, told.Total = !report.Unknown(), report.Complete(), report.Done(), report.Total()
		told.Why = p.blocked(p.latest, report)
	}
	return told, p.progress(reports)
}

// strays are told when nothing is on its way: before, what an older revision
// left behind may look like one.
func (p *Pass) strays(f guards.Facts) []string {
	if f.Older > 0 || !f.OlderSeen || f.LatestNumber != f.CurrentNumber || !f.Applied.Complete {
		return nil
	}
	var texts []string
	for _, stray := range p.Engine.Strays() {
		texts = append(texts, fmt.Sprintf("%s (marked by revision %d)", stray.Key, stray.Number))
	}
	return texts
}

// progress tells of every listed revision how far it is, the oldest first.
func (p *Pass) progress(reports []*engine.Report) []guards.Revision {
	var told []guards.Revision
	for _, entry := range p.world.entries() {
		revision := guards.Revision{
			Name: string(entry.Name), Number: entry.Revision, ContentID: entry.ContentID, Current: entry.Name == p.world.current,
		}
		for _, report := range reports {
			if report.Revision == revision.Name {
				revision.Waves = wavesOf(report)
			}
		}
		told = append(told, revision)
	}
	slices.SortFunc(told, func(a, b guards.Revision) int { return cmp.Compare(a.Number, b.Number) })
	return told
}

// older counts what is left of older revisions, and what of it holds up. While
// the latest cannot be told, what was retained for the current one is.
func (p *Pass) older(facts *guards.Facts) {
	numbers := map[int64]bool{}
	for _, entry := range p.world.entries() {
		numbers[entry.Revision] = true
	}
	facts.Orphans = guards.Orphans{Why: "what older revisions left behind has not been looked at yet"}
	if kept := known(p.latest, p.current); len(kept) > 0 {
		stored := p.Engine.Orphans(kept[0])
		facts.OlderSeen = stored.Seen && p.latest != nil
		for _, number := range stored.Revisions {
			numbers[number] = true
		}
		for _, key := range stored.Retained {
			facts.Retained = append(facts.Retained, guards.Retained{Object: key.String()})
		}
		if last := p.pruned; last.report != nil && last.number == kept[0].Number {
			facts.Retained, facts.Waiting = retained(last.report), held(last.report)
		}
	}
	for number := range numbers {
		if number < facts.LatestNumber {
			facts.Older++
		}
	}
	if last := p.pruned; last.report != nil && last.number == facts.LatestNumber {
		facts.Orphans = guards.Orphans{Known: last.report.Complete() || len(last.report.Waiting) > 0, Left: len(last.report.Waiting), Why: last.report.Blocked()}
	}
}

func known(revisions ...*engine.Revision) []*engine.Revision {
	return slices.DeleteFunc(revisions, func(r *engine.Revision) bool { return r == nil })
}
