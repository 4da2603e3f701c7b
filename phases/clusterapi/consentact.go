package clusterapi

import (
	"context"
	"slices"
	"strconv"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/recorder"
)

// consents are what an administrator consented to lose with objects that are retained beside a revision; nil if nobody did.
func (p *Pass) consents(revision int64) map[engine.Key]engine.Consent {
	act := p.standing(acts.ConsentToDelete)
	if act == nil || act.Revision() != revision {
		return nil
	}
	all := map[engine.Key]engine.Consent{}
	for _, o := range act.Objects() {
		said := ConsentOf(o)
		said.By, said.At = act.By, act.At
		all[keyOf(o)] = said
	}
	return all
}

// consentsNow are the consents to lose data as the API server has them: who takes one back is told that it is not used, and a cache may be
// behind. If it is, none counts in this pass.
func (p *Pass) consentsNow(ctx context.Context, revision int64) (map[engine.Key]engine.Consent, error) {
	all := p.consents(revision)
	if len(all) == 0 {
		return all, nil
	}
	if stands, err := p.consentStands(ctx); err != nil || !stands {
		return nil, err // somebody has just changed them
	}
	return all, nil
}

// consentStands asks the API server whether the consents are as this pass has seen them. It is asked once more right before each
// deletion by one: to list what goes with an object may take long.
func (p *Pass) consentStands(ctx context.Context) (bool, error) {
	live := &operatorv1alpha1.ClusterAPI{}
	found, err := read(ctx, p.Live, client.ObjectKeyFromObject(p.world.api), live)
	if err != nil || !found {
		return false, err
	}
	return live.UID == p.world.api.UID && live.Annotations[acts.ConsentAct] == p.world.api.Annotations[acts.ConsentAct], nil
}

// ConsentOf reads what an item of the act says of the object that it names.
func ConsentOf(o acts.Object) engine.Consent {
	count, _ := strconv.ParseInt(o.Rest[1], 10, 64) // its pattern is that of a number
	return engine.Consent{UID: types.UID(o.Rest[0]), Count: count, Digest: o.Rest[2]}
}

// consentText is what people consented to as they wrote it, empty while that does not count.
func (p *Pass) consentText() string {
	if p.standing(acts.ConsentToDelete) == nil {
		return ""
	}
	return p.world.api.Annotations[acts.ConsentAct]
}

// tellConsents tells recorder and history of consents by which objects have begun to go, or went, and the recorder of those that
// do not count, if that was not so before.
func (p *Pass) tellConsents(report, before *engine.TeardownReport) {
	known := map[engine.Key]bool{}
	void := map[engine.Key]string{}
	if before != nil {
		for _, o := range slices.Concat(before.Waiting, before.Gone) {
			known[o.Key.Identity()] = o.Consented
		}
		for _, o := range before.Retained {
			void[o.Key.Identity()] = o.Void
		}
	}
	for _, o := range report.Retained {
		if o.Void != "" && o.Void != void[o.Key.Identity()] {
			p.recorder.Add(recorder.Asked(p.Now(), acts.ConsentToDelete, "void", o.Key.String()+": "+o.Void))
		}
	}
	sent := p.sendings()
	for _, o := range slices.Concat(report.Waiting, report.Gone) {
		if o.Consented && !known[o.Key.Identity()] {
			revision, used := p.used(o, sent)
			p.recorder.Add(recorder.Asked(p.Now(), acts.ConsentToDelete, "used", used))
			p.History.Consent(revision, acts.ConsentToDelete+" of "+used)
		}
	}
	if report.Wait == "" { // all of them were looked at
		p.settle(report, sent)
	}
}

// undecided says that nobody has looked what becomes of an object.
func undecided(o engine.Orphan) bool {
	return o.Action == engine.Failed || o.Action == engine.Pending && o.Would == ""
}

// voided are the retained objects that a consent does not count for although it names them.
func voided(retained []guards.RetainedObject) []guards.VoidConsent {
	var all []guards.VoidConsent
	for _, r := range retained {
		if r.Void != "" {
			all = append(all, guards.VoidConsent{Object: r.Object, Void: r.Void})
		}
	}
	return all
}
