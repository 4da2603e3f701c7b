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

// unran are the states on the way in which the target has never run.
var unran = undoable[:slices.Index(undoable, guards.Unpausing)]

// isUndone has something become unseen in a state, and sees the move undone without anybody's help.
func isUndone(t *testing.T, state machine.State, blind func(p *play, err error)) {
	t.Helper()
	t.Parallel()
	p, key := waits(t)
	was := p.picture(key)
	p.begin(key)
	p.until(string(state), 20*time.Minute, p.reaches(key, state))
	blind(p, simulated.Unlistable()["meets errors inside"])
	p.each = func(_ machine.Key, outcome machine.Outcome) {
		if strings.HasSuffix(string(outcome.State), "Blocked") {
			t.Fatalf("it has come to %s", outcome.State)
		}
	}
	p.until("free", time.Hour, func() bool {
		p.Pass(5 * time.Second)
		return len(p.Locked()) == 0
	})
	blind(p, nil)
	p.until("failed", time.Hour, p.rests(key, guards.Failed))
	p.isBack(key, was, guards.Reason(p.Annotations(key)[guards.FailedAnnotation]))
}

func TestMigration_is_undone_while_a_kind_cannot_be_listed_of_which_there_is_nothing(t *testing.T) {
	for _, state := range unran {
		t.Run(string(state), func(t *testing.T) {
			isUndone(t, state, func(p *play, err error) { p.Unlist("awsmachinepools", err) })
		})
	}
}

func TestMigration_is_undone_while_a_kind_cannot_be_listed_and_nothing_was_copied(t *testing.T) {
	for _, state := range []machine.State{guards.Pausing, guards.Draining, guards.Snapshotting} {
		t.Run(string(state), func(t *testing.T) {
			isUndone(t, state, func(p *play, err error) { p.Unlist("machines", err) })
		})
	}
}

func TestMigration_is_undone_while_objects_of_others_cannot_be_listed_which_belong_to_nothing_of_Cluster_API(t *testing.T) {
	// A component that was started may have made something: from then on all is to be seen.
	for _, state := range unran[:slices.Index(unran, guards.Comparing)] {
		t.Run(string(state), func(t *testing.T) {
			isUndone(t, state, func(p *play, err error) {
				p.UnanswerBoxes(err)
				if err != nil && state != guards.Rewiring { // which asks for them itself
					p.Unlist("awsmachinepools", err)
				} else {
					p.Unlist("awsmachinepools", nil)
				}
			})
		})
	}
}

// isBlockedWhileBlind has a kind and what belongs to moved objects not be seen, sees the way back stand still, and then end.
func (p *play) isBlockedWhileBlind(key machine.Key) {
	p.t.Helper()
	err := simulated.Unlistable()["meets errors inside"]
	p.UnanswerBoxes(err)
	p.Unlist("awsmachinepools", err) // which has the move undone
	p.until("blocked", 2*time.Hour, func() bool {
		p.Pass(5 * time.Second)
		return p.State(key) == guards.RollbackBlocked
	})
	p.UnanswerBoxes(nil)
	p.Unlist("awsmachinepools", nil)
	p.until("failed", time.Hour, p.rests(key, guards.Failed))
}

func TestMigration_is_not_undone_by_an_old_journal_while_what_belongs_to_its_objects_cannot_be_seen(t *testing.T) {
	p, key := waits(t)
	was := p.picture(key)
	p.begin(key)
	p.until("copying", 20*time.Minute, p.reaches(key, guards.Copying))
	putBack := p.KeepJournal(key)
	p.until("equipping", 20*time.Minute, p.reaches(key, guards.Equipping))
	putBack()
	p.isBlockedWhileBlind(key)
	p.isBack(key, was, guards.Reason(p.Annotations(key)[guards.FailedAnnotation]))
}

func TestMigration_is_not_undone_while_what_started_components_may_have_made_cannot_be_seen(t *testing.T) {
	p, key := waits(t)
	p.begin(key)
	p.until("comparing", 20*time.Minute, p.reaches(key, guards.Comparing))
	p.AddBox(key, "late", "a-0") // while the Clusters are paused
	p.isBlockedWhileBlind(key)
	if !p.BoxIsOwned(key, "late", "a-0") {
		t.Errorf("what was made late is lost, or belongs to nobody:\n%s", p.World)
	}
}

func TestMigration_copies_nothing_of_a_source_that_is_not_what_was_counted(t *testing.T) {
	p, key := waits(t)
	p.begin(key)
	p.until("copying", 20*time.Minute, p.reaches(key, guards.Copying))
	p.BearPool(key, "late")
	p.until("repausing", 20*time.Minute, p.reaches(key, guards.Repausing))
	if private := p.PrivateObjects(key); len(private) > 0 {
		t.Errorf("there are copies: %v", private)
	}
	p.Unlist("awsmachinepools", simulated.Unlistable()["meets errors inside"])
	p.until("free", 20*time.Minute, func() bool { return len(p.Locked()) == 0 })
	p.Unlist("awsmachinepools", nil)
	p.until("failed", time.Hour, p.rests(key, guards.Failed))
	if reason := p.Annotations(key)[guards.FailedAnnotation]; reason != string(guards.ResourceConversionFailed) {
		t.Errorf("failed by %q", reason)
	}
	if is, _, _ := p.Objects(key); is["awsmachinepools late"] == "" {
		t.Error("what came late is lost")
	}
}

func TestMigration_counts_a_source_again_that_changes_before_anything_is_copied(t *testing.T) {
	p, key := waits(t)
	p.begin(key)
	p.until("snapshotting", 20*time.Minute, p.reaches(key, guards.Snapshotting))
	p.round() // which counts it
	if p.State(key) != guards.Snapshotting {
		t.Fatalf("it is in %s", p.State(key))
	}
	p.BearPool(key, "late")
	p.until("moved", 10*time.Minute, p.rests(key, guards.Private))
	if p.PrivateObjects(key)["awsmachinepools late"] == "" {
		t.Error("what came late is lost")
	}
}
