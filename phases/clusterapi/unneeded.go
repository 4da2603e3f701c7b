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
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/status"
)

// unneeded are images that are known to bring nothing, each with the platform for
// which that is so; for all of them if it is empty. A reference by digest stands
// for the same content for ever, so what was seen once need not be fetched again.
// It is told in the detail of the ClusterOperator, and read there by the next
// process of the same release and architecture. If that is lost, or an image is
// not among the first that are told, or another attempt is asked for, it is
// fetched again. One that a listed revision has a component from is never taken
// for unneeded, whatever the detail says.
type unneeded map[images.Ref]string

// by says that an image brings nothing for a platform.
func (u unneeded) by(platform string, ref images.Ref) bool {
	of, known := u[ref]
	return known && (of == "" || of == platform)
}

// recallUnneeded reads what an earlier process has told, once.
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
	for _, image := range detail.Images {
		if image.State == notNeeded && detail.ImagesBy == p.imagesBy() {
			p.memory.unneeded[images.Ref(image.Reference)] = image.Platform
		}
	}
	return nil
}

// imagesBy is who has found that an image brings nothing: another release may find something in it, and of a reference to a
// list of images another architecture has another one.
func (p *Phases) imagesBy() string { return p.Release + " " + runtime.GOARCH }

// learnUnneeded notes which of the images at hand a plan has nothing from, and
// forgets what is not listed any more.
func (p *Phases) learnUnneeded(w world, plan plan) {
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
	for _, ref := range w.refs {
		if state := p.Images.State(ref); state.Phase == images.Ready && !needed[ref] {
			p.memory.unneeded[ref] = w.platform
			if len(state.Image.Profiles) == 0 {
				p.memory.unneeded[ref] = ""
			}
		}
	}
}

// neededOf are the listed images without those that are known to bring nothing.
func (p *Phases) neededOf(w world) []images.Ref {
	components := w.componentsOf()
	return slices.DeleteFunc(slices.Clone(w.refs), func(ref images.Ref) bool {
		_, brings := components[ref]
		return !brings && p.memory.unneeded.by(w.platform, ref)
	})
}

// unneededStates tell of the listed images that are not fetched.
func (p *Phases) unneededStates(w world, wanted []images.Ref) []guards.ImageState {
	var states []guards.ImageState
	for _, ref := range w.refs {
		if !slices.Contains(wanted, ref) {
			states = append(states, guards.ImageState{Name: ref.Short(), Reference: string(ref), NotNeeded: true, Platform: p.memory.unneeded[ref]})
		}
	}
	return states
}

// planWarnings say what is wrong with the images of a plan without keeping it from being applied.
func (p *Phases) planWarnings(w world, plan plan) string {
	var texts []string
	for _, ref := range w.refs {
		if platform, known := p.memory.unneeded[ref]; known && platform == "" {
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
