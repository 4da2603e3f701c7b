package privatecapi_test

import (
	"fmt"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// keeps checks that all objects that there were are there after a while, on either side, and that no cloud was called.
func (p *play) keeps(key machine.Key, lasts time.Duration) {
	p.t.Helper()
	was, _, _ := p.Objects(key)
	for end := p.Now().Add(lasts); p.Now().Before(end); {
		p.round()
	}
	is, _, _ := p.Objects(key)
	for name := range was {
		if _, there := is[name]; !there {
			p.t.Errorf("%s is lost in %s", name, p.State(key))
		}
	}
	if calls := p.Cloud(); len(calls) > 0 {
		p.t.Errorf("calls to the cloud: %v", calls)
	}
}

func TestMigration_deletes_no_source_for_a_companion_that_somebody_has_put_there(t *testing.T) {
	for _, stage := range []guards.Stage{guards.Live, guards.Undoing, guards.Committed} {
		for _, direction := range []guards.Direction{guards.ToPrivate, guards.ToStandard} {
			companion := guards.Companion{ID: guards.MigrationID("our-installation", "x", direction), Direction: direction, Stage: stage}
			t.Run(fmt.Sprintf("%s to %s where it was never moved", stage, direction), func(t *testing.T) {
				p, key := waits(t)
				p.Annotate(key, guards.CompanionAnnotation, companion.Text())
				p.keeps(key, time.Minute)
			})
			if direction == guards.ToPrivate {
				continue
			}
			t.Run(fmt.Sprintf("%s to %s where it was moved", stage, direction), func(t *testing.T) {
				p, key := waits(t)
				p.begin(key)
				p.until("moved", 5*time.Minute, p.rests(key, guards.Private))
				p.NotNeeded = true
				p.Annotate(key, guards.CompanionAnnotation, companion.Text())
				p.keeps(key, time.Minute)
			})
		}
	}
}

func TestMigration_deletes_no_source_whose_stage_is_forged_on_the_way(t *testing.T) {
	for _, from := range []machine.State{guards.Pausing, guards.CopyingStatus} {
		for _, stage := range []guards.Stage{guards.Live, guards.Committed} {
			t.Run(fmt.Sprintf("%s as %s", from, stage), func(t *testing.T) {
				p, key := waits(t)
				p.begin(key)
				p.until(string(from), 5*time.Minute, p.reaches(key, from))
				companion := guards.MarksOf(p.Annotations(key)).Companion
				companion.Stage = stage
				p.Annotate(key, guards.CompanionAnnotation, companion.Text())
				p.keeps(key, time.Minute)
			})
		}
	}
}

func TestMigration_keeps_the_source_of_a_target_that_has_lost_a_cluster(t *testing.T) {
	for _, resource := range []string{"clusters", "awsclusters"} {
		t.Run(resource, func(t *testing.T) {
			p, key := waits(t)
			was, _, _ := p.Objects(key)
			p.begin(key)
			p.until("observing", 5*time.Minute, p.reaches(key, guards.Observing))
			p.Vanish(resource)
			p.until("blocked", 10*time.Minute, func() bool { return p.State(key) == guards.RollbackBlocked })
			is, standard, _ := p.Objects(key)
			if standard < len(was) {
				t.Errorf("%d of %d objects are left at the source: %v", standard, len(was), is)
			}
		})
	}
}

func TestMigration_deletes_nothing_that_is_born_at_the_source_behind_the_fence(t *testing.T) {
	for _, from := range []machine.State{guards.Observing, guards.Committing, guards.RemovingSource} {
		t.Run(string(from), func(t *testing.T) {
			p, key := waits(t)
			p.begin(key)
			p.until(string(from), 5*time.Minute, p.reaches(key, from))
			p.Bear(key, "late")
			p.until("blocked", 10*time.Minute, func() bool {
				return p.State(key) == guards.RollbackBlocked || p.State(key) == guards.CommitBlocked || p.State(key) == guards.CleanupBlocked
			})
			if is, _, _ := p.Objects(key); is["awsmachines late"] == "" {
				t.Errorf("it is lost in %s", p.State(key))
			}
		})
	}
}
