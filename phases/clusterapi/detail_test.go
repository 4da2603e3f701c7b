package clusterapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/engine"
)

func TestDetail_stays_within_its_bounds_and_keeps_the_beginning(t *testing.T) {
	d := Detail{Waits: strings.Repeat("w", machine.MaxMessage)}
	for i := range 1000 {
		d.Strays = append(d.Strays, fmt.Sprintf("ConfigMap %d", i))
		d.Collisions = append(d.Collisions, guards.Collision{Object: fmt.Sprintf("ConfigMap %d %s", i, strings.Repeat("x", 300)), Holder: "x"})
	}
	d.StrayCount = len(d.Strays) + 7
	raw := d.encode()
	if len(raw) > maxDetail {
		t.Fatalf("%d bytes", len(raw))
	}
	var back Detail
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Collisions) != 32 || len(back.Strays) != maxListed || back.StrayCount != 1007 || !strings.HasPrefix(back.Collisions[0].Object, "ConfigMap 0 ") || back.Waits != d.Waits {
		t.Errorf("got %d strays and %d collisions, the first of %+v", len(back.Strays), len(back.Collisions), back.Collisions[:1])
	}
	d.Moves = []machine.Candidate{{Event: "E", Why: strings.Repeat("y", maxDetail)}}
	if raw = d.encode(); len(raw) > maxDetail || !strings.Contains(string(raw), "www") {
		t.Errorf("%d bytes", len(raw))
	}
}

func TestDetail_has_room_for_all_else_however_long_the_names_of_strays_are(t *testing.T) {
	d := Detail{}
	for i := range 100 {
		d.Strays = append(d.Strays, fmt.Sprintf("ConfigMap openshift-cluster-api/%03d-%s (marked by revision 1)", i, strings.Repeat("x", 249)))
		d.Retained = append(d.Retained, guards.RetainedObject{Object: fmt.Sprintf("Namespace kept-%d", i), Why: strings.Repeat("y", 60)})
	}
	back := storedDetail(d.encode())
	if len(back.Retained) != 64 || len(back.Strays) != maxStrays/len(d.Strays[0]) || back.Strays[0] != d.Strays[0] {
		t.Errorf("there is room for %d retained objects and %d strays", len(back.Retained), len(back.Strays))
	}
}

func TestDetail_leaves_out_messages_of_images_before_those_that_are_not_needed(t *testing.T) {
	d := Detail{}
	for i := range maxListed {
		image := ImageDetail{Reference: fmt.Sprintf("registry/image-%02d@sha256:%064d", i, i), State: notNeeded, Platform: "AWS"}
		if i >= maxListed/2 {
			image.State, image.Message = "Failed", strings.Repeat("m", maxText)
		}
		d.Images = append(d.Images, image)
	}
	back := storedDetail(d.encode())
	if len(back.Images) != maxListed || back.Images[0] != d.Images[0] || back.Images[maxListed-1].Message != "" {
		t.Errorf("%d of %d images are told", len(back.Images), maxListed)
	}
}

func TestShort_counts_bytes_as_they_are_written(t *testing.T) {
	for _, text := range []string{strings.Repeat("<", maxText), strings.Repeat("\"", maxText), strings.Repeat("ä&", maxText), strings.Repeat("x", maxText)} {
		raw, _ := json.Marshal(short(text))
		if len(raw) > maxText+2 || len(raw) < maxText-12 || short(short(text)) != short(text) {
			t.Errorf("%.5s: %d bytes", text, len(raw))
		}
	}
}

func TestDetail_is_what_the_commands_read(t *testing.T) {
	raw := detailOf("Applying x", guards.Display{
		Revisions: []guards.Revision{{Name: "r", Number: 2, ContentID: "c", Current: true, Waves: []guards.Wave{{Number: 1, Name: "crds", Component: "core", Done: 1, Total: 2}}}},
		Retained:  []guards.RetainedObject{{Object: "o", Why: "w", Count: 3}},
		Strays:    []string{"s"}, StraysElsewhere: []guards.StrayCount{{Kind: "k", Count: 2}}, MoreStrays: 5,
		Collisions: []guards.Collision{{Object: "o", Holder: "h", Why: "w"}}, Refused: []guards.Refused{{Object: "o", Why: "w"}},
		Contested:   []guards.Contested{{Object: "o", Field: "f", Managers: []string{"m"}, By: "field manager m", Times: 7}},
		Findings:    []string{"t"},
		ImageStates: []guards.ImageState{{Reference: "r", Component: "core", Failure: "Network", Fetching: true, Message: "no route"}, {Reference: "q", Ready: true}},
	}, []machine.Candidate{{Event: "E", To: "T", Answer: machine.No, Why: "y"}}).encode()
	want := `{"waits":"Applying x","revisions":[{"name":"r","number":2,"contentID":"c","current":true,"waves":[{"number":1,"name":"crds","component":"core","done":1,"total":2}]}],` +
		`"retained":[{"object":"o","why":"w","count":3}],"collisions":[{"object":"o","holder":"h"}],"refused":[{"object":"o","why":"w"}],` +
		`"contested":[{"object":"o","field":"f","managers":["m"],"by":"field manager m","times":7}],"findings":["t"],"strays":["s"],"straysElsewhere":[{"kind":"k","count":2}],"strayCount":6,` +
		`"images":[{"component":"core","reference":"r","state":"Failed","message":"no route"},{"reference":"q","state":"Ready"}],` +
		`"moves":[{"event":"E","to":"T","answer":"No","why":"y"}]}`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
}

func TestStillStanding_what_was_in_the_way_stays_told_until_it_was_tried(t *testing.T) {
	key := func(name string) engine.Key {
		return engine.Key{Version: "v1", Kind: "ConfigMap", Namespace: "a", Name: name}
	}
	collision := func(name string) guards.Collision { return guards.Collision{Object: key(name).String(), Holder: "x"} }
	before := Detail{Collisions: []guards.Collision{collision("kept"), collision("coming")}}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(key("kept").GVK())
	object.SetNamespace("a")
	object.SetName("kept")
	current := &engine.Revision{Components: []engine.Component{{Objects: []*unstructured.Unstructured{object}}}}
	stands := func(names ...string) guards.Display {
		d := guards.Display{DesiredName: "r"}
		for _, name := range names {
			d.Collisions = append(d.Collisions, collision(name))
		}
		return d
	}
	for name, row := range map[string]struct {
		shown guards.Display
		tried map[*engine.Revision]bool
		want  []string
	}{
		"after a start":                               {stands(), nil, []string{"kept", "coming"}},
		"the desired revision was tried":              {guards.Display{DesiredName: "r", Attempted: true}, nil, nil},
		"nothing listed to try":                       {guards.Display{}, nil, nil},
		"only the current one was tried, and is free": {stands(), map[*engine.Revision]bool{current: true}, []string{"coming"}},
		"only the current one was tried, and is not":  {stands("kept"), map[*engine.Revision]bool{current: true}, []string{"kept", "coming"}},
		"something new":                               {stands("other"), nil, []string{"other", "kept", "coming"}},
	} {
		p := &Phases{memory: memory{tried: row.tried}}
		var want []guards.Collision
		for _, name := range row.want {
			want = append(want, collision(name))
		}
		if got := p.stillStanding(before, row.shown).Collisions; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestStanding_of_two_revisions_is_told_once_for_each_object(t *testing.T) {
	report := func(version string, contested ...string) *engine.Report {
		wave := &engine.Wave{}
		for _, name := range contested {
			wave.Objects = append(wave.Objects, &engine.Object{
				Key: engine.Key{Version: version, Kind: "Thing", Name: name}, Conflict: &engine.Conflict{Field: ".spec in " + version},
			})
		}
		return &engine.Report{Waves: []*engine.Wave{wave}}
	}
	var told []string
	for _, c := range contested(report("v2", "both"), report("v1", "both", "current")) {
		told = append(told, c.Object+" "+c.Field)
	}
	if want := []string{"Thing both .spec in v2", "Thing current .spec in v1"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
