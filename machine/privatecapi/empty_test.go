package privatecapi_test

import (
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

func TestMigration_of_what_has_no_objects_and_contradicts_itself_gives_it_to_the_new_operator_where_there_is_a_programme(t *testing.T) {
	bind := func(p *play, key machine.Key) { p.Bind(key) }
	shut := func(p *play, key machine.Key) { p.SetFence(key, guards.BothSidesAreShut) }
	both := func(p *play, key machine.Key) {
		p.SetFence(key, guards.StandardIsShut)
		p.Annotate(key, guards.PrivateTypesAnnotation, guards.MarkTrue)
	}
	for what, row := range map[string]struct {
		disabled   bool
		contradict func(*play, machine.Key)
		rests      machine.State
	}{
		"a finalizer":                      {false, bind, guards.Private},
		"a fence":                          {false, shut, guards.Private},
		"a fence, and both marks":          {false, both, guards.Private},
		"a finalizer, without a programme": {true, bind, guards.Eligible},
		"a fence, without a programme":     {true, shut, guards.Eligible},
	} {
		t.Run(what, func(t *testing.T) {
			p := newPlay(t)
			key := p.AddBare("a")
			p.Annotate(key, guards.PausedAnnotation, "true")
			p.until("eligible", time.Minute, p.rests(key, guards.Eligible))
			if row.disabled {
				p.DropProgramme()
			}
			row.contradict(p, key)
			p.until("ambiguous", time.Minute, p.reaches(key, guards.Ambiguous))
			p.until(string(row.rests), 2*time.Minute, p.rests(key, row.rests))
			if m := guards.MarksOf(p.Annotations(key)); m.Private == m.Legacy || p.IsBound(key) || p.Fence(key) != guards.NoFence {
				t.Errorf("marks %v, bound %v, fence %q", p.Annotations(key), p.IsBound(key), p.Fence(key))
			}
		})
	}
}
