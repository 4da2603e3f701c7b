package privatecapi_test

import (
	"fmt"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
	"github.com/capstan-capi/capstan/phases/privatecapi/simulated"
)

// rested are worlds in which a hosted cluster is at rest, by the state that it is in.
var rested = map[machine.State]func(*testing.T) (*play, machine.Key){
	guards.Eligible: waits,
	guards.Private: func(t *testing.T) (*play, machine.Key) {
		p, key := waits(t)
		p.begin(key)
		p.until("moved", 5*time.Minute, p.rests(key, guards.Private))
		return p, key
	},
	guards.Failed: func(t *testing.T) (*play, machine.Key) {
		p, key := waits(t)
		p.Annotate(key, guards.FailedAnnotation, string(guards.ScaleUpTimeout))
		p.until("failed", time.Minute, p.rests(key, guards.Failed))
		return p, key
	},
}

func TestMigration_takes_off_what_is_left_of_a_lock_at_rest(t *testing.T) {
	for state, world := range rested {
		for what, leave := range map[string]func(*play, machine.Key){
			"a finalizer": func(p *play, key machine.Key) { p.Bind(key) },
			"a fence":     func(p *play, key machine.Key) { p.SetFence(key, guards.BothSidesAreShut) },
		} {
			t.Run(fmt.Sprintf("%s in %s", what, state), func(t *testing.T) {
				p, key := world(t)
				was, _, _ := p.Objects(key)
				leave(p, key)
				p.until("it is gone", 2*time.Minute, func() bool {
					return p.State(key) == state && !p.IsBound(key) && p.Fence(key) == guards.NoFence
				})
				is, _, _ := p.Objects(key)
				p.same("objects", was, is)
			})
		}
	}
}

func TestMigration_lets_a_hosted_cluster_go_whose_lock_was_taken_away(t *testing.T) {
	for _, from := range []machine.State{guards.Pausing, guards.Draining, guards.Unlocking} {
		t.Run(string(from), func(t *testing.T) {
			p, key := waits(t)
			p.begin(key)
			p.until(string(from), 5*time.Minute, p.reaches(key, from))
			p.Annotate(key, guards.PausedAnnotation, "true")
			p.Annotate(key, guards.MigrationAnnotation, "")
			p.Annotate(key, guards.CompanionAnnotation, "")
			p.until("at rest", 5*time.Minute, func() bool { return p.State(key) == guards.Eligible || p.State(key) == guards.Private })
			if p.IsBound(key) || p.Fence(key) != guards.NoFence {
				t.Errorf("it is bound: %v, and its fence is %q", p.IsBound(key), p.Fence(key))
			}
			p.Delete(key)
			p.until("gone", time.Minute, func() bool { return p.Annotations(key) == nil })
		})
	}
}

func TestMigration_whose_lock_was_taken_away_comes_to_the_same_end_whichever_write_ends_the_process(t *testing.T) {
	left := func(n int, how simulated.Fault) int {
		p, key := waits(t)
		was := p.picture(key)
		p.begin(key)
		p.until("snapshotting", 5*time.Minute, p.reaches(key, guards.Snapshotting))
		p.Annotate(key, guards.PausedAnnotation, "true")
		p.Annotate(key, guards.MigrationAnnotation, "")
		p.Annotate(key, guards.CompanionAnnotation, "")
		p.FaultAt(n, how)
		p.until(fmt.Sprintf("at rest with write %d %s", n, how), 10*time.Minute, func() bool {
			return p.State(key) == guards.Eligible && !p.IsBound(key) && p.Fence(key) == guards.NoFence
		})
		for range 5 {
			p.round()
		}
		is := p.picture(key)
		p.same("objects", was.objects, is.objects)
		p.same("everything else", was.rest, is.rest)
		if p.untouched(key); t.Failed() {
			t.Fatalf("write %d %s; states %v", n, how, p.visited)
		}
		return p.Wrote()
	}
	writes := left(0, "")
	for _, how := range simulated.Faults() {
		for n := 1; n <= writes; n += how.Every() {
			left(n, how)
		}
	}
}

// What docs/private-capi-troubleshooting.md has people do where a companion was put there that no move has written.
func TestMigration_is_as_before_once_people_have_taken_a_forged_companion_away(t *testing.T) {
	for _, stage := range []guards.Stage{guards.Live, guards.Undoing, guards.Committed} {
		t.Run(string(stage), func(t *testing.T) {
			p, key := waits(t)
			was := p.picture(key)
			companion := guards.Companion{ID: guards.MigrationID("our-installation", "x", guards.ToPrivate), Direction: guards.ToPrivate, Stage: stage}
			p.Annotate(key, guards.CompanionAnnotation, companion.Text())
			p.until("blocked", 10*time.Minute, func() bool {
				return p.State(key) == guards.RollbackBlocked || p.State(key) == guards.CleanupBlocked
			})
			if _, _, private := p.Objects(key); private > 0 {
				t.Errorf("%d private objects", private)
			}
			p.Annotate(key, guards.MigrationAnnotation, "")
			p.Annotate(key, guards.CompanionAnnotation, "")
			p.until("as before", 5*time.Minute, p.rests(key, guards.Eligible))
			for range 5 {
				p.round()
			}
			is := p.picture(key)
			p.same("objects", was.objects, is.objects)
			p.same("everything else", was.rest, is.rest)
			p.same("dependents", was.dependents, is.dependents)
			p.untouched(key)
		})
	}
}

// What docs/private-capi-troubleshooting.md has people do in Ambiguous under a fence.
func TestMigration_is_of_one_side_again_once_people_have_taken_the_other_away_behind_the_fence(t *testing.T) {
	for _, row := range []struct {
		from  machine.State
		keeps phases.Side
		rests machine.State
	}{{guards.CopyingStatus, phases.Standard, guards.Eligible}, {guards.Observing, phases.Private, guards.Private}} {
		t.Run(fmt.Sprintf("%s keeps the %s side", row.from, row.keeps), func(t *testing.T) {
			p, key := waits(t)
			was := p.picture(key)
			p.begin(key)
			p.until(string(row.from), 5*time.Minute, p.reaches(key, row.from))
			p.Annotate(key, guards.PausedAnnotation, "true")
			p.Annotate(key, guards.MigrationAnnotation, "")
			p.Annotate(key, guards.CompanionAnnotation, "")
			p.until("ambiguous", 5*time.Minute, func() bool {
				return p.State(key) == guards.Ambiguous && guards.MarksOf(p.Annotations(key)).Failed == guards.AmbiguousState
			})
			if row.keeps == phases.Private {
				p.Annotate(key, guards.PrivateTypesAnnotation, guards.MarkTrue)
				p.Annotate(key, guards.ScopeAnnotation, "")
			} else if p.TakeAway(key, row.keeps.Other()) == nil {
				t.Error("the fence shuts nobody out")
			}
			p.SetFence(key, guards.Fence(row.keeps))
			if err := p.TakeAway(key, row.keeps.Other()); err != nil {
				t.Fatal(err)
			}
			p.Annotate(key, guards.FailedAnnotation, "")
			p.until("at rest", 5*time.Minute, p.rests(key, row.rests))
			p.until("free", time.Minute, func() bool { return !p.IsBound(key) && p.Fence(key) == guards.NoFence })
			is, _, _ := p.Objects(key)
			p.same("objects", was.objects, is)
			if calls := p.Cloud(); len(calls) > 0 {
				t.Errorf("calls to the cloud: %v", calls)
			}
		})
	}
}
