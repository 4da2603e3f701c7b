package privatecapi_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/privatecapi/simulated"
)

// leaves runs until a state is left that cannot see all, and says by which event and to where. Deadlines are far apart: time goes by in
// bigger steps there.
func (p *play) leaves(state machine.State) (moved machine.Transition) {
	p.t.Helper()
	p.each = func(_ machine.Key, outcome machine.Outcome) {
		if outcome.Moved != nil && outcome.Moved.From == state && moved.To == "" {
			moved = *outcome.Moved
		}
	}
	defer func() { p.each = nil }()
	p.until("out of "+string(state), 40*time.Minute, func() bool {
		p.Pass(5 * time.Second)
		return moved.To != ""
	})
	return moved
}

func TestMigration_judges_its_limits_in_every_state_while_one_kind_cannot_be_listed(t *testing.T) {
	for _, state := range slices.Concat(forward, back) {
		if state == guards.Checking {
			continue // nothing is locked yet
		}
		for name, err := range simulated.Unlistable() {
			t.Run(string(state)+", where the list "+name, func(t *testing.T) {
				t.Parallel()
				p, key := waits(t)
				was := p.picture(key)
				p.begin(key)
				if slices.Contains(back, state) {
					p.until("observing", 5*time.Minute, p.reaches(key, guards.Observing))
					p.LoseRecord(key)
					p.restart()
				}
				p.until(string(state), 20*time.Minute, p.reaches(key, state))
				p.Unlist("machines", err)
				left := p.leaves(state)
				if left.Event != guards.ProgressStalled && left.Event != guards.FailureEstablished {
					t.Errorf("%s has led to %s", left.Event, left.To)
				}
				p.until("blocked, or free", 2*time.Hour, func() bool {
					p.Pass(5 * time.Second)
					return strings.HasSuffix(string(p.State(key)), "Blocked") || len(p.Locked()) == 0
				})
				p.Unlist("machines", nil)
				p.until("free", time.Hour, p.unblocked(key, func() bool { return len(p.Locked()) == 0 }))
				if p.ends(key) == moved {
					p.isMoved(key, was)
					return
				}
				p.isBack(key, was, guards.Reason(p.Annotations(key)[guards.FailedAnnotation]))
			})
		}
	}
}

// undoable are the states on the way whose move is undone where something goes wrong.
var undoable = forward[slices.Index(forward, guards.Pausing) : slices.Index(forward, guards.Observing)+1]

func TestMigration_is_undone_for_a_deletion_while_one_kind_cannot_be_listed(t *testing.T) {
	for _, state := range undoable {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			p, key := waits(t)
			p.begin(key)
			p.until(string(state), 20*time.Minute, p.reaches(key, state))
			p.Unlist("machines", simulated.Unlistable()["meets errors inside"])
			p.Delete(key)
			left := machine.Transition{}
			p.each = func(_ machine.Key, outcome machine.Outcome) {
				if outcome.Moved != nil && left.To == "" {
					left = *outcome.Moved
				}
			}
			for range 3 {
				p.round()
			}
			if left.From != state || left.Event != guards.DeletionAsked {
				t.Errorf("%s was left by %q to %q", left.From, left.Event, left.To)
			}
			p.Unlist("machines", nil)
			p.until("free", time.Hour, p.unblocked(key, func() bool { return p.Annotations(key) == nil || len(p.Locked()) == 0 }))
		})
	}
}

func TestMigration_judges_its_limits_while_what_belongs_to_its_objects_cannot_be_listed(t *testing.T) {
	for _, state := range []machine.State{guards.Rewiring, guards.RemovingSource, guards.CopyingBack, guards.DroppingCopies, guards.Restoring} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			p, key := waits(t)
			was := p.picture(key)
			p.begin(key)
			if slices.Contains(back, state) {
				p.until("observing", 5*time.Minute, p.reaches(key, guards.Observing))
				p.LoseRecord(key)
				p.restart()
			}
			p.until(string(state), 20*time.Minute, p.reaches(key, state))
			p.ManySecrets(true)
			if left := p.leaves(state); left.Event != guards.ProgressStalled && left.Event != guards.FailureEstablished {
				t.Errorf("%s has led to %s", left.Event, left.To)
			}
			if state != guards.Rewiring { // of which nothing is to be undone yet
				p.until("blocked", time.Hour, func() bool { return strings.HasSuffix(string(p.State(key)), "Blocked") })
			}
			p.ManySecrets(false)
			p.until("free", time.Hour, p.unblocked(key, func() bool { return len(p.Locked()) == 0 }))
			if p.ends(key) == moved {
				p.isMoved(key, was)
				return
			}
			p.isBack(key, was, guards.Reason(p.Annotations(key)[guards.FailedAnnotation]))
		})
	}
}
