package clusterapi

import (
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/render"
)

// partial is the part of the current revision that was rendered last, and of which
// images. Lost, it is rendered again.
type partial struct {
	of       string
	revision *engine.Revision
}

// atHand are the components of a listed revision whose images are at hand while
// those of others are not; nil if that is none, or all. A part cannot be compared
// with the content that is listed, so it is taken only of a revision that this
// version of the operator has listed, as an inventory proves. It is good for being kept, and for nothing else. What the revision requires of definitions
// is not in it: that depends on all images, and what is required stays in force as it is.
func (p *Phases) atHand(entry *operatorv1alpha1.ClusterAPIInstallerRevision, proven proofs) *engine.Revision {
	if !proven.prove(entry) || string(entry.Name) != render.Name(p.Release, entry.ContentID, entry.Revision) {
		return nil
	}
	part, of := *entry.DeepCopy(), string(entry.Name)
	part.Components = nil
	for _, c := range entry.Components {
		if p.Images.State(images.Ref(c.Image.Ref)).Phase == images.Ready {
			part.Components = append(part.Components, c)
			of += " " + string(c.Image.Ref) + " " + c.Image.Profile
		}
	}
	if len(part.Components) == 0 || len(part.Components) == len(entry.Components) {
		return nil
	}
	if p.memory.partial.of != of {
		p.memory.partial = partial{of: of}
		profiles, _ := p.profiles(entryRefs(&part))
		if content, components, err := p.renderListed(&part, profiles, true); err == nil {
			p.memory.partial.revision = &engine.Revision{
				Name: string(entry.Name), Number: entry.Revision, ContentID: entry.ContentID, Unmanaged: content.Unmanaged,
				Components: components, Partial: true,
			}
		}
	}
	return p.memory.partial.revision
}
