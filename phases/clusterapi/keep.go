package clusterapi

import (
	"context"
	"errors"
	"slices"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/engine"
)

// lookAgainAtRetained is how soon retained objects are looked at again of which
// no watch tells that they hold nothing any more, such as a namespace or a
// StatefulSet; see goesUnseen.
const lookAgainAtRetained = time.Minute

// How often retained objects are looked at, at most, however many passes there
// are: releaseEvery, or sweepEvery when a namespace is among them, because
// looking into one takes a request for every kind.
const (
	// releaseEvery is the shortest time between two looks at retained objects.
	releaseEvery = 2 * time.Second
	// sweepEvery is the shortest time between two looks when a namespace is among the retained objects.
	sweepEvery = 10 * time.Second
)

// keepCurrent keeps the current revision, and writes it into the status again
// when somebody has taken it out and it is applied as a whole.
func (p *Pass) keepCurrent(ctx context.Context) error {
	return machine.InPart(InstallerController, errors.Join(p.keep(ctx), p.restoreCurrent(ctx)))
}

// keepApplied keeps the installed revision, and reports that the inputs cannot
// be planned if that is so. Which revision is installed is what the status says,
// not what state the machine is in. A current revision that somebody took out of
// the status is written again only where no row leads to Planning for that.
func (p *Pass) keepApplied(ctx context.Context) error {
	kept := machine.InPart(InstallerController, errors.Join(p.keep(ctx), p.restoreCurrent(ctx), p.lookAtRetained(ctx)))
	return errors.Join(p.planError(), kept)
}

// keep repairs drift of the current revision and recreates what was deleted of
// it, except for what a newer revision has taken over. Of a revision of which not
// all images are at hand it keeps what it can, and reports the rest.
func (p *Pass) keep(ctx context.Context) error {
	kept, missing := p.current, error(nil)
	if kept == nil {
		kept, missing = p.atHand, failure(p.currentErr)
	}
	if kept == nil {
		return missing
	}
	report, err := p.Engine.Reconcile(ctx, kept, engine.Keep())
	if !kept.Partial {
		p.memory.tried[kept] = true
	}
	p.acted("keeping", report)
	return errors.Join(missing, inTheWay(report), err)
}

// restoreCurrent writes the current revision into the status again when somebody has taken it out.
func (p *Pass) restoreCurrent(ctx context.Context) error {
	if p.world.api == nil || p.world.current == p.world.api.Status.CurrentRevision {
		return nil
	}
	return p.writeStatus(ctx, p.restore)
}

// restore writes a current revision that somebody has taken out, while all of its
// gates are passed: it may be that an etcd was restored from before they were.
func (p *Pass) restore(api *operatorv1alpha1.ClusterAPI) []string {
	if api.Status.CurrentRevision != "" || p.current == nil || !p.Engine.Look(p.current).Complete() {
		return nil
	}
	return said(makeCurrent(api, p.world.current), "restored the current revision %s", p.world.current)
}

// lookAtRetained looks whether objects that were kept for their data may go by
// now, and deletes none.
func (p *Pass) lookAtRetained(ctx context.Context) error {
	if p.desired == nil || p.desired != p.current {
		return nil
	}
	orphans := p.Engine.Orphans(p.desired)
	if !orphans.Seen || len(orphans.Retained) == 0 {
		return nil
	}
	last, now := p.memory.torndown, p.Now()
	// A look in the future was made before the clock was set back.
	if wait := last.due().Sub(now); last.of(p.desired) && last.consent == p.consentText() && wait > 0 && !last.at.After(now) {
		p.lookAgainIn(wait)
		return nil
	}
	report, err := p.Engine.Teardown(ctx, p.desired, engine.Consented(p.consents(p.desired.Number)), engine.Losing(nil, p.sent(ctx)), engine.OnlyLook())
	p.tornDown(report, true)
	return err
}

// goesUnseen says that no watch tells when what a retained object holds is
// gone, or can be counted again: a namespace is not watched inside, nor are the
// volume claims of a StatefulSet, and neither are instances of a CRD that the API
// server cannot give. Those that it gives are watched, and a volume goes by
// consent only.
func goesUnseen(o engine.Orphan) bool { return o.Count == 0 || isNamespace(o) || isStatefulSet(o) }

func isStatefulSet(o engine.Orphan) bool { return o.Key.Group == "apps" && o.Key.Kind == "StatefulSet" }

func isNamespace(o engine.Orphan) bool { return o.Key.Group == "" && o.Key.Kind == "Namespace" }

// due is when retained objects may be looked at again; long ago when they never were.
func (t torndown) due() time.Time {
	switch {
	case t.report == nil:
		return time.Time{}
	case slices.ContainsFunc(t.report.Retained, isNamespace):
		return t.at.Add(sweepEvery)
	}
	return t.at.Add(releaseEvery)
}
