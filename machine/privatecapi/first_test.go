package privatecapi_test

import (
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
)

// The steps of docs/private-capi-install.md: enabled paused, all paused by themselves, one let go, then the programme.
func TestMigration_that_is_enabled_paused_moves_nothing_and_then_the_one_that_is_let_go(t *testing.T) {
	p := newPlay(t)
	p.PauseProgramme(true)
	oldest, spare := p.AddHosted("c", 1), p.AddHosted("b", 1)
	p.until("marked", time.Minute, func() bool { return p.rests(oldest, guards.Eligible)() && p.rests(spare, guards.Eligible)() })
	p.Annotate(oldest, guards.PausedAnnotation, "true")
	p.lasts(20 * time.Second)
	if p.reaches(oldest, guards.Checking)() || p.reaches(spare, guards.Checking)() {
		t.Errorf("one has begun to move while the programme is paused: %v", p.visited)
	}
	p.PauseProgramme(false)
	p.until("moved", 5*time.Minute, p.rests(spare, guards.Private))
	p.lasts(20 * time.Second)
	if p.reaches(oldest, guards.Checking)() || p.State(oldest) != guards.Eligible {
		t.Errorf("%s is %s, and nobody has let it go: %v", oldest, p.State(oldest), p.visited[oldest])
	}
}
