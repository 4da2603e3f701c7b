package clusterapi

import (
	"errors"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/images"
)

// imageStates turns what is known of the wanted images into facts; components
// are those that listed revisions have from them.
func imageStates(wanted []images.Ref, components map[images.Ref]string, state func(images.Ref) images.State) []guards.ImageState {
	var states []guards.ImageState
	for _, ref := range wanted {
		s := state(ref)
		fact := guards.ImageState{
			Name: ref.Short(), Reference: string(ref), Component: components[ref],
			Ready: s.Phase == images.Ready, Fetching: s.Phase == images.Fetching, Since: s.Since, NextTry: s.NextTry,
		}
		if failure, failed := errors.AsType[*images.Error](s.Err); failed {
			fact.Failure, fact.Message = string(failure.Kind), machine.Shorten(failure.Error(), maxCause)
		}
		states = append(states, fact)
	}
	return states
}

// componentsOf are the components of all listed revisions by their images.
func (w world) componentsOf() map[images.Ref]string {
	components := map[images.Ref]string{}
	for _, entry := range w.entries() {
		for _, c := range entry.Components {
			components[images.Ref(c.Image.Ref)] = c.Name
		}
	}
	return components
}
