package golden

import (
	"errors"
	"fmt"
	"slices"

	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/message"
)

// maxText is how many bytes a message may have.
const maxText = 1024

// slot is a place of a target that names a boot image.
type slot struct {
	present string
	// own says that the image is a release's own by its name, right that it is the wanted one.
	own, right bool
	// tests and edits are of this slot; one in a template has none, since templates are cloned.
	tests, edits []Operation
}

// sight is what was found in a target.
type sight struct {
	wanted string
	slots  []slot
}

// look is one look at one target.
type look struct {
	golden  *Golden
	cluster *Cluster
	target  *Target
	// arch is as the stream spells it; archErr says why it is not known, which matters once an image is looked for.
	arch    string
	archErr error
}

// Judge says what is to be done about a target's boot image. It changes neither of its arguments.
func (g *Golden) Judge(cluster *Cluster, target *Target) Verdict {
	v, err := g.judge(cluster, target)
	var skip *skipError
	switch {
	case errors.As(err, &skip):
		v.Outcome, v.Reason, v.Message, v.Remedy = Skipped, skip.reason, message.Shorten(skip.text, maxText), message.Shorten(skip.remedy, maxText)
	case err != nil:
		v.Outcome, v.Message = Invalid, message.Shorten(err.Error(), maxText)
	}
	return v
}

func (g *Golden) judge(cluster *Cluster, target *Target) (v Verdict, err error) {
	l := &look{golden: g, cluster: cluster, target: target}
	// What cannot be read is told before what is skipped: it stays until somebody mends it.
	var skip *skipError
	if l.arch, l.archErr = cluster.architecture(target); l.archErr != nil && !errors.As(l.archErr, &skip) {
		return v, l.archErr
	}
	seen, err := l.see()
	for _, s := range seen.slots {
		v.Present = append(v.Present, s.present)
	}
	v.Wanted = seen.wanted
	if err != nil {
		return v, err
	}
	if !slices.ContainsFunc(seen.slots, func(s slot) bool { return !s.right }) {
		v.Outcome = AsWanted
		return v, nil
	}
	if err := cluster.foreign(target, seen.slots); err != nil {
		return v, err
	}
	allowing, err := cluster.rollout(target)
	if err != nil {
		return v, err
	}
	v.Outcome = Outdated
	v.Patch = append(Patch{test(pointer("metadata", "uid"), target.UID)}, allowing...)
	if !target.ofMachineAPI() {
		return target.repoint(v)
	}
	for _, s := range seen.slots {
		if !s.right {
			v.Patch = append(append(v.Patch, s.tests...), s.edits...)
		}
	}
	return v, nil
}

// see finds the images of a target, and the wanted one.
func (l *look) see() (sight, error) {
	if !l.target.ofMachineAPI() {
		return l.template()
	}
	see, supported := map[configv1.PlatformType]func(providerSpec) (sight, error){
		configv1.AWSPlatformType:     l.aws,
		configv1.GCPPlatformType:     l.gcp,
		configv1.AzurePlatformType:   l.azure,
		configv1.VSpherePlatformType: l.vsphere,
	}[l.cluster.Platform]
	if !supported {
		return sight{}, &skipError{reason: Unsupported, text: fmt.Sprintf("there are no boot images for Machine API on platform %q", l.cluster.Platform)}
	}
	spec, err := readProviderSpec(l.target.ProviderSpec, l.cluster.Platform)
	if err != nil {
		return sight{}, err
	}
	return see(spec)
}

// noImageHere is why a target for which the golden stream has no image is skipped.
func noImageHere(what string, args ...any) error {
	return &skipError{
		reason: NoImageHere, text: "the golden stream has no " + fmt.Sprintf(what, args...),
		remedy: "name an image by hand; it is looked at again with the next release",
	}
}
