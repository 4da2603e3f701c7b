package clusterapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"k8s.io/utils/ptr"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/render"
)

// plan is what the inputs render to, or why they do not yet.
type plan struct {
	revision *render.Revision
	// waiting says what is not there yet; err what is wrong.
	waiting string
	err     error
	// needed are the images that it was made of.
	needed []images.Ref
	// ready counts the images at hand.
	ready int
	// uninstalls says what of that which runs the revision would end, by consent; empty for nothing. awaitsConsent says that
	// the administrator has not consented to it, and consentTo what the revision would be called; both empty if consent is the act
	// by which that is done.
	uninstalls, awaitsConsent, consentTo string
	consent                              *acts.Act
}

// makePlan renders the inputs, which takes only what is at hand, and exceptions if something needs one.
func (p *Phases) makePlan(ctx context.Context, w world) plan {
	switch {
	case w.api == nil:
		return plan{waiting: "ClusterAPI cluster does not exist; create it to go on"}
	case w.platform == "":
		return plan{waiting: "Infrastructure cluster has no status.platformStatus.type yet"}
	case w.pinWaits != "":
		return plan{waiting: w.pinWaits}
	case w.listRelease != "":
		return plan{waiting: fmt.Sprintf("ConfigMap %s/%s is for release %s, and this operator is of release %s; what is installed stays until the operator of that release comes",
			p.OperatorNamespace, ImagesConfigMap, w.listRelease, p.Release)}
	case w.refsErr != nil:
		return plan{err: w.refsErr}
	}
	anew := p.lookedIntoAnew(w)
	needed := p.neededOf(w, anew)
	profiles, out := p.profiles(needed)
	out.needed = needed
	out.ready += len(w.refs) - len(needed)
	if out.waiting != "" || out.err != nil {
		return out
	}
	inputs := fmt.Sprint(w.inputs, anew)
	if last := p.memory.rendered; last.inputs != inputs || last.askedAgain(p.Now) {
		p.memory.rendered = p.render(ctx, w, inputs, profiles)
	}
	out.revision, out.err = p.memory.rendered.revision, p.memory.rendered.err
	return out
}

// profiles collects the profiles of all images, or says which images are
// missing and why; the most useful cause comes first.
func (p *Phases) profiles(refs []images.Ref) ([]render.Profile, plan) {
	var profiles []render.Profile
	var out plan
	var missing, failed []string
	for _, ref := range refs {
		state := p.Images.State(ref)
		switch {
		case state.Phase == images.Ready:
			out.ready++
			for _, profile := range state.Image.Profiles {
				profiles = append(profiles, render.Profile{
					Image: string(ref), Name: profile.Name, Metadata: profile.Metadata, Manifests: profile.Manifests,
				})
			}
		case state.Err != nil:
			failed = append(failed, string(ref))
			if out.err == nil {
				out.err = state.Err
			}
		default:
			missing = append(missing, string(ref))
		}
	}
	if len(failed) > 1 {
		out.err = fmt.Errorf("%w (and %d more images)", out.err, len(failed)-1)
	}
	if out.err == nil && len(missing) > 0 {
		out.waiting = fmt.Sprintf("%d of %d provider images are being fetched: %s", len(missing), len(refs), strings.Join(missing, ", "))
	}
	return profiles, out
}

// planRevision lists a new revision when the planned content is not the desired one's.
func (p *Pass) planRevision(ctx context.Context) error {
	if err := p.planError(); err != nil || p.plan.revision == nil {
		return errors.Join(err, p.keepCurrent(ctx))
	}
	kept := machine.InPart(InstallerController, p.keep(ctx))
	return errors.Join(machine.InPart(RevisionController, p.publish(ctx)), kept)
}

// planError is why the inputs cannot be planned, nil while they can or are only waited for.
func (p *Pass) planError() error { return machine.InPart(RevisionController, p.plan.err) }

// publish writes ClusterAPI.status so that its desired revision has the planned
// content, and the observed generation follows. A current revision that somebody
// took out comes back with the same write. It checks the API's own rules before
// the API server would.
func (p *Pass) publish(ctx context.Context) error {
	desired, generation := p.world.desiredEntry(), p.world.api.Generation
	if desired != nil && p.plan.awaitsConsent != "" || p.isListed() {
		return p.writeStatus(ctx, func(api *operatorv1alpha1.ClusterAPI) []string {
			return append(p.restore(api), said(observe(api, generation), seenSpec, generation)...)
		})
	}
	if desired != nil && desired.Revision >= engine.MaxNumber {
		return machine.Terminal(fmt.Errorf("revision %s is listed with number %d, above which there is none for the next revision: take it off status.revisions of the ClusterAPI and let desiredRevision name the highest of the rest",
			desired.Name, desired.Revision))
	}
	if withdrawn, err := p.forgetWithdrawn(ctx); withdrawn || err != nil {
		p.lookAgainIn(askAgainSoon)
		return err
	}
	highest, err := p.Engine.HighestNumber(ctx, p.world.numberOf(p.world.desiredName()))
	if err != nil {
		return fmt.Errorf("finding the next revision number: %w", err)
	}
	p.memory.counted = counted{known: true, desired: p.world.desiredName(), highest: highest}
	entry := NewEntry(p.releaseOf(p.world), p.numberAfter(highest), p.plan.revision)
	if p.plan.uninstalls != "" && !p.plan.consentedTo(entry.Name) {
		p.lookAgainIn(askAgainSoon) // with the number that is known now
		return p.restoreCurrent(ctx)
	}
	giveWay, err := p.makeRoom(ctx)
	if err != nil || len(p.world.entries())-len(giveWay) >= guards.MaxRevisions {
		return errors.Join(err, p.restoreCurrent(ctx))
	}
	// Before it is listed, so that there is no entry of ours without its proof.
	if err := p.Engine.Announce(ctx, announced(entry)); err != nil {
		return err
	}
	if err := p.History.Load(ctx); err != nil {
		p.Log.Info("the history of revisions could not be read, and will not say why the next one is listed", "error", err.Error())
	}
	p.memory.counted = counted{} // the number is used by now, whatever comes of the write
	listed := false
	err = p.writeStatus(ctx, func(api *operatorv1alpha1.ClusterAPI) []string {
		did := p.restore(api)
		listed = false // of an attempt that met a conflict
		switch now := DesiredOf(&api.Status); {
		case now != nil && now.Name != p.world.desiredName():
			p.lookAgainIn(askAgainSoon) // somebody else has listed one meanwhile
			return did
		case p.plan.uninstalls != "" && api.Annotations[acts.UninstallAct] != p.world.api.Annotations[acts.UninstallAct]:
			p.lookAgainIn(askAgainSoon) // somebody has taken the consent back, or given another one
			return did
		case enlist(api, entry, giveWay, generation):
			listed = true
			return append(did, "listed revision "+string(entry.Name))
		}
		return did
	})
	if listed && err == nil {
		p.tellListed(ctx, entry)
	}
	return err
}

// tellListed tells recorder and history of a revision that was listed, and of the consent by which it was.
func (p *Pass) tellListed(ctx context.Context, entry operatorv1alpha1.ClusterAPIInstallerRevision) {
	p.tellUninstallConsent()
	p.History.List(p.enters(entry))
	if !p.world.pin.stands() && p.plan.consent == nil {
		return
	}
	// A restart goes by a pin, and people by who consented; what cannot be written now is written soon.
	if err := p.History.Flush(ctx); err != nil {
		p.Log.Info("the history of revisions could not be written, trying again", "error", err.Error())
	}
}

// isListed says that the planned content is that of the newest revision, which is this operator's.
func (p *Pass) isListed() bool {
	desired := p.world.desiredEntry()
	return desired != nil && desired.ContentID == p.plan.revision.ContentID && p.begun == 0 && p.desiredForeign() == ""
}

// numberAfter is the number that the planned revision gets, by the highest that is used.
func (p *Pass) numberAfter(highest int64) int64 {
	if p.isAnnounced(highest) {
		highest-- // it was announced, and could not be listed
	}
	return nextNumber(p.world.desiredEntry(), max(highest, p.begun))
}

// isAnnounced says that the planned revision was announced with a number, and
// that nothing of it was applied: there is no need for another number. One that
// was listed by a consent is used, so that the consent does not count again.
func (p *Pass) isAnnounced(number int64) bool {
	known := p.proofs.of(number)
	return known != nil && known.Announced && known.Listed == ProofOf(NewEntry(p.releaseOf(p.world), number, p.plan.revision)) && !p.usedFor(number)
}

// askAgainSoon is when consent is asked for with the exact number. It is a pause,
// because a cache that is late could lead here again.
const askAgainSoon = time.Second

// seenSpec says what was done where nothing had to be listed.
const seenSpec = "noted that generation %d of the spec was seen"

// NewEntry is how a rendered revision is listed.
func NewEntry(release string, number int64, revision *render.Revision) operatorv1alpha1.ClusterAPIInstallerRevision {
	entry := operatorv1alpha1.ClusterAPIInstallerRevision{
		Name:                               operatorv1alpha1.RevisionName(render.Name(release, revision.ContentID, number)),
		Revision:                           number,
		ContentID:                          revision.ContentID,
		UnmanagedCustomResourceDefinitions: revision.Unmanaged,
	}
	for _, s := range revision.Substitutions {
		entry.ManifestSubstitutions = append(entry.ManifestSubstitutions,
			operatorv1alpha1.ClusterAPIInstallerRevisionManifestSubstitution{Key: s.Key, Value: ptr.To(s.Value)})
	}
	for _, c := range revision.Components {
		entry.Components = append(entry.Components, operatorv1alpha1.ClusterAPIInstallerComponent{
			Name: c.Name,
			ClusterAPIInstallerComponentSource: operatorv1alpha1.ClusterAPIInstallerComponentSource{
				Type: operatorv1alpha1.InstallerComponentTypeImage,
				Image: operatorv1alpha1.ClusterAPIInstallerComponentImage{
					Ref: operatorv1alpha1.ImageDigestFormat(c.Image), Profile: c.Profile,
				},
			},
		})
	}
	return entry
}
