package clusterapi

import (
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
		ref("failed"):   {Phase: images.Failed, Err: &images.Error{Kind: images.KindNetwork}, NextTry: noon},
		ref("waiting"):  {Phase: images.Waiting},
	}
	got := imageStates([]images.Ref{ref("ready"), ref("fetching"), ref("failed"), ref("waiting")},
		func(ref images.Ref) images.State { return states[ref] })
	want := []guards.ImageState{
		{Name: "ready@0123456789ab", Ready: true},
		{Name: "fetching@0123456789ab", Fetching: true, Since: noon},
		{Name: "failed@0123456789ab", Failure: "Network", NextTry: noon},
		{Name: "waiting@0123456789ab"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
