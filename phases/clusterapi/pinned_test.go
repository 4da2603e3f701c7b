package clusterapi

import (
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/images"
)

func TestAskPin_that_was_taken_back_does_not_begin_again_by_its_text(t *testing.T) {
	text := anAct("", "revision: 1", "list: 0123456789abcdef")
	for name, without := range map[string]func(*Pass){
		"taken back":               func(p *Pass) { delete(p.world.api.Annotations, acts.PinAct) },
		"another one in its place": func(p *Pass) { p.world.api.Annotations[acts.PinAct] = anAct(anHourOn, "revision: 9") },
		"none that can be read":    func(p *Pass) { p.world.api.Annotations[acts.PinAct] = "true" },
		"ClusterAPI is gone":       func(p *Pass) { p.world.api = nil },
	} {
		p, e, _ := pinning(t, atNoon, text)
		look := func(at time.Time) []guards.Act {
			p.Now = func() time.Time { return at }
			p.world.pin, p.world.refs = nil, []images.Ref{ref("two")}
			return p.readActs(t.Context())
		}
		if look(atNoon); !p.world.pin.stands() {
			t.Fatalf("%s: it is not taken up", name)
		}
		api := p.world.api
		without(p)
		if look(atNoon.Add(time.Minute)); p.world.pin.stands() {
			t.Errorf("%s: it stands without its text", name)
		}
		e.refused = map[string]string{"as.b": "would drop v2"}
		p.world.api = api
		api.Annotations[acts.PinAct] = text
		for _, at := range []time.Duration{2 * time.Minute, 48 * time.Hour} {
			if told := look(atNoon.Add(at)); p.world.pin.stands() || !told[0].Ended {
				t.Errorf("%s: %s later it stands is %v, told is %v", name, at, p.world.pin.stands(), told)
			}
		}
	}
}
