package clusterapi

import (
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

func TestImageTexts_say_how_every_image_stands_that_is_not_at_hand(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	got := imageTexts([]guards.ImageState{
		{Name: "ready", Ready: true},
		{Name: "fetching", Fetching: true, Since: noon},
		{Name: "failed", Failure: "Network", NextTry: noon.Add(time.Minute)},
		{Name: "again", Fetching: true, Failure: "Network", NextTry: noon},
		{Name: "broken", Failure: "Content"},
		{Name: "waiting"},
		{Name: "of another platform", NotNeeded: true},
	})
	want := "images: 1 of 6 ready, fetching fetching since 2026-01-01 12:00:00Z, " +
		"failed failed (Network), next try at 2026-01-01 12:01:00Z, " +
		"again failed (Network), next try at 2026-01-01 12:00:00Z, " +
		"broken failed (Content), pulled again when another attempt is asked for, waiting waiting"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := imageTexts([]guards.ImageState{{Name: "ready", Ready: true}}); got != "" {
		t.Errorf("with all images at hand it says %q", got)
	}
}

func TestWithNotes_adds_what_there_is_room_for(t *testing.T) {
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
			got := withNotes(c.message, "", c.states, c.warning)
			if got != c.want || len(got) > machine.MaxMessage {
				t.Errorf("got %d bytes: %s\nwant %s", len(got), got, c.want)
			}
		})
	}
}

func TestConditions_show_a_warning_where_people_look_for_planning(t *testing.T) {
	got := Conditions(phases.Snapshot{
		Record: machine.Record{State: Installed}, Seen: &phases.Pass{Display: guards.Display{ImageWarning: "the disk is full"}},
	})[0]
	if got.Type != "RevisionControllerProgressing" || !strings.HasSuffix(got.Message, "; warning: the disk is full") {
		t.Errorf("got %+v", got)
	}
}
