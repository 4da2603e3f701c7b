package clusterapi

import (
	"context"
	"errors"
	"slices"
	"strings"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/images"
)

// Observe looks at the cluster without changing anything in it: it reads the
// inputs, asks for what a pass needs (images, watches), which comes in the
// background, and makes facts of what is at hand.
func (p *Phases) Observe(ctx context.Context, _ machine.Key) (guards.Facts, *Pass, error) {
	p.passing.Lock()
	defer p.passing.Unlock()
	w, err := p.readWorld(ctx, p.Client)
	if err != nil {
		return guards.Facts{}, nil, err
	}
	pass := &Pass{Phases: p, world: w}
	if err := p.reachRegistries(ctx, pass.world); err != nil {
		return guards.Facts{}, nil, err
	}
	if err := p.recallUnneeded(ctx); err != nil {
		return guards.Facts{}, nil, err
	}
	pass.proofs = proofs{p.Engine.Proofs(pass.world.numbers()...)}
	pass.Display.Acts = pass.readActs(ctx)
	wanted := p.prepare(ctx, pass)
	pass.recordActs(pass.Display.Acts)
	if pass.former, err = pass.formerRuns(ctx); err != nil {
		return guards.Facts{}, nil, err
	}
	facts := pass.facts()
	pass.seeHistory()
	pass.Display.ImageStates = p.toldStates(pass.world, wanted)
	pass.Display.ImageWarning = strings.Trim(p.Images.Warning()+"; "+p.planWarnings(pass.world, pass.plan), "; ")
	return facts, pass, nil
}

// prepare asks for the images and watches that a pass needs, and renders what is
// at hand. It returns the images that are asked for.
func (p *Phases) prepare(ctx context.Context, pass *Pass) []images.Ref {
	w := pass.world
	p.retryImages(w)
	wanted := p.wantImages(w, pass.proofs)
	p.forget(w)
	pass.plan = p.makePlan(ctx, w)
	p.learnUnneeded(w, pass.plan)
	pass.desired, pass.desiredErr = p.desiredRevision(w, pass.plan.revision, pass.proofs)
	pass.current, pass.currentErr = p.revision(w.currentEntry(), pass.plan.revision, pass.proofs)
	if w.api == nil {
		pass.current = p.memory.kept // what is installed is kept, by what the process knows
	}
	p.memory.kept, p.memory.desired = pass.current, pass.desired
	if p.memory.apiUID = ""; w.api != nil {
		p.memory.apiUID = w.api.UID
	}
	if pass.current == nil {
		pass.atHand = p.atHand(w.currentEntry(), pass.proofs)
	}
	pass.note()
	p.Engine.Watch(known(pass.desired, pass.current, pass.atHand)...)
	if pass.desired != nil {
		pass.begun = max(p.Engine.Orphans(pass.desired).Ahead, p.Engine.Look(pass.desired).Ahead())
	}
	pass.askUninstallConsent()
	return wanted
}

// retryImages tries failed images again when the administrator asks for another
// attempt. What was asked for before a start is done by starting.
func (p *Phases) retryImages(w world) {
	if p.memory.retried != nil && *p.memory.retried != w.retry {
		p.Images.Retry()
	}
	p.memory.retried = &w.retry
}

// wantImages asks for the images of the inputs that may bring something, and of
// the desired and the current revision, as far as it is proved that this operator
// has listed them, so that the current one can be kept applied while the next is
// on its way. It asks for those as well that are looked into again, which
// nothing waits for.
func (p *Phases) wantImages(w world, proven proofs) []images.Ref {
	wanted := p.neededOf(w, p.lookedIntoAnew(w))
	for _, entry := range []*operatorv1alpha1.ClusterAPIInstallerRevision{w.desiredEntry(), w.currentEntry()} {
		refs := entryRefs(entry)
		if slices.ContainsFunc(refs, func(ref images.Ref) bool { return !slices.Contains(wanted, ref) }) && proven.prove(entry) {
			wanted = append(wanted, refs...)
		}
	}
	p.Images.Want(sorted(slices.Concat(wanted, p.memory.unneeded.doubted(w), w.pin.asks())))
	return sorted(wanted)
}

// sorted has each image once.
func sorted(refs []images.Ref) []images.Ref {
	slices.Sort(refs)
	return slices.Compact(refs)
}

// facts makes facts of what the pass has seen, and notes what is only told.
func (p *Pass) facts() guards.Facts {
	w := p.world
	desired := w.desiredEntry()
	facts := guards.Facts{
		Seen: true, FormerInstaller: p.former, ListRelease: w.listRelease,
		ClusterAPI:   w.api != nil,
		SpecObserved: w.specObserved(),
		Platform:     w.platform,
		Planning:     p.plan.waiting,
		Images:       p.plan.ready,
		Listed:       len(w.entries()),
		Inputs:       p.inputs(),
		Pause:        pauseOf(p.Display.Acts),
	}
	facts.Pin, facts.PinDiffers = w.pinned()
	p.Display.Attempted = p.memory.tried[p.desired]
	if p.plan.err != nil {
		facts.Planning, facts.Unplannable, facts.PlanTerminal = p.plan.err.Error(), true, machine.IsTerminal(p.plan.err)
	}
	p.Display.UninstallConsent, p.Display.Retry = p.plan.consentTo, w.retry
	if p.memory.keeping != nil {
		p.Display.Keeping = p.memory.keeping.Error()
	}
	if p.plan.revision != nil {
		facts.Planned, facts.AwaitsUninstallConsent = p.plan.revision.ContentID, p.plan.awaitsConsent
		facts.UninstallConsent = p.uninstallConsentTold()
	}
	if desired != nil {
		facts.Desired, facts.DesiredNumber = desired.ContentID, desired.Revision
		facts.DesiredForeign = p.desiredForeign()
		p.Display.DesiredName = string(desired.Name)
	}
	if w.api != nil {
		facts.CurrentNumber = w.numberOf(w.api.Status.CurrentRevision)
		facts.GivingWay = len(p.givingWay())
		for _, entry := range p.foreign() {
			p.Display.Foreign = append(p.Display.Foreign, string(entry.Name))
		}
	}
	facts.Abandoned = p.abandoned(facts)
	facts.Applied = p.applied()
	p.requirements(&facts)
	p.lookAtOlder(&facts)
	strays := p.strays(facts)
	p.Display.Strays, p.Display.StraysElsewhere, p.Display.MoreStrays = strays.named, strays.elsewhere, strays.more
	return facts
}

// applied tells how the desired revision stands, and notes what stands in its way
// and the current one's, and how far all listed ones are.
func (p *Pass) applied() guards.Applied {
	var reports []*engine.Report
	for _, revision := range slices.Compact(known(p.desired, p.current)) {
		reports = append(reports, p.Engine.Look(revision))
	}
	p.Display.Collisions, p.Display.Refused, p.Display.Contested = collisions(reports...), refused(reports...), contested(reports...)
	p.Display.LeftAlone = p.tellLeft(reports)
	p.judgeAdoption(p.Display.Collisions)
	if pauseOf(p.Display.Acts).Stands {
		p.Display.Differs, p.Display.MoreDiffers = differs(reports)
	}
	p.Display.Findings, p.Display.Revisions = findings(reports...), p.progress(reports)
	var notYet *notYetError
	switch {
	case errors.As(p.desiredErr, &notYet):
		return guards.Applied{Why: notYet.what}
	case p.desiredErr != nil:
		return guards.Applied{Why: p.desiredErr.Error()}
	case p.desired == nil:
		return guards.Applied{Why: "no revision is listed"}
	}
	report := reports[0]
	return guards.Applied{
		Known: !report.Unknown(), Complete: report.Complete(), Done: report.Done(), Total: report.Total(), Why: p.blocked(p.desired, report),
	}
}

// lookAtOlder counts what is left of older revisions, and what of it holds up.
// While the desired revision cannot be told, what was retained for the current one is. What
// was found before does not count when there is an older revision that was not
// there then, or was gone in between.
func (p *Pass) lookAtOlder(facts *guards.Facts) {
	numbers := map[int64]bool{}
	for _, entry := range p.world.entries() {
		numbers[entry.Revision] = true
	}
	facts.Orphans = guards.Orphans{Why: "what older revisions left behind has not been looked at yet"}
	if kept := known(p.desired, p.current); len(kept) > 0 {
		p.retained(facts, kept[0], numbers)
	} else {
		p.Display.Retained = p.memory.data.retainedBeside(facts.DesiredNumber)
	}
	p.Display.Lost = p.memory.data.lostBeside(facts.DesiredNumber, p.consents(facts.DesiredNumber))
	for number := range numbers {
		if number < facts.DesiredNumber {
			p.older = append(p.older, number)
		}
	}
	facts.Older = len(p.older)
	last := &p.memory.torndown
	last.older = slices.DeleteFunc(last.older, func(number int64) bool { return !slices.Contains(p.older, number) })
	if last.of(p.desired) && len(last.older) == len(p.older) {
		facts.Orphans = orphansOf(last.report)
	}
}

// orphansOf tells how far a teardown has come.
func orphansOf(r *engine.TeardownReport) guards.Orphans {
	if r.Complete() {
		return guards.Orphans{Known: true, Why: r.Blocked()}
	}
	return guards.Orphans{Known: len(r.Waiting) > 0, Left: len(r.Waiting), Gone: len(r.Gone), Why: r.Blocked()}
}

// retained tells what is kept for its data beside a revision, and what of that
// may go; it adds the numbers of the older revisions that have an inventory.
func (p *Pass) retained(facts *guards.Facts, kept *engine.Revision, numbers map[int64]bool) {
	stored := p.Engine.Orphans(kept)
	p.olderSeen = stored.Seen && p.desired != nil
	facts.Begun = p.begun
	facts.OlderSeen = p.olderSeen
	for _, number := range stored.Revisions {
		numbers[number] = true
	}
	p.Display.Retained = p.memory.data.listed(stored, kept.Number)
	last := p.memory.torndown
	facts.Retained.Known = stored.Seen && (len(stored.Retained) == 0 || last.of(kept))
	if !last.of(kept) {
		return
	}
	p.Display.Finalizers = finalizersPending(last.report)
	if last.looked {
		facts.Retained.MayGo = mayGo(last.report)
	}
}

// mayGo names what a look at retained objects found that they need not be
// retained any more: what can be deleted, is gone or is somebody else's. What is
// being deleted by somebody is waited for, and what cannot be read as well.
func mayGo(looked *engine.TeardownReport) []string {
	var names []string
	for _, o := range slices.Concat(looked.Waiting, looked.Gone, looked.Left) {
		if o.Action != engine.Terminating && o.Action != engine.Failed {
			names = append(names, o.Key.String())
		}
	}
	return names
}

func known(revisions ...*engine.Revision) []*engine.Revision {
	return slices.DeleteFunc(revisions, func(r *engine.Revision) bool { return r == nil })
}
