package clusterapi

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"k8s.io/utils/ptr"

	"github.com/capstan-capi/capstan/phases/history"
)

// seeHistory brings the history up to what is listed, once it was read. It waits for nothing.
func (p *Pass) seeHistory() {
	if p.world.api == nil {
		return
	}
	seen := history.Seen{At: p.Now(), Numbers: p.world.numbers()}
	for _, entry := range p.world.entries() {
		seen.Highest = max(seen.Highest, entry.Revision)
		if entry.Name == p.world.api.Status.CurrentRevision {
			seen.Current = entry.Revision
		}
		if p.proofs.prove(&entry) {
			seen.Listed = append(seen.Listed, remembered(&entry))
		}
	}
	p.History.See(seen)
	p.noteUsed()
	if known, _ := p.History.Known(); known.Lost && len(known.Revisions) > 0 {
		p.Display.HistoryBegins = fmt.Sprintf("ConfigMap %s/%s was lost, or is new: there is no way back to what was listed before revision %d",
			p.OperatorNamespace, history.ConfigMap, known.Revisions[0].Number)
	}
}

// holdHistory writes the history, and says if it does not hold a revision of this operator's that is to be taken off the list.
func (p *Pass) holdHistory(ctx context.Context) error {
	if p.History == nil {
		return nil
	}
	if err := p.History.Load(ctx); err != nil {
		return err
	}
	p.seeHistory()
	if err := p.History.Flush(ctx); err != nil {
		return err
	}
	known, _ := p.History.Known()
	for _, entry := range p.world.entries() {
		if entry.Revision < p.desired.Number && p.proofs.prove(&entry) && !known.Holds(entry.Revision) {
			return fmt.Errorf("revision %s stays listed until the history of revisions has it", entry.Name)
		}
	}
	return nil
}

// remembered is what the history has of an entry, but for why and when.
func remembered(entry *operatorv1alpha1.ClusterAPIInstallerRevision) history.Revision {
	r := history.Revision{
		Number: entry.Revision, Name: string(entry.Name), Release: releaseOf(entry), ContentID: entry.ContentID,
		Unmanaged: entry.UnmanagedCustomResourceDefinitions, Result: history.Applying,
	}
	for _, c := range entry.Components {
		r.Components = append(r.Components, history.Component{Name: c.Name, Image: string(c.Image.Ref), Profile: c.Image.Profile})
	}
	for _, s := range entry.ManifestSubstitutions {
		if r.Substitutions == nil {
			r.Substitutions = map[string]string{}
		}
		r.Substitutions[s.Key] = ptr.Deref(s.Value, "")
	}
	return r
}

// enters is what the history gets of an entry that is listed now.
func (p *Pass) enters(entry operatorv1alpha1.ClusterAPIInstallerRevision) history.Revision {
	r := remembered(&entry)
	r.Listed, r.Cause = p.Now(), p.causeOf(r)
	if pin := p.world.pin; pin.stands() {
		r.Pin = &history.Pin{Revision: pin.told.Revision, By: pin.told.By, At: pin.told.At}
		r.Cause = fmt.Sprintf("pin to revision %d by %s: %s", pin.told.Revision, pin.told.By, pin.told.Reason)
	}
	if consent := p.plan.consent; consent != nil {
		r.Consents = append(r.Consents, usedUp(consent))
	}
	return r
}

// causeOf says by which inputs a revision differs from the newest one, after which it is listed.
func (p *Pass) causeOf(r history.Revision) string {
	before := p.world.desiredEntry()
	if before == nil {
		return "the first one that is listed"
	}
	var causes []string
	is := func(differs bool, cause string) {
		if differs {
			causes = append(causes, cause)
		}
	}
	old := remembered(before)
	is(!slices.Equal(old.Images(), r.Images()), "images")
	is(slices.Equal(old.Images(), r.Images()) && !slices.Equal(old.Components, r.Components), "the platform")
	is(!maps.Equal(old.Substitutions, r.Substitutions), "the TLS profile or the name of the infrastructure")
	is(!slices.Equal(old.Unmanaged, r.Unmanaged), "spec.unmanagedCustomResourceDefinitions")
	is(len(causes) == 0 && old.ContentID != r.ContentID, "another release of the operator, which makes other content of the same")
	is(len(causes) == 0, "a revision that somebody else has listed, or has taken off the list")
	return strings.Join(causes, ", ")
}
