package simulated

import (
	"context"
	"errors"
	"time"

	"github.com/capstan-capi/capstan/phases/images"
)

// Images has the images of releases at hand, unless it is told otherwise.
type Images struct {
	now      func() time.Time
	wanted   map[images.Ref]bool
	profiles map[images.Ref]*images.Image
	// trouble is what keeps images away.
	trouble map[images.Ref]images.State
}

func newImages(now func() time.Time) *Images {
	return &Images{now: now, wanted: map[images.Ref]bool{}, profiles: map[images.Ref]*images.Image{}, trouble: map[images.Ref]images.State{}}
}

// add puts the images of a release into the registry.
func (s *Images) add(release string) {
	for _, name := range imageNames {
		at := ref(release, name)
		s.profiles[at] = &images.Image{Ref: at, Profiles: profilesOf(release, name)}
	}
}

// Fetching keeps the images of a release on their way until they arrive.
func (s *Images) Fetching(release string) {
	for _, name := range imageNames {
		s.trouble[ref(release, name)] = images.State{Phase: images.Fetching, Since: s.now()}
	}
}

// Failing lets one image of a release fail; one that is broken is not tried again by itself.
func (s *Images) Failing(release, image, why string, broken bool) {
	at := ref(release, image)
	state := images.State{Phase: images.Failed, Since: s.now(), NextTry: s.now().Add(time.Minute)}
	kind := images.KindNetwork
	if broken {
		kind, state.NextTry = images.KindContent, time.Time{}
	}
	state.Err = &images.Error{Ref: at, Kind: kind, Err: errors.New(why)}
	s.trouble[at] = state
}

// Arrived ends all trouble with the images of a release.
func (s *Images) Arrived(release string) {
	for _, name := range imageNames {
		delete(s.trouble, ref(release, name))
	}
}

// Start is never called: nothing runs in the background.
func (s *Images) Start(context.Context) error { return nil }

// Want replaces the set of wanted images.
func (s *Images) Want(refs []images.Ref) {
	clear(s.wanted)
	for _, at := range refs {
		s.wanted[at] = true
	}
}

// Recall has nothing to read from a disk.
func (s *Images) Recall([]images.Ref) {}

// State of a wanted image. One that no release has is not found.
func (s *Images) State(at images.Ref) images.State {
	if !s.wanted[at] {
		return images.State{}
	}
	if trouble, is := s.trouble[at]; is {
		return trouble
	}
	if image := s.profiles[at]; image != nil {
		return images.State{Phase: images.Ready, Image: image}
	}
	return images.State{Phase: images.Failed, Err: &images.Error{Ref: at, Kind: images.KindNotFound, Err: errors.New("no release has it")}, NextTry: s.now().Add(time.Minute)}
}

// Retry begins another attempt at all that has failed. What the last one met is told until this one ends.
func (s *Images) Retry() {
	for at, state := range s.trouble {
		if state.Phase == images.Failed {
			state.Phase, state.Since = images.Fetching, s.now()
			s.trouble[at] = state
		}
	}
}

// Warning is empty: there is no disk to fill.
func (s *Images) Warning() string { return "" }
