package privatecapi_test

import (
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// clusters/a-b and clusters-a/b have the control plane in one namespace.

func TestMigration_of_another_in_the_same_namespace_leaves_the_fence_of_the_one_under_way(t *testing.T) {
	for _, from := range []machine.State{guards.Copying, guards.RemovingSource} {
		t.Run(string(from), func(t *testing.T) {
			p := newPlay(t)
			key := p.AddHosted("a-b", 1)
			p.until(string(from), 5*time.Minute, p.reaches(key, from))
			was := p.Fence(key)
			other := p.AddNamed("clusters-a", "b", nil)
			for range 6 {
				_, _ = p.machine.Step(t.Context(), other)
			}
			if is := p.Fence(key); is != was || was == guards.NoFence {
				t.Errorf("the fence was %q and is %q", was, is)
			}
		})
	}
}

func TestMigration_writes_nothing_to_a_namespace_for_the_companion_of_another(t *testing.T) {
	for _, stage := range []guards.Stage{guards.Moving, guards.Live, guards.Undoing, guards.Undone, guards.Committed} {
		t.Run(string(stage), func(t *testing.T) {
			p := newPlay(t)
			key := p.AddHosted("a-b", 1)
			p.Annotate(key, guards.PausedAnnotation, "true")
			p.until("eligible", time.Minute, p.rests(key, guards.Eligible))
			objects, _, _ := p.Objects(key)
			rest := p.Rest(key)
			companion := guards.Companion{ID: guards.MigrationID("our-installation", "x", guards.ToPrivate), Direction: guards.ToPrivate, Stage: stage}
			other := p.AddNamed("clusters-a", "b", map[string]any{guards.CompanionAnnotation: companion.Text()})
			for range 30 {
				_, _ = p.machine.Step(t.Context(), other)
			}
			is, _, _ := p.Objects(key)
			p.same("objects", objects, is)
			p.same("everything else", rest, p.Rest(key))
		})
	}
}

func TestMigration_of_two_in_one_namespace_is_refused(t *testing.T) {
	p, key := waits(t)
	other := p.AddNamed("clusters", "b.c", map[string]any{guards.PausedAnnotation: "true"})
	same := p.AddNamed("clusters", "b-c", nil)
	p.until("classified", time.Minute, func() bool { return p.State(other) != guards.Classifying && p.State(same) != "" })
	for range 60 {
		p.round()
	}
	if len(p.Locked()) > 0 || p.State(key) != guards.Eligible {
		t.Errorf("locked %v; states %v", p.Locked(), p.visited)
	}
}
