package clusterapi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/images"
)

func TestNews_what_stood_before_is_none(t *testing.T) {
	before := Detail{
		Retained:  []guards.RetainedObject{{Object: "CustomResourceDefinition as", Why: "holds 1 instances", Count: 1}},
		Contested: []guards.Contested{{Object: "ConfigMap a", Field: ".data.x", Managers: []string{"x"}, Times: 5}},
	}
	now := guards.Display{
		Retained:   []guards.RetainedObject{{Object: "CustomResourceDefinition as", Why: "holds 2 instances", Count: 2}, {Object: "Namespace b", Why: "holds 1 objects", Count: 1}},
		Strays:     []string{"ConfigMap s"},
		Collisions: []guards.Collision{{Object: "ConfigMap c", Holder: "x", Why: "exists already"}, {Object: "ConfigMap d", Holder: "x", Why: "exists already"}},
		Refused:    []guards.Refused{{Object: "CustomResourceDefinition bs", Why: "version v1 is dropped"}},
		Contested:  []guards.Contested{{Object: "ConfigMap a", Field: ".data.x", Managers: []string{"x"}, Times: 9}},
	}
	var got []string
	written := storedDetail(detailOf("", now, nil).encode())
	for _, n := range eventsOf(before, written, now) {
		got = append(got, fmt.Sprintf("%v %s: %s", n.Warns, n.Reason, n.Text))
	}
	want := []string{
		"true Collision: ConfigMap c exists already; ConfigMap d exists already",
		"true Refused: the update of CustomResourceDefinition bs is refused: version v1 is dropped",
		"false Retained: Namespace b (holds 1 objects)",
		"true Stray: ConfigMap s",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := eventsOf(Detail{}, written, now); len(got) != 5 {
		t.Errorf("without a stored detail everything is news, but %+v", got)
	}
}

func TestNews_what_the_detail_has_no_room_for_is_none_either(t *testing.T) {
	d := guards.Display{}
	for i := range 300 {
		d.Strays = append(d.Strays, fmt.Sprintf("ConfigMap tenant/copy-%03d", i))
	}
	stored := storedDetail(detailOf("", d, nil).encode())
	if got := eventsOf(Detail{}, stored, d); len(got) != 1 {
		t.Errorf("a new set is told once, got %+v", got)
	}
	if got := eventsOf(stored, storedDetail(detailOf("", d, nil).encode()), d); len(got) != 0 {
		t.Errorf("a set that was told is told again: %+v", got)
	}
}

func TestNews_one_long_text_silences_nothing_and_no_image_is_forgotten(t *testing.T) {
	long := strings.Repeat("\"ü", 7<<10) // 20 KiB, and more in JSON
	collision := guards.Collision{Object: "ConfigMap a", Holder: "x", Why: "exists already"}
	image := guards.ImageState{Reference: "registry.example.com/other@" + digest, NotNeeded: true}
	for name, d := range map[string]guards.Display{
		"what is retained":            {Retained: []guards.RetainedObject{{Object: "CustomResourceDefinition as", Why: long}}},
		"what is refused":             {Refused: []guards.Refused{{Object: "CustomResourceDefinition as", Why: long}}},
		"a field":                     {Contested: []guards.Contested{{Object: "ConfigMap b", Field: long, Managers: []string{long}, By: long}}},
		"managers":                    {Contested: []guards.Contested{{Object: "ConfigMap b", Managers: strings.Split(long, "ü")}}},
		"who holds an object":         {Collisions: []guards.Collision{{Object: "ConfigMap " + long, Holder: long}}},
		"a finding":                   {Findings: []string{long}},
		"a stray":                     {Strays: []string{long}},
		"what is wrong with an image": {ImageStates: []guards.ImageState{{Reference: "registry.example.com/a@" + digest, Message: long}}},
		"a great many of each": func() (d guards.Display) {
			for i := range 100 {
				object := fmt.Sprintf("ConfigMap %d", i)
				d.Retained = append(d.Retained, guards.RetainedObject{Object: object, Why: long})
				d.Refused = append(d.Refused, guards.Refused{Object: object, Why: long})
				d.Contested = append(d.Contested, guards.Contested{Object: object, Field: long})
				d.Findings, d.Strays = append(d.Findings, object+long), append(d.Strays, object+long)
			}
			return d
		}(),
		"waves": {Revisions: []guards.Revision{{Name: "r", Waves: slices.Repeat([]guards.Wave{{Component: "core", Name: "workloads"}}, 1000)}}},
	} {
		t.Run(name, func(t *testing.T) {
			d.Collisions = append([]guards.Collision{collision}, d.Collisions...)
			d.ImageStates = append(d.ImageStates, image)
			p := &Phases{name: "clusterapi"}
			detail := detailOf("Applying x", d, nil)
			detail.ImagesBy = p.imagesBy()
			raw := detail.encode()
			written := storedDetail(raw)
			if len(raw) > maxDetail {
				t.Errorf("%d bytes are written", len(raw))
			}
			if news := eventsOf(Detail{}, written, d); len(news) == 0 || news[0].Reason != "Collision" || !strings.HasPrefix(news[0].Text, "ConfigMap a exists already") {
				t.Errorf("the collision is not told: %+v", news)
			}
			if news := eventsOf(written, written, d); len(news) != 0 {
				t.Errorf("what stands is told again: %+v", news)
			}
			if recallingBy(t, p, detail); !p.memory.unneeded.by("AWS", images.Ref(image.Reference)) {
				t.Error("a new process does not know that the image is not needed")
			}
		})
	}
}
