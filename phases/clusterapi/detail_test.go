package clusterapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
)

func TestDetail_stays_within_its_bounds_and_keeps_the_beginning(t *testing.T) {
	d := Detail{Waits: strings.Repeat("w", machine.MaxMessage)}
	for i := range 1000 {
		d.Strays = append(d.Strays, fmt.Sprintf("ConfigMap %d", i))
		d.Collisions = append(d.Collisions, guards.Collision{Object: fmt.Sprintf("ConfigMap %d %s", i, strings.Repeat("x", 300)), Holder: "x"})
	}
	raw, err := d.encode()
	if err != nil || len(raw) > maxDetail {
		t.Fatalf("%d bytes (%v)", len(raw), err)
	}
	var back Detail
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Collisions) != 16 || !strings.HasPrefix(back.Collisions[0].Object, "ConfigMap 0 ") || back.Waits != d.Waits {
		t.Errorf("got %d collisions, the first of %+v", len(back.Collisions), back.Collisions[:1])
	}
	d.Moves = []machine.Leave{{Event: "E", Why: strings.Repeat("y", maxDetail)}}
	if raw, err = d.encode(); err != nil || len(raw) > maxDetail || !strings.Contains(string(raw), "www") {
		t.Errorf("%d bytes (%v)", len(raw), err)
	}
}

func TestDetail_is_what_the_commands_read(t *testing.T) {
	s := &Store{Line: func(machine.Record, guards.Facts) string { return "Applying x" }}
	raw, err := s.detailOf(machine.Record{}, guards.Facts{
		Revisions: []guards.Revision{{Name: "r", Number: 2, ContentID: "c", Current: true, Waves: []guards.Wave{{Number: 1, Name: "crds", Component: "core", Done: 1, Total: 2}}}},
		Retained:  []guards.Retained{{Object: "o", Why: "w", Count: 3}},
		Strays:    []string{"s"},
		Applied: guards.Applied{
			Collisions: []guards.Collision{{Object: "o", Holder: "h", Why: "w"}}, Refused: []guards.Refused{{Object: "o", Why: "w"}},
			Contested: []guards.Contested{{Object: "o", Field: "f", Managers: []string{"m"}, Times: 7}},
		},
		ImageStates: []guards.ImageState{{Reference: "r", Component: "core", Failure: "Network", Fetching: true, Message: "no route"}, {Reference: "q", Ready: true}},
	}, []machine.Leave{{Event: "E", To: "T", Answer: machine.No, Why: "y"}}).encode()
	want := `{"waits":"Applying x","revisions":[{"name":"r","number":2,"contentID":"c","current":true,"waves":[{"number":1,"name":"crds","component":"core","done":1,"total":2}]}],` +
		`"retained":[{"object":"o","why":"w","count":3}],"collisions":[{"object":"o","holder":"h"}],"refused":[{"object":"o","why":"w"}],` +
		`"contested":[{"object":"o","field":"f","managers":["m"],"times":7}],"strays":["s"],` +
		`"images":[{"component":"core","reference":"r","state":"Failed","message":"no route"},{"reference":"q","state":"Ready"}],` +
		`"moves":[{"event":"E","to":"T","answer":"No","why":"y"}]}`
	if err != nil || string(raw) != want {
		t.Errorf("got  %s (%v)\nwant %s", raw, err, want)
	}
}

func TestStillStanding_what_was_in_the_way_stays_told_until_it_was_tried(t *testing.T) {
	collision := guards.Collision{Object: "ConfigMap a/b", Holder: "x"}
	raw, err := Detail{Collisions: []guards.Collision{collision}}.encode()
	if err != nil {
		t.Fatal(err)
	}
	operator := &configv1.ClusterOperator{}
	operator.Status.Extension.Raw = fmt.Appendf(nil, `{"clusterapiDetail":%s}`, raw)
	for name, row := range map[string]struct {
		facts guards.Facts
		want  int
	}{
		"after a start":         {guards.Facts{LatestNumber: 2}, 1},
		"tried":                 {guards.Facts{LatestNumber: 2, Attempted: true}, 0},
		"nothing listed to try": {guards.Facts{}, 0},
	} {
		if got := stillStanding(operator, row.facts).Applied.Collisions; len(got) != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
