package privatecapi_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
	"github.com/capstan-capi/capstan/phases/privatecapi/simulated"
)

// forward are the states that a move passes, up to where there is no way back.
var forward = []machine.State{
	guards.Locking, guards.Pausing, guards.Draining, guards.Snapshotting, guards.Copying, guards.CopyingStatus, guards.Rewiring,
	guards.Equipping, guards.Starting, guards.Comparing, guards.Unpausing, guards.Observing,
}

func TestMigration_moves_a_hosted_cluster_and_leaves_no_trace(t *testing.T) {
	p, key := waits(t)
	was := p.picture(key)
	p.begin(key)
	p.until("moved", 5*time.Minute, p.rests(key, guards.Private))
	p.isMoved(key, was)
	p.sameObjectsFor(key, time.Minute)
}

func TestMigration_back_on_request_is_told_as_reverted(t *testing.T) {
	p, key := waits(t)
	was := p.picture(key)
	p.begin(key)
	p.until("moved", 5*time.Minute, p.rests(key, guards.Private))
	p.Annotate(key, guards.RevertAnnotation, "true")
	p.until("moved back", 5*time.Minute, p.rests(key, guards.Failed))
	p.isBack(key, was, guards.Reverted)
	if _, asked := p.Annotations(key)[guards.RevertAnnotation]; asked {
		t.Error("the request is left")
	}
}

func TestMigration_back_is_not_begun_without_the_old_operator(t *testing.T) {
	p, key := waits(t)
	p.begin(key)
	p.until("moved", 5*time.Minute, p.rests(key, guards.Private))
	p.NotNeeded = true
	p.Annotate(key, guards.RevertAnnotation, "true")
	p.FaultAt(0, "")
	p.stays(key, guards.Private, time.Minute)
	if p.Wrote() > 0 {
		t.Errorf("%d writes", p.Wrote())
	}
}

// stays checks that a hosted cluster remains in a state for a while.
func (p *play) stays(key machine.Key, state machine.State, lasts time.Duration) {
	p.t.Helper()
	for end := p.Now().Add(lasts); p.Now().Before(end); p.round() {
		if p.State(key) != state {
			p.t.Fatalf("%s, not %s", p.State(key), state)
		}
	}
}

// staysAtRest says that a hosted cluster has been in one state at rest for a while.
func (p *play) staysAtRest(key machine.Key) func() bool {
	const while = 20
	rounds, in := 0, machine.State("")
	return func() bool {
		state := p.State(key)
		if state != in || !slices.Contains([]machine.State{guards.Private, guards.Failed, guards.Held, guards.Ambiguous, guards.Eligible}, state) {
			rounds, in = 0, state
		}
		rounds++
		return rounds > while
	}
}

// sameObjectsFor checks that the objects do not change any more.
func (p *play) sameObjectsFor(key machine.Key, lasts time.Duration) {
	p.t.Helper()
	was, _, _ := p.Objects(key)
	for end := p.Now().Add(lasts); p.Now().Before(end); {
		p.round()
	}
	is, _, _ := p.Objects(key)
	p.same("objects after a while", was, is)
}

func TestMigration_comes_to_the_same_end_whichever_write_ends_the_process(t *testing.T) {
	p, key := waits(t)
	p.FaultAt(0, "")
	p.begin(key)
	p.until("moved", 5*time.Minute, p.rests(key, guards.Private))
	writes := p.Wrote()
	for _, how := range simulated.Faults() {
		for n := 1; n <= writes; n += how.Every() {
			p, key := waits(t)
			was := p.picture(key)
			p.FaultAt(n, how)
			p.begin(key)
			p.until(fmt.Sprintf("moved with write %d %s", n, how), 10*time.Minute, p.rests(key, guards.Private))
			if p.isMoved(key, was); t.Failed() {
				t.Fatalf("write %d %s; states %v", n, how, p.visited)
			}
		}
	}
}

func TestMigration_that_is_undone_comes_to_the_same_end_whichever_write_ends_the_process(t *testing.T) {
	for _, from := range []machine.State{guards.Rewiring, guards.Observing} {
		undone := func(n int, how simulated.Fault) int {
			p, key := waits(t)
			was := p.picture(key)
			p.begin(key)
			p.until(string(from), 5*time.Minute, p.reaches(key, from))
			p.LoseRecord(key)
			p.restart()
			p.FaultAt(n, how)
			p.until(fmt.Sprintf("undone with write %d %s", n, how), 20*time.Minute, p.rests(key, guards.Failed))
			if p.isBack(key, was, guards.AmbiguousState); t.Failed() {
				t.Fatalf("from %s, write %d %s; states %v", from, n, how, p.visited)
			}
			return p.Wrote()
		}
		writes := undone(0, "")
		for _, how := range simulated.Faults() {
			for n := 1; n <= writes; n += how.Every() {
				undone(n, how)
			}
		}
	}
}

func TestMigration_is_undone_from_each_state_whose_record_is_lost(t *testing.T) {
	for _, from := range forward {
		t.Run(string(from), func(t *testing.T) {
			p, key := waits(t)
			was := p.picture(key)
			p.begin(key)
			p.until(string(from), 5*time.Minute, p.reaches(key, from))
			p.LoseRecord(key)
			p.restart()
			if from == guards.Locking { // nothing was locked yet
				p.until("moved", 10*time.Minute, p.rests(key, guards.Private))
				p.isMoved(key, was)
				return
			}
			p.until("undone", 10*time.Minute, p.rests(key, guards.Failed))
			p.isBack(key, was, guards.AmbiguousState)
		})
	}
}

func TestMigration_comes_to_rest_whatever_state_is_forged(t *testing.T) {
	for _, from := range []machine.State{guards.Draining, guards.CopyingStatus, guards.Starting, guards.Observing, guards.RemovingSource, guards.Unlocking} {
		for _, forged := range []machine.State{
			guards.Committing, guards.RemovingSource, guards.Unlocking, guards.DroppingCopies, guards.CopyingBack, guards.Restoring,
			guards.CleanupBlocked, guards.Eligible, "Nowhere",
		} {
			t.Run(string(from+" as "+forged), func(t *testing.T) {
				p, key := waits(t)
				was := p.picture(key)
				p.begin(key)
				p.until(string(from), 5*time.Minute, p.reaches(key, from))
				p.ForgeRecord(key, forged)
				p.restart()
				p.until("at rest", 30*time.Minute, func() bool {
					return p.rests(key, guards.Private)() || p.rests(key, guards.Failed)()
				})
				if p.State(key) == guards.Private {
					p.isMoved(key, was)
					return
				}
				p.isBack(key, was, guards.Reason(p.Annotations(key)[guards.FailedAnnotation]))
			})
		}
	}
}

func TestMigration_loses_nothing_when_the_lock_is_taken_away(t *testing.T) {
	for _, from := range []machine.State{guards.Pausing, guards.Draining, guards.Copying, guards.Rewiring, guards.Starting, guards.Unpausing, guards.Observing, guards.RemovingSource} {
		for what, names := range map[string][]string{
			"lock": {guards.MigrationAnnotation}, "companion": {guards.CompanionAnnotation},
			"both": {guards.MigrationAnnotation, guards.CompanionAnnotation},
		} {
			t.Run(fmt.Sprintf("%s without %s", from, what), func(t *testing.T) {
				p, key := waits(t)
				was, _, _ := p.Objects(key)
				p.begin(key)
				p.until(string(from), 5*time.Minute, p.reaches(key, from))
				for _, name := range names {
					p.Annotate(key, name, "")
				}
				p.until("at rest", 30*time.Minute, p.staysAtRest(key))
				is, _, _ := p.Objects(key)
				for name := range was {
					if _, there := is[name]; !there {
						t.Errorf("%s is lost", name)
					}
				}
				if calls := p.Cloud(); len(calls) > 0 {
					t.Errorf("calls to the cloud: %v", calls)
				}
			})
		}
	}
}

func TestMigration_is_undone_when_the_hosted_cluster_is_deleted(t *testing.T) {
	for _, from := range forward {
		t.Run(string(from), func(t *testing.T) {
			p, key := waits(t)
			was, _, _ := p.Objects(key)
			namespace := phases.ControlPlaneNamespace("clusters", "a")
			p.begin(key)
			p.until(string(from), 5*time.Minute, p.reaches(key, from))
			p.Delete(key)
			p.until("gone", 10*time.Minute, func() bool { return p.Annotations(key) == nil })
			is, standard, private := p.ObjectsIn(namespace)
			if private > 0 || standard == 0 {
				t.Errorf("%d standard and %d private objects", standard, private)
			}
			p.same("objects", was, is)
			if calls := p.Cloud(); len(calls) > 0 {
				t.Errorf("calls to the cloud: %v", calls)
			}
		})
	}
}

func TestMigration_goes_on_after_an_outage_of_the_API_server(t *testing.T) {
	p, key := waits(t)
	was := p.picture(key)
	p.begin(key)
	p.until("copying", 5*time.Minute, p.reaches(key, guards.Copying))
	p.Down(true)
	for range 120 {
		p.roundOf(key)
	}
	p.Down(false)
	p.until("moved", 5*time.Minute, p.rests(key, guards.Private))
	p.isMoved(key, was)
}

func TestMigration_brings_back_what_the_target_did(t *testing.T) {
	for _, machines := range []int{0, 3} {
		t.Run(fmt.Sprintf("with %d machines", machines), func(t *testing.T) {
			p, key := waits(t)
			p.begin(key)
			p.until("observing", 5*time.Minute, p.reaches(key, guards.Observing))
			p.Scale(key, machines)
			for range 10 {
				p.round()
			}
			did := p.Cloud()
			if len(did) == 0 {
				t.Fatal("the target did nothing")
			}
			want := p.PrivateObjects(key)
			p.LoseRecord(key)
			p.restart()
			p.until("undone", 10*time.Minute, p.rests(key, guards.Failed))
			is, standard, private := p.Objects(key)
			if standard != len(want) || private > 0 {
				t.Errorf("%d standard and %d private objects, and there were %d", standard, private, len(want))
			}
			for name := range want {
				if _, there := is[name]; !there {
					t.Errorf("%s is lost", name)
				}
			}
			if after := p.Cloud(); len(after) != len(did) {
				t.Errorf("the cloud saw %v, and then %v", did, after)
			}
		})
	}
}

func TestMigration_moves_one_at_a_time_and_the_oldest_first(t *testing.T) {
	p := newPlay(t)
	keys := []machine.Key{p.AddHosted("c", 1), p.AddHosted("b", 1), p.AddHosted("a", 1)}
	var order []machine.Key
	p.each = func(key machine.Key, outcome machine.Outcome) {
		if outcome.State == guards.Locking && !slices.Contains(order, key) {
			order = append(order, key)
		}
	}
	p.until("all moved", 20*time.Minute, func() bool {
		return !slices.ContainsFunc(keys, func(key machine.Key) bool { return !p.rests(key, guards.Private)() })
	})
	if p.most != 1 {
		t.Errorf("%d were locked at once", p.most)
	}
	if !slices.Equal(order, keys) {
		t.Errorf("in the order %v", order)
	}
}

func TestMigration_that_failed_blocks_no_other_and_is_tried_again_on_request(t *testing.T) {
	p := newPlay(t)
	first := p.AddHosted("a", 1)
	p.Refuse(phases.Create, "machines")
	p.until("undone", 10*time.Minute, p.rests(first, guards.Failed))
	if reason := guards.Reason(p.Annotations(first)[guards.FailedAnnotation]); reason != guards.ResourceConversionFailed {
		t.Errorf("failed by %q; states %v", reason, p.visited)
	}
	p.Accept()
	second := p.AddHosted("b", 1)
	p.until("the other moved", 5*time.Minute, p.rests(second, guards.Private))
	if p.State(first) != guards.Failed {
		t.Errorf("the failed one is %s", p.State(first))
	}
	p.Annotate(first, guards.FailedAnnotation, "")
	p.until("moved", 5*time.Minute, p.rests(first, guards.Private))
}

func TestMigration_writes_nothing_but_what_it_tells_where_somebody_else_has_locked(t *testing.T) {
	p, key := waits(t)
	p.machine.Store = p.TellingStore()
	p.Annotate(key, guards.MigrationAnnotation, "true")
	p.begin(key)
	before := maps.Clone(p.Written())
	p.until("held", time.Minute, func() bool { return p.State(key) == guards.Held })
	p.stays(key, guards.Held, time.Minute)
	const told = "status of HostedCluster"
	before[told] = p.Written()[told]
	p.stays(key, guards.Held, 5*time.Minute)
	for what, count := range p.Written() {
		if count > before[what] {
			t.Errorf("%s was written %d times", what, count-before[what])
		}
	}
	if said := p.said(key); !strings.HasPrefix(said, "Held") {
		t.Errorf("it tells %q", said)
	}
	p.Annotate(key, guards.MigrationAnnotation, "")
	p.until("moved", 5*time.Minute, p.rests(key, guards.Private))
}

func TestMigration_keeps_an_operator_out_that_ignores_the_lock(t *testing.T) {
	p, key := waits(t)
	was := p.picture(key)
	p.Ignoring = true
	p.begin(key)
	p.until("committing", 5*time.Minute, p.reaches(key, guards.Comparing))
	p.Ignoring = false
	p.until("moved", 5*time.Minute, p.rests(key, guards.Private))
	if p.Denied() == 0 {
		t.Error("the fence has denied nothing")
	}
	_ = was
	p.untouched(key)
}

func TestMigration_gives_old_hosted_clusters_the_mark_of_the_old_operator_and_new_ones_that_of_the_new(t *testing.T) {
	p := newPlay(t)
	old := p.AddHosted("a", 1)
	p.Annotate(old, guards.PausedAnnotation, "true")
	p.Pass(time.Hour)
	fresh := p.AddEmpty("b")
	p.until("classified", time.Minute, func() bool {
		return p.rests(old, guards.Eligible)() && p.rests(fresh, guards.Private)()
	})
}
