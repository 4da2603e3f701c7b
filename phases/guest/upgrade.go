package guest

import (
	"context"
	"strings"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/release"
)

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

// seeUpgrade fills in the facts. Nothing is known before the bootstrap is finished and the guest was read. A registry is asked only where
// the guest has another image than the spec names.
func (s *Seen) seeUpgrade(ctx context.Context) {
	v, given := s.sight.version, s.look.Plane.Spec.ReleaseImage
	if !s.facts.Reached().Finished || !s.sight.read {
		return
	}
	if !v.there || v.done.version == "" && v.done.image == "" {
		s.facts.Upgrade = guards.Wish{Known: true, Asked: "release " + given, Unasked: "the guest's ClusterVersion does not say what it has"}
		return
	}
	if digest := digestOf(given); digest != "" && digest == digestOf(v.done.image) && digest == digestOf(v.desired.image) {
		s.facts.Upgrade = guards.Wish{Known: true}
		return
	}
	asked, err := s.p.releases.Asked(ctx, s.look)
	if err != nil {
		wish := guards.Wish{Known: true, Asked: "release " + given, Unasked: err.Error()}
		if digest := digestOf(given); digest != "" && digest == digestOf(v.wanted.image) {
			wish.Unasked = "" // the guest was asked for it, and how far it is nobody knows
		}
		s.facts.Upgrade = wish
		return
	}
	if v.done.is(asked) && v.desired.is(asked) {
		s.facts.Upgrade = guards.Wish{Known: true}
		return
	}
	s.asked = asked
	wish := guards.Wish{Known: true, Asked: "release " + asked.Version, Steps: s.steps(asked)}
	if err := v.may(asked); err != nil {
		wish.Refused = err.Error()
	}
	s.facts.Upgrade = wish
}

// may says why a guest must not be asked for a release, nil if it may be, or was.
func (v clusterVersion) may(asked release.Release) error {
	if v.wanted.is(asked) || v.desired.is(asked) {
		return nil
	}
	return release.May(v.done.version, asked.Version, release.Upgradeable{False: v.notUpgradeable, Why: v.why})
}

// steps are the operators that have the release, and the ClusterVersion.
func (s *Seen) steps(asked release.Release) guards.Tally {
	tally := guards.Tally{Known: true, Wanted: len(s.sight.operators)}
	for _, o := range s.sight.operators {
		if o.has == asked.Version {
			tally.Done++
		} else {
			tally.Missing = append(tally.Missing, o.name)
		}
	}
	return tally
}
