package privatecapi_test

import (
	"slices"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// The steps of docs/private-capi-install.md: enabled paused, all paused by themselves, one let go, then the programme.
func TestMigration_that_is_enabled_paused_moves_nothing_and_then_the_one_that_is_let_go(t *testing.T) {
	p := newPlay(t)
	p.PauseProgramme(true)
	oldest, spare, another := p.AddHosted("c", 1), p.AddHosted("b", 1), p.AddHosted("a", 1)
	all, others := []machine.Key{oldest, spare, another}, []machine.Key{oldest, another}
	p.until("marked", time.Minute, func() bool {
		return !slices.ContainsFunc(all, func(key machine.Key) bool { return !p.rests(key, guards.Eligible)() })
	})
	p.lasts(time.Minute)
	for _, key := range all {
		p.Annotate(key, guards.PausedAnnotation, "true")
	}
	p.begin(spare)
	p.lasts(time.Minute)
	for _, key := range all {
		if p.reaches(key, guards.Checking)() {
			t.Errorf("%s has begun to move while the programme is paused: %v", key, p.visited[key])
		}
	}
	p.PauseProgramme(false)
	p.until("moved", 5*time.Minute, p.rests(spare, guards.Private))
	p.lasts(5 * time.Minute)
	for _, key := range others {
		if p.reaches(key, guards.Checking)() || p.State(key) != guards.Eligible {
			t.Errorf("%s is %s, and nobody has let it go: %v", key, p.State(key), p.visited[key])
		}
	}
	p.begin(oldest)
	p.until("the next one moved", 5*time.Minute, p.rests(oldest, guards.Private))
	if p.reaches(another, guards.Checking)() {
		t.Errorf("%s has begun to move: %v", another, p.visited[another])
	}
}
