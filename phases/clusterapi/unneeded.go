package clusterapi

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/status"
)

// unneeded are images that are known to bring nothing. A reference by digest stands
// for the same content for ever, so what was seen once need not be fetched again.
// It is told in the detail of the ClusterOperator, and read there by the next
// process of the same release and architecture. If that is lost, or an image is
// not among the first that are told, it is fetched again. If another attempt is
// asked for it is fetched again as well, and what is known counts until it is
// there. One that a listed revision has a component from is never taken for
// unneeded, whatever the detail says.
type unneeded map[images.Ref]brings

// brings is what is known of an image that brings nothing: for which platform, for
// all of them if that is empty, and what the annotation that asks for another
// attempt said when it was looked into.
type brings struct{ platform, retry string }

// maxRetry bounds in bytes what is remembered of the annotation that asks for another attempt.
const maxRetry = 64

// asked is what the annotation says, within its bound.
func (w world) asked() string { return machine.Shorten(w.retry, maxRetry) }

// by says that an image brings nothing for a platform.
func (u unneeded) by(platform string, ref images.Ref) bool {
	known, is := u[ref]
	return is && (known.platform == "" || known.platform == platform)
}

// doubted are those of the listed images of which another attempt was asked for
// since they were looked into.
func (u unneeded) doubted(w world) []images.Ref {
	return slices.DeleteFunc(slices.Clone(w.refs), func(ref images.Ref) bool {
		known, is := u[ref]
		return !is || known.retry == w.asked()
	})
}

// recallUnneeded reads what an earlier process has told, once; of acts too, so that they are not recorded anew, and of what is
// retained, which is told until this process has looked.
func (p *Phases) recallUnneeded(ctx context.Context) error {
	if p.memory.unneeded != nil {
		return nil
	}
	operator := &configv1.ClusterOperator{}
	if _, err := read(ctx, p.Client, client.ObjectKey{Name: ClusterOperatorName}, operator); err != nil {
		return err
	}
	p.memory.unneeded = unneeded{}
	detail := storedDetail(status.Extension(operator.Status.Extension.Raw)[status.DetailKey(p.name)])
	p.memory.acts, p.memory.data = detail.Acts, dataIn(detail)
	for _, image := range detail.Images {
		if image.State == notNeeded && detail.ImagesBy == p.imagesBy() {
			p.memory.unneeded[images.Ref(image.Reference)] = brings{image.Platform, image.Retry}
		}
	}
	return nil
}

// imagesBy is who has found that an image brings nothing: another release may find something in it, and of a reference to a
// list of images another architecture has another one.
func (p *Phases) imagesBy() string { return p.Release + " " + runtime.GOARCH }

// learnUnneeded notes which of its images a plan has nothing from, and
// forgets what is not listed any more. A list that is for another release, or that
// cannot be read, or that a pin takes the place of, says of no image that it is not listed.
func (p *Phases) learnUnneeded(w world, plan plan) {
	if w.listRelease != "" || w.refsErr != nil || w.pin.stands() {
		return
	}
	for ref := range p.memory.unneeded {
		if !slices.Contains(w.refs, ref) {
			delete(p.memory.unneeded, ref)
		}
	}
	if plan.revision == nil {
		return
	}
	needed := map[images.Ref]bool{}
	for _, c := range plan.revision.Components {
		needed[images.Ref(c.Image)] = true
	}
	for _, ref := range plan.needed {
		if state := p.Images.State(ref); state.Phase == images.Ready && !needed[ref] {
			found := brings{platform: w.platform, retry: w.asked()}
			if len(state.Image.Profiles) == 0 {
				found.platform = ""
			}
			p.memory.unneeded[ref] = found
		} else if needed[ref] {
			delete(p.memory.unneeded, ref)
		}
	}
}

// neededOf are the listed images without those that are known to bring nothing.
// Those that were looked into anew are among them.
func (p *Phases) neededOf(w world, anew []images.Ref) []images.Ref {
	components := w.componentsOf()
	return slices.DeleteFunc(slices.Clone(w.refs), func(ref images.Ref) bool {
		_, listed := components[ref]
		return !listed && p.memory.unneeded.by(w.platform, ref) && !slices.Contains(anew, ref)
	})
}

// lookedIntoAnew are the doubted images that were fetched again.
func (p *Phases) lookedIntoAnew(w world) []images.Ref {
	return slices.DeleteFunc(p.memory.unneeded.doubted(w), func(ref images.Ref) bool { return p.Images.State(ref).Phase != images.Ready })
}

// toldStates tell of the listed images that are not fetched, and then of those that are wanted: the end of the list may be cut
// off where it is stored, and what is cut off the first is fetched again.
func (p *Phases) toldStates(w world, wanted []images.Ref) []guards.ImageState {
	return append(p.unneededStates(w, wanted), imageStates(wanted, w.componentsOf(), p.Images.State)...)
}

// unneededStates tell of the listed images that are not fetched.
func (p *Phases) unneededStates(w world, wanted []images.Ref) []guards.ImageState {
	var states []guards.ImageState
	for _, ref := range w.refs {
		if !slices.Contains(wanted, ref) {
			known := p.memory.unneeded[ref]
			states = append(states, guards.ImageState{Name: ref.Short(), Reference: string(ref), NotNeeded: true, Platform: known.platform, Retry: known.retry})
		}
	}
	return states
}

// planWarnings say what is wrong with the images of a plan without keeping it from being applied.
func (p *Phases) planWarnings(w world, plan plan) string {
	var texts []string
	for _, text := range []string{leftWarning(w.leftKeys), nowhereWarning(plan.revision)} {
		if text != "" {
			texts = append(texts, text)
		}
	}
	for _, ref := range w.refs {
		if known, is := p.memory.unneeded[ref]; is && known.platform == "" {
			texts = append(texts, fmt.Sprintf("image %s has no folder %s and brings nothing; if it is a provider image, rebuild it with its profiles there", ref.Short(), images.ManifestsFolder))
		}
	}
	if plan.revision != nil && len(plan.revision.Warnings) > 0 {
		text := plan.revision.Warnings[0].String()
		if more := len(plan.revision.Warnings) - 1; more > 0 {
			text += fmt.Sprintf(" (and %d more)", more)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}
