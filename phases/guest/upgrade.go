package guest

import (
	"cmp"
	"context"
	"strings"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/release"
)

// askedAnnotation is an annotation on the ClusterVersion: spec.releaseImage as it was given and the image by digest that the guest was asked
// for by that, in one write with spec.desiredUpdate. By it we know our own wish in the guest: no one else's is taken off, and a tag stands
// for what it stood for when it was asked for. If it is lost, the wish counts as somebody else's. Whoever can forge it can write the wish.
const askedAnnotation = "capstan.openshift.io/asked-release"

// is says that an image is a release: by its digest, or by its version where no image is told.
func (i image) is(r release.Release) bool {
	if digest := digestOf(i.image); digest != "" {
		return digest == r.Image.Digest()
	}
	return i.version != "" && i.version == r.Version
}

// digestOf is that of a reference, empty for none.
func digestOf(reference string) string {
	_, digest, _ := strings.Cut(reference, "@")
	return digest
}

// seeUpgrade fills in the facts. Nothing is known before the bootstrap is finished and the guest was read, but what the spec names. A registry is asked only where
// the guest has another image than the spec names.
func (s *Seen) seeUpgrade(ctx context.Context) {
	v, given := s.sight.version, s.look.Plane.Spec.ReleaseImage
	if !s.facts.Reached().Finished {
		return
	}
	s.facts.Upgrade.Given = given
	if !s.sight.read {
		return
	}
	if !v.there || v.done.version == "" && v.done.image == "" {
		s.facts.Upgrade = guards.Wish{Known: true, Given: given, Asked: "release " + given, Unasked: "the guest's ClusterVersion does not say what it has"}
		return
	}
	if digest := digestOf(given); digest != "" && digest == digestOf(v.done.image) && digest == digestOf(v.desired.image) {
		s.facts.Upgrade = s.takenOff(digest)
		return
	}
	asked, err := s.askedFor(ctx)
	if err != nil {
		wish := guards.Wish{Known: true, Given: given, Asked: "release " + given, Unasked: err.Error()}
		if digest := digestOf(given); digest != "" && digest == digestOf(v.wanted.image) {
			wish.Unasked = "" // the guest was asked for it, and how far it is nobody knows
		}
		s.facts.Upgrade = wish
		return
	}
	if v.done.is(asked) && v.desired.is(asked) {
		s.facts.Upgrade = s.takenOff(asked.Image.Digest())
		return
	}
	wish := guards.Wish{Known: true, Given: given, Asked: "release " + asked.Version, Steps: s.steps(asked)}
	if err := v.may(asked); err != nil {
		if s.facts.Upgrade = s.takenOff(asked.Image.Digest()); s.takes {
			return
		}
		wish.Refused = err.Error()
	}
	if ours := s.sight.who.IsOurs(); ours.Truth != machine.Yes && !v.wanted.is(asked) && !v.desired.is(asked) {
		wish.Refused = "the guest is not known to be this cluster: " + ours.Reason
	}
	s.asked, s.facts.Upgrade = asked, wish
}

// askedFor is the release that the spec asks for. A tag by which the guest was asked stands for what it stood for then.
func (s *Seen) askedFor(ctx context.Context) (release.Release, error) {
	v, given := s.sight.version, s.look.Plane.Spec.ReleaseImage
	if digestOf(given) == "" && given == v.given && v.isOurs() && v.wanted.version != "" {
		return release.Release{Image: images.Ref(v.wanted.image), Version: v.wanted.version}, nil
	}
	return s.p.releases.Asked(ctx, s.look)
}

// isOurs says that what spec asks for is what this provider has asked for.
func (v clusterVersion) isOurs() bool {
	digest := digestOf(v.asked)
	return digest != "" && digest == digestOf(v.wanted.image)
}

// isLeftover says that spec asks for a release by our wish which is another one than what is wanted, and to which the guest has not begun to
// go: it may take it up at any time.
func (v clusterVersion) isLeftover(digest string) bool {
	asked := digestOf(v.wanted.image)
	return v.isOurs() && asked != digest && asked != digestOf(v.desired.image) && asked != digestOf(v.begun.image) && asked != digestOf(v.done.image)
}

// takenOff is the wish where nothing is asked for but the release of a digest, which the guest has or is not to be asked for: that it is not
// asked for another one by us either.
func (s *Seen) takenOff(digest string) guards.Wish {
	v := s.sight.version
	if s.takes = v.isLeftover(digest) && s.IsOurs(); !s.takes {
		return guards.Wish{Known: true}
	}
	left := "spec.desiredUpdate of ClusterVersion version, by which the guest was asked for release " + cmp.Or(v.wanted.version, v.wanted.image)
	return guards.Wish{
		Known: true, Given: s.look.Plane.Spec.ReleaseImage, Asked: "that the guest is no more asked for release " + cmp.Or(v.wanted.version, v.wanted.image),
		Steps: guards.Tally{Known: true, Wanted: 1, Missing: []string{left}},
	}
}

// may says why a guest must not be asked for a release, nil if it may be, or was. There is no way back from a release that it has only
// begun to go to either.
func (v clusterVersion) may(asked release.Release) error {
	if v.desired.is(asked) {
		return nil
	}
	for _, begun := range []image{v.desired, v.begun} {
		if err := release.NotBack(begun.version, asked.Version); err != nil {
			return err
		}
	}
	if v.wanted.is(asked) {
		return nil
	}
	return release.May(v.done.version, asked.Version, release.Upgradeable{False: v.notUpgradeable, Why: v.why})
}

// steps are the operators that have the release, and the ClusterVersion, which alone tells two images of one version apart.
func (s *Seen) steps(asked release.Release) guards.Tally {
	tally := guards.Tally{Known: true, Wanted: len(s.sight.operators)}
	for _, o := range s.sight.operators {
		if o.has == asked.Version && (o.name != clusterVersionName || s.sight.version.done.is(asked)) {
			tally.Done++
		} else {
			tally.Missing = append(tally.Missing, o.name)
		}
	}
	return tally
}
