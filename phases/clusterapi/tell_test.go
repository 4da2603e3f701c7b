package clusterapi

import (
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/images"
)

func TestTell_says_how_every_image_stands_that_is_not_at_hand(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ref := func(name string) images.Ref {
		return images.Ref("quay.io/openshift/" + name + "@sha256:0123456789ab" + strings.Repeat("c", 52))
	}
	network := &images.Error{Kind: images.KindNetwork}
	states := map[images.Ref]images.State{
		ref("ready"):    {Phase: images.Ready},
		ref("fetching"): {Phase: images.Fetching, Since: noon},
		ref("failed"):   {Phase: images.Failed, Err: network, NextTry: noon.Add(time.Minute)},
		ref("again"):    {Phase: images.Fetching, Err: network, NextTry: noon},
		ref("broken"):   {Phase: images.Failed, Err: &images.Error{Kind: images.KindContent}},
		ref("waiting"):  {Phase: images.Waiting},
	}
	state := func(ref images.Ref) images.State { return states[ref] }
	got := imageTexts([]images.Ref{ref("ready"), ref("fetching"), ref("failed"), ref("again"), ref("broken"), ref("waiting")}, state)
	want := "images: 1 of 6 ready, fetching@0123456789ab fetching since 2026-01-01 12:00:00Z, " +
		"failed@0123456789ab failed (Network), next try at 2026-01-01 12:01:00Z, " +
		"again@0123456789ab failed (Network), next try at 2026-01-01 12:00:00Z, " +
		"broken@0123456789ab failed (Content), tried again when an input changes, waiting@0123456789ab waiting"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := imageTexts([]images.Ref{ref("ready")}, state); got != "" {
		t.Errorf("with all images at hand it says %q", got)
	}
}

func TestTell_adds_what_there_is_room_for(t *testing.T) {
	long := strings.Repeat("ö", 600)
	for name, c := range map[string]struct{ message, states, warning, want string }{
		"nothing to add":               {"Installed", "", "", "Installed"},
		"images":                       {"Planning", "images: 0 of 1 ready", "", "Planning; images: 0 of 1 ready"},
		"a warning":                    {"Installed", "", "the disk is full", "Installed; warning: the disk is full"},
		"both":                         {"Planning", "images: 0 of 1 ready", "the disk is full", "Planning; images: 0 of 1 ready; warning: the disk is full"},
		"no message of its own":        {"", "", "the disk is full", "warning: the disk is full"},
		"no room at all":               {strings.Repeat("x", 1023), "images", "the disk is full", strings.Repeat("x", 1023)},
		"a warning rather than images": {"Planning", long, "the disk is full", "Planning; " + strings.Repeat("ö", 492) + "…; warning: the disk is full"},
	} {
		t.Run(name, func(t *testing.T) {
			got := joined(c.message, c.states, c.warning)
			if got != c.want || len(got) > 1024 {
				t.Errorf("got %d bytes: %s\nwant %s", len(got), got, c.want)
			}
		})
	}
}

// full is a source of images whose disk is full.
type full struct{ images.Source }

func (full) State(images.Ref) images.State { return images.State{Phase: images.Ready} }
func (full) Warning() string               { return "the disk is full" }

func TestTell_shows_a_warning_where_people_look_for_planning(t *testing.T) {
	describe := func(machine.Record, guards.Facts) []Condition {
		return []Condition{{Type: "RevisionControllerDegraded"}, {Type: "RevisionControllerProgressing", Message: "Installed"}}
	}
	p := &Phases{Images: full{}}
	got := p.Tell(describe)(machine.Record{}, guards.Facts{})
	if got[0].Message != "" || got[1].Message != "Installed; warning: the disk is full" {
		t.Errorf("got %+v", got)
	}
}
