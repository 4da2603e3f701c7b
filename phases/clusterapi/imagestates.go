package clusterapi

import (
	"errors"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/images"
)

// imageStates turns what is known of the wanted images into facts.
func imageStates(wanted []images.Ref, state func(images.Ref) images.State) []guards.ImageState {
	var states []guards.ImageState
	for _, ref := range wanted {
		s := state(ref)
		fact := guards.ImageState{
			Name: ref.Short(), Ready: s.Phase == images.Ready, Fetching: s.Phase == images.Fetching, Since: s.Since, NextTry: s.NextTry,
		}
		if failure, failed := errors.AsType[*images.Error](s.Err); failed {
			fact.Failure = string(failure.Kind)
		}
		states = append(states, fact)
	}
	return states
}
