package privatecapi_test

import (
	"slices"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/privatecapi"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// calls says whether somebody would be called to a lock that lasts.
func (p *play) calls(key machine.Key) bool {
	p.t.Helper()
	facts, works, err := p.Phases().Observe(p.t.Context(), key)
	if err != nil {
		p.t.Fatal(err)
	}
	names := table.Table.Calling(phases.Snapshot{Record: machine.Record{State: p.State(key)}, Facts: facts, Seen: works})
	return slices.Contains(names, "CapstanPrivateCAPILocked")
}

func TestMigration_calls_somebody_to_a_lock_of_ours_after_an_hour_whatever_has_gone_on_in_it(t *testing.T) {
	for _, at := range []machine.State{guards.Draining, guards.Observing, guards.RemovingSource} {
		t.Run(string(at), func(t *testing.T) {
			p, key := waits(t)
			if p.Pass(2 * time.Hour); p.calls(key) {
				t.Error("nothing is locked, and somebody is called")
			}
			p.begin(key)
			p.until(string(at), 5*time.Minute, p.reaches(key, at))
			if p.Pass(44 * time.Minute); p.calls(key) {
				t.Error("somebody is called before the last ten minutes of the hour")
			}
			if p.Pass(7 * time.Minute); !p.calls(key) {
				t.Error("nobody is called")
			}
			p.restart()
			if !p.calls(key) {
				t.Error("another process calls nobody")
			}
			p.until("at rest", 40*time.Minute, func() bool { return p.rests(key, guards.Private)() || p.rests(key, guards.Failed)() })
			if p.calls(key) {
				t.Error("the lock is gone, and somebody is called")
			}
		})
	}
}

func TestMigration_leaves_it_to_another_alert_that_the_lock_of_another_lasts(t *testing.T) {
	p, key := waits(t)
	theirs := guards.Companion{ID: guards.MigrationID("their-installation", "20200101T000000Z", guards.ToPrivate), Direction: guards.ToPrivate, Stage: guards.Moving}
	p.Annotate(key, guards.MigrationAnnotation, "true")
	p.Annotate(key, guards.CompanionAnnotation, theirs.Text())
	p.until("held", time.Minute, func() bool { return p.State(key) == guards.Held })
	if p.Pass(2 * time.Hour); p.calls(key) {
		t.Error("somebody is called twice")
	}
}
