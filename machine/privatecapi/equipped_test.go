package privatecapi_test

import (
	"slices"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/privatecapi"
)

func TestMigration_is_not_committed_while_a_component_speaks_to_the_source(t *testing.T) {
	for _, at := range []machine.State{guards.Starting, guards.Comparing, guards.Unpausing, guards.Observing} {
		t.Run(string(at), func(t *testing.T) {
			p, key := waits(t)
			was := p.picture(key)
			p.begin(key)
			p.until(string(at), 5*time.Minute, p.reaches(key, at))
			p.Unequip(key, "capi-provider")
			p.until("undone", 20*time.Minute, p.rests(key, guards.Failed))
			if p.reaches(key, guards.Committing)() {
				t.Errorf("it was committed; states %v", p.visited)
			}
			p.isBack(key, was, guards.Reason(p.Annotations(key)[guards.FailedAnnotation]))
		})
	}
}

func TestMigration_equips_a_component_again_that_loses_its_proxy_from_the_commit_on(t *testing.T) {
	for _, at := range []machine.State{guards.Committing, guards.RemovingSource} {
		t.Run(string(at), func(t *testing.T) {
			p, key := waits(t)
			was := p.picture(key)
			p.begin(key)
			p.until(string(at), 5*time.Minute, p.reaches(key, at))
			p.Unequip(key, "capi-provider")
			p.until("moved", 10*time.Minute, p.rests(key, guards.Private))
			p.isMoved(key, was)
		})
	}
}

func TestMigration_takes_a_component_for_equipped_that_its_operator_equips_by_a_flag_alone(t *testing.T) {
	for _, at := range []machine.State{guards.Starting, guards.Observing, guards.RemovingSource} {
		t.Run(string(at), func(t *testing.T) {
			p, key := waits(t)
			p.begin(key)
			p.until(string(at), 5*time.Minute, p.reaches(key, at))
			p.EquipByFlag(key, "cluster-api")
			p.until("unlocking", 20*time.Minute, p.reaches(key, guards.Unlocking))
			if args := p.Args(key, "cluster-api"); len(args) != 1 {
				t.Errorf("its arguments are %v", args)
			}
			p.until("moved", 10*time.Minute, p.rests(key, guards.Private))
		})
	}
}

func TestMigration_puts_the_lock_back_in_each_state_whose_first_annotation_is_taken_away(t *testing.T) {
	states := append(in(guards.Committing, guards.RemovingSource, guards.Unlocking), forward[1:]...)
	for _, at := range append(states, guards.DrainingBack, guards.CopyingBack, guards.DroppingCopies, guards.Restoring) {
		t.Run(string(at), func(t *testing.T) {
			p, key := waits(t)
			p.begin(key)
			if !slices.Contains(states, at) {
				p.until("observing", 5*time.Minute, p.reaches(key, guards.Observing))
				p.LoseRecord(key)
				p.restart()
			}
			p.until(string(at), 5*time.Minute, p.reaches(key, at))
			p.Annotate(key, guards.MigrationAnnotation, "")
			_, works, err := p.Phases().Observe(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			row, _ := table.Table.State(at)
			if _, err := row.Work.Run(t.Context(), works); err != nil {
				t.Error(err)
			}
			if m := guards.MarksOf(p.Annotations(key)); !m.Migrating || !m.Companion.Present {
				t.Errorf("%s leaves the lock as it is: %v", row.Work.Name, p.Annotations(key))
			}
		})
	}
}

func in(states ...machine.State) []machine.State { return states }
