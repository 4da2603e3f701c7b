package clusterapi

import (
	"fmt"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/render"
)

// revision turns a listed revision into objects, from its own images and its
// recorded substitutions. A listed revision never changes, so it is rendered once.
func (p *Phases) revision(entry *operatorv1alpha1.ClusterAPIInstallerRevision, planned *render.Revision, proven proofs) (*engine.Revision, error) {
	if entry == nil {
		return nil, nil
	}
	key := string(entry.Name) + " " + entry.ContentID
	if known, ok := p.memory.listed[key]; ok {
		return known.revision, known.err
	}
	if err := proven.whose(entry, planned); err != nil {
		return nil, err
	}
	content, components := planned, p.memory.rendered.components
	if planned == nil || planned.ContentID != entry.ContentID {
		profiles, out := p.profiles(entryRefs(entry))
		switch {
		case out.err != nil:
			return nil, renderingOf(entry, out.err)
		case out.waiting != "" && !proven.prove(entry):
			return nil, renderingOf(entry, &notYetError{"its inventory has no proof of it, so that its images are not fetched; the next revision has one"})
		case out.waiting != "":
			return nil, renderingOf(entry, &notYetError{out.waiting})
		}
		var err error
		content, components, err = p.renderListed(entry, profiles, false)
		if err == nil && content.ContentID != entry.ContentID {
			err = &notOursError{fmt.Sprintf("its images render to content %s here, and another version of this operator has listed it with %s", content.ContentID, entry.ContentID)}
		}
		if err != nil {
			return p.knows(key, listed{err: renderingOf(entry, err)})
		}
	}
	return p.knows(key, listed{revision: &engine.Revision{
		Name: string(entry.Name), Number: entry.Revision, ContentID: entry.ContentID, Unmanaged: content.Unmanaged,
		Components: components, Listed: p.proofToStore(entry, content, planned, proven),
	}})
}

// desiredRevision is the desired revision, as long as each of its images may be
// used. One that is current is kept whatever a policy says since; the rollout of
// another stops where it is, as it would after a restart, until its images are
// let in again.
func (p *Phases) desiredRevision(w world, planned *render.Revision, proven proofs) (*engine.Revision, error) {
	entry := w.desiredEntry()
	revision, err := p.revision(entry, planned, proven)
	if revision == nil || err != nil || w.api == nil || w.api.Status.CurrentRevision == entry.Name {
		return revision, err
	}
	switch _, out := p.profiles(entryRefs(entry)); {
	case out.err != nil:
		return nil, fmt.Errorf("rolling out revision %s: %w", entry.Name, out.err)
	case out.waiting != "":
		return nil, fmt.Errorf("rolling out revision %s: %w", entry.Name, &notYetError{out.waiting})
	}
	return revision, nil
}

// proofToStore is what the inventory of a revision is to say of its entry: that it
// is proved, or was rendered from its own images. Of the planned content it says
// how this operator lists that, whichever release has named it.
func (p *Phases) proofToStore(entry *operatorv1alpha1.ClusterAPIInstallerRevision, content, planned *render.Revision, proven proofs) string {
	if content != planned || proven.prove(entry) {
		return ProofOf(*entry)
	}
	expected := NewEntry(p.Release, entry.Revision, planned)
	expected.Name = entry.Name
	return ProofOf(expected)
}

// listed is what a listed revision renders to, or why its images do not render to it.
type listed struct {
	revision *engine.Revision
	err      error
}

// knows remembers what a listed revision renders to.
func (p *Phases) knows(key string, l listed) (*engine.Revision, error) {
	if p.memory.listed == nil {
		p.memory.listed, p.memory.tried = map[string]listed{}, map[*engine.Revision]bool{}
	}
	p.memory.listed[key] = l
	return l.revision, l.err
}

func renderingOf(entry *operatorv1alpha1.ClusterAPIInstallerRevision, err error) error {
	return fmt.Errorf("rendering revision %s: %w", entry.Name, err)
}

// renderListed renders a listed revision, or a part of it, from the profiles of its images.
func (p *Phases) renderListed(entry *operatorv1alpha1.ClusterAPIInstallerRevision, profiles []render.Profile, part bool) (*render.Revision, []engine.Component, error) {
	var components packing
	in := render.Input{
		Profiles: profiles, Substitutions: map[string]string{}, Unmanaged: entry.UnmanagedCustomResourceDefinitions,
		Namespace: p.CAPINamespace, Policy: p.Contents, Take: components.take, Partial: part,
	}
	for _, s := range entry.ManifestSubstitutions {
		if s.Value != nil {
			in.Substitutions[s.Key] = *s.Value
		}
	}
	if err := boundValues(in.Substitutions); err != nil {
		return nil, nil, err
	}
	var order []render.ComponentRef
	for _, c := range entry.Components {
		order = append(order, render.ComponentRef{Image: string(c.Image.Ref), Profile: c.Image.Profile})
	}
	content, err := render.Listed(in, order)
	return content, components, err
}

// notYetError says that something is on its way; it is no failure.
type notYetError struct{ what string }

func (e *notYetError) Error() string { return e.what }

// notOursError says that no inventory proves that this operator has listed a
// revision, or that its images do not render to it: another installer, another
// version of this one or somebody else has listed it. Nothing of it is applied or
// repaired, and it is no failure, because the revision that the inputs ask for
// takes its place.
type notOursError struct{ why string }

func (e *notOursError) Error() string {
	return e.why + "; it is left as it is until a revision of this operator's takes its place"
}

// entryRefs are the images that a listed revision was made of.
func entryRefs(entry *operatorv1alpha1.ClusterAPIInstallerRevision) []images.Ref {
	var refs []images.Ref
	if entry == nil {
		return nil
	}
	for _, c := range entry.Components {
		refs = append(refs, images.Ref(c.Image.Ref))
	}
	return refs
}

// forget drops the renderings of revisions that are no longer listed. While
// there is no list, what is installed is still kept by them.
func (p *Phases) forget(w world) {
	if w.api == nil {
		return
	}
	listed := map[string]bool{}
	for _, entry := range w.entries() {
		listed[string(entry.Name)+" "+entry.ContentID] = true
	}
	for key, known := range p.memory.listed {
		if !listed[key] {
			delete(p.memory.listed, key)
			delete(p.memory.tried, known.revision)
		}
	}
}
