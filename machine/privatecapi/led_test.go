package privatecapi_test

import (
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// copying is a world in which a hosted cluster is about to be copied, and what the process that leads there works with.
func copying(t *testing.T) (*play, machine.Key, phases.Works) {
	t.Helper()
	p, key := waits(t)
	p.begin(key)
	p.until("copying", 5*time.Minute, p.reaches(key, guards.Copying))
	_, works, err := p.Phases().Observe(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return p, key, works
}

func TestMigration_takes_no_copy_of_a_process_that_has_lost_its_lead(t *testing.T) {
	t.Run("after the move was undone", func(t *testing.T) {
		p, key, older := copying(t)
		p.LoseRecord(key)
		p.restart()
		p.until("undone", 10*time.Minute, p.rests(key, guards.Failed))
		_, _ = phases.CreateCopies.Run(t.Context(), older)
		if _, _, private := p.Objects(key); private > 0 {
			t.Errorf("%d copies are left", private)
		}
	})
	t.Run("after the target has run", func(t *testing.T) {
		p, key, older := copying(t)
		p.restart()
		p.until("observing", 5*time.Minute, p.reaches(key, guards.Observing))
		p.Scale(key, 0)
		p.until("the target has deleted a Machine", time.Minute, func() bool { return p.PrivateObjects(key)["machines a-0"] == "" })
		_, _ = phases.CreateCopies.Run(t.Context(), older)
		if p.PrivateObjects(key)["machines a-0"] != "" {
			t.Error("the Machine is there again")
		}
	})
	t.Run("while the next move is under way", func(t *testing.T) {
		p, key, older := copying(t)
		p.LoseRecord(key)
		p.restart()
		p.until("undone", 10*time.Minute, p.rests(key, guards.Failed))
		p.visited[key] = nil
		p.Annotate(key, guards.FailedAnnotation, "")
		p.until("moving again", 10*time.Minute, p.reaches(key, guards.Draining))
		_, _ = phases.CreateCopies.Run(t.Context(), older)
		if _, _, private := p.Objects(key); private > 0 {
			t.Errorf("%d copies of the move before", private)
		}
		p.until("moved", 10*time.Minute, p.rests(key, guards.Private))
		p.untouched(key)
	})
}

func TestMigration_is_undone_where_the_fence_names_another_move(t *testing.T) {
	p, key := waits(t)
	was := p.picture(key)
	p.begin(key)
	p.until("copying", 5*time.Minute, p.reaches(key, guards.Copying))
	p.SetFence(key, guards.BothSidesAreShut)
	p.until("undone", 10*time.Minute, p.rests(key, guards.Failed))
	p.isBack(key, was, guards.AmbiguousState)
}
