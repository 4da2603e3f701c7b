package inputs

import (
	"context"
	"time"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/images"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/builtin"
	"github.com/capstan-capi/capstan/phases/release"
)

// tagFor is how long a tag is taken to stand for the same release.
const tagFor = time.Minute

// answer is what registries have said of a release image.
type answer struct {
	reference string
	is        release.Release
	at        time.Time
}

// release is what spec.releaseImage names, asked with the credentials, authorities and mirrors of the install-config.
func (s *Seen) release(ctx context.Context, in *payload.Inputs) (release.Release, error) {
	if known, is := s.known(); is {
		return known, nil
	}
	spec := &s.look.Plane.Spec
	policy := release.Digest
	if spec.ReleaseImagePolicy == v1alpha1.TagPolicy {
		policy = release.Tag
	}
	found, err := s.r.releases.Resolve(ctx, spec.ReleaseImage, policy, access(in))
	if err != nil {
		return found, err
	}
	s.memory.release = answer{reference: spec.ReleaseImage, is: found, at: s.r.now()}
	return found, nil
}

// known is what was said of the image before: for ever where it is named by digest.
func (s *Seen) known() (release.Release, bool) {
	last := &s.memory.release
	if last.reference != s.look.Plane.Spec.ReleaseImage {
		return release.Release{}, false
	}
	return last.is, last.reference == string(last.is.Image) || s.r.now().Before(last.at.Add(tagFor))
}

// Asked is what spec.releaseImage of an installed cluster names, asked with the install-config's access if that is still there.
func (r *Resolver) Asked(ctx context.Context, look phases.Look) (release.Release, error) {
	s := &Seen{r: r, look: look, memory: r.remembered(look), facts: &guards.Facts{}}
	if known, is := s.known(); is {
		return known, nil
	}
	if replicas := look.Plane.Spec.Replicas; replicas != nil {
		s.facts.Object.Replicas = int(*replicas)
	}
	in, _, err := s.documents(ctx)
	if err != nil {
		return release.Release{}, err
	}
	if in == nil {
		in = &payload.Inputs{}
	}
	return s.release(ctx, in)
}

// access is how an install-config says that images are reached.
func access(in *payload.Inputs) images.Access {
	var a images.Access
	if secret := in.Config.PullSecret; secret != "" {
		a.Credentials = []images.Document{{From: "the pull secret of the install-config", Data: []byte(secret)}}
	}
	if bundle := in.Config.AdditionalTrustBundle; bundle != "" {
		a.CAs = []images.Document{{From: "the trust bundle of the install-config", Data: []byte(bundle)}}
	}
	for _, sources := range [][]payload.Mirrors{in.Config.ImageDigestSources, in.Config.ImageContentSources} {
		for _, one := range sources {
			a.Mirrors = append(a.Mirrors, images.Mirrors{Source: one.Source, Mirrors: one.Mirrors})
		}
	}
	return a
}

// cluster is what a payload has of the cluster besides its inputs.
func (s *Seen) cluster(of release.Release) builtin.Cluster {
	c := builtin.Cluster{
		Name: s.look.Cluster.Name, ReleaseImage: string(of.Image), Version: of.Version,
		Endpoint: s.look.Cluster.Spec.ControlPlaneEndpoint.String(), Replicas: s.facts.Object.Replicas,
	}
	if server := s.look.Plane.Spec.MachineConfigServer; server != nil {
		c.MachineConfigServer = server.Host
	}
	return c
}
