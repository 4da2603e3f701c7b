package clusterapi

import (
	"errors"
	"slices"
	"strings"
	"testing"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/images"
)

func TestImageStates_are_facts_of_every_image_that_is_wanted(t *testing.T) {
	ref := func(name string) images.Ref {
		return images.Ref("quay.io/openshift/" + name + "@sha256:0123456789ab" + strings.Repeat("c", 52))
	}
	states := map[images.Ref]images.State{
		ref("ready"):    {Phase: images.Ready},
		ref("fetching"): {Phase: images.Fetching, Since: noon},
		ref("failed"):   {Phase: images.Failed, Err: &images.Error{Kind: images.KindNetwork, Err: errors.New("no route")}, NextTry: noon},
		ref("waiting"):  {Phase: images.Waiting},
	}
	got := imageStates([]images.Ref{ref("ready"), ref("fetching"), ref("failed"), ref("waiting")},
		map[images.Ref]string{ref("ready"): "core"}, func(ref images.Ref) images.State { return states[ref] })
	want := []guards.ImageState{
		{Name: "ready@0123456789ab", Reference: string(ref("ready")), Component: "core", Ready: true},
		{Name: "fetching@0123456789ab", Reference: string(ref("fetching")), Fetching: true, Since: noon},
		{Name: "failed@0123456789ab", Reference: string(ref("failed")), Failure: "Network", Message: states[ref("failed")].Err.Error(), NextTry: noon},
		{Name: "waiting@0123456789ab", Reference: string(ref("waiting"))},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
