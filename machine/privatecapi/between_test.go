package privatecapi_test

import (
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// What comes between two looks of the machine.

func isFence(w phases.Write) bool { return w.Kind.Resource == phases.Namespaces.Resource }

// lasts makes rounds for a while of the simulated time.
func (p *play) lasts(while time.Duration) {
	for end := p.Now().Add(while); p.Now().Before(end); {
		p.round()
	}
}

func TestMigration_loses_no_deletion_that_begins_between_the_checks_and_the_fence(t *testing.T) {
	for _, resource := range []string{"machines", "awsmachines"} {
		t.Run(resource, func(t *testing.T) {
			p, key := waits(t)
			p.begin(key)
			p.Before(isFence, func() {
				if err := p.DeleteObject(key, phases.Standard, resource, "a-0"); err != nil {
					t.Fatal(err)
				}
				p.Annotate(key, guards.PausedAnnotation, "true")
			})
			p.until("let go", 5*time.Minute, func() bool { return p.reaches(key, guards.Locking)() && p.rests(key, guards.Eligible)() })
			if visited := p.visited[key]; p.reaches(key, guards.Pausing)() {
				t.Errorf("it has begun to move: %v", visited)
			}
			p.lasts(time.Minute)
			if calls := p.Cloud(); len(calls) == 0 || calls[0] != "delete clusters-a/a-0" {
				t.Errorf("the controllers have not gone on with the deletion: %v", calls)
			}
		})
	}
}

func TestMigration_does_not_commit_to_a_copy_of_what_is_being_deleted_at_the_source(t *testing.T) {
	for _, from := range []machine.State{guards.CopyingStatus, guards.Observing} {
		t.Run(string(from), func(t *testing.T) {
			p, key := waits(t)
			p.begin(key)
			p.until(string(from), 5*time.Minute, p.reaches(key, from))
			p.Collect(key, phases.Standard, "machines", "a-0")
			p.until("undone", 15*time.Minute, p.rests(key, guards.Failed))
			p.lasts(time.Minute)
			if p.reaches(key, guards.RemovingSource)() || len(p.Cloud()) == 0 || p.Cloud()[0] != "delete clusters-a/a-0" {
				t.Errorf("states %v, cloud %v", p.visited[key], p.Cloud())
			}
		})
	}
}

func TestMigration_commits_to_no_copy_whose_original_begins_to_go_after_the_last_look(t *testing.T) {
	p, key := waits(t)
	p.begin(key)
	p.until("committing", 5*time.Minute, p.reaches(key, guards.Committing))
	p.Collect(key, phases.Standard, "machines", "a-0")
	p.until("blocked", 15*time.Minute, p.reaches(key, guards.CommitBlocked))
	if err := p.DeleteObject(key, phases.Private, "machines", "a-0"); err != nil {
		t.Fatal(err)
	}
	p.until("moved", time.Hour, p.unblocked(key, p.rests(key, guards.Private)))
	p.lasts(time.Minute)
	if calls := p.Cloud(); len(calls) == 0 || calls[0] != "delete clusters-a/a-0" {
		t.Errorf("the deletion is lost: %v", calls)
	}
}

func TestMigration_lets_go_where_something_is_at_the_target_that_came_before_the_fence(t *testing.T) {
	p, key := waits(t)
	was := p.picture(key)
	p.begin(key)
	p.Before(isFence, func() {
		if err := p.AddTemplate(key, phases.Private, "other"); err != nil {
			t.Fatal(err)
		}
	})
	p.until("let go", 5*time.Minute, func() bool { return p.reaches(key, guards.Locking)() && p.rests(key, guards.Ambiguous)() })
	if p.reaches(key, guards.Pausing)() || p.Fence(key) != guards.NoFence || p.Look(key, phases.Private, "awsmachinetemplates", "other") == nil {
		t.Errorf("states %v, fence %q", p.visited[key], p.Fence(key))
	}
	if err := p.DeleteObject(key, phases.Private, "awsmachinetemplates", "other"); err != nil {
		t.Fatal(err)
	}
	p.until("moved", 10*time.Minute, p.rests(key, guards.Private))
	p.isMoved(key, was)
}

func TestMigration_that_is_undone_leaves_what_is_nobodys_copy(t *testing.T) {
	p, key := waits(t)
	p.begin(key)
	p.until("copying", 5*time.Minute, p.reaches(key, guards.Copying))
	p.Slip(key, "other")
	p.until("let go", 20*time.Minute, p.rests(key, guards.Ambiguous))
	_, standard, private := p.Objects(key)
	if private != 1 || standard == 0 || p.Fence(key) != guards.NoFence || p.Replicas(key, "cluster-api") != int64(1) {
		t.Errorf("%d standard, %d private objects, fence %q, %v replicas", standard, private, p.Fence(key), p.Replicas(key, "cluster-api"))
	}
}

func TestMigration_is_not_held_up_by_a_HostedCluster_that_is_created_later_for_the_same_namespace(t *testing.T) {
	for _, from := range []machine.State{guards.Copying, guards.Observing, guards.RemovingSource} {
		t.Run(string(from), func(t *testing.T) {
			p := newPlay(t)
			key := p.AddHosted("a-b", 1)
			p.until(string(from), 5*time.Minute, p.reaches(key, from))
			p.AddNamed("clusters-a", "b", nil)
			p.until("moved", 10*time.Minute, func() bool { return p.State(key) == guards.Private })
		})
	}
}

func TestMigration_undoes_what_was_replaced_at_the_target_under_its_own_name(t *testing.T) {
	p, key := waits(t)
	p.begin(key)
	p.until("observing", 5*time.Minute, p.reaches(key, guards.Observing))
	if err := p.Replace(key, phases.Private, "awsmachinetemplates", "a"); err != nil {
		t.Fatal(err)
	}
	p.Fail("a-0")
	p.until("undone", 30*time.Minute, p.rests(key, guards.Failed))
	if _, standard, private := p.Objects(key); private != 0 || standard == 0 {
		t.Errorf("%d standard and %d private objects", standard, private)
	}
}
