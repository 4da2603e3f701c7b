package openshiftcontrolplane

import (
	"testing"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

func TestProgress_counts_on_from_state_to_state(t *testing.T) {
	all := with(alone, func(f *Facts) {
		f.Bootstrap.Removal, f.Guest.Operators, f.Attempt = three, three, three
		f.Upgrade, f.Scaling, f.Remediation = Wish{Steps: three}, Wish{Steps: three}, Wish{Steps: three}
	})
	last := 0
	for _, state := range way {
		done, known := Progress(with(all, func(f *Facts) { f.Then.State = state }))
		if !known || done <= last {
			t.Errorf("%s has %d (%v), not more than the one before", state, done, known)
		}
		last = done
	}
	for _, state := range []machine.State{Pending, Locating, Installed, Degraded, Failed, Paused, Deleting} {
		if done, known := Progress(with(all, func(f *Facts) { f.Then.State = state })); done != 0 || !known {
			t.Errorf("%s has %d (%v)", state, done, known)
		}
	}
	if _, known := Progress(with(waiting, func(f *Facts) { f.Then.State = Settling })); known {
		t.Error("what was not counted is known")
	}
	if _, known := Progress(Facts{}); known {
		t.Error("what was not seen is known")
	}
}

func TestProgress_counts_hooks_that_are_met(t *testing.T) {
	for state, phase := range map[machine.State]HookPhase{AwaitingInfrastructure: PostInfrastructure, RemovingBootstrap: PreBootstrapRemoval} {
		before := with(alone, func(f *Facts) {
			f.Then.State, f.Bootstrap.Removal, f.Hooks = state, some, []Hook{{Phase: phase, Condition: "A"}}
		})
		after := with(before, func(f *Facts) { f.Hooks = []Hook{{Phase: phase, Condition: "A", Met: true}} })
		was, _ := Progress(before)
		if is, known := Progress(after); !known || is != was+1 {
			t.Errorf("%s has %d with a hook that is met, and %d without", state, is, was)
		}
	}
}

func TestPatience(t *testing.T) {
	hook := func(phase HookPhase, timeout time.Duration, met bool) func(*Facts) {
		return func(f *Facts) {
			f.Hooks = append(f.Hooks, Hook{Phase: phase, Condition: "A", Timeout: timeout, Met: met})
		}
	}
	spec := func(state machine.State, timeout time.Duration) func(*Facts) {
		return func(f *Facts) { f.Timeouts = map[machine.State]time.Duration{state: timeout} }
	}
	platform := func(name string) func(*Facts) { return func(f *Facts) { f.Cluster.Platform = name } }
	for name, row := range map[string]struct {
		state  machine.State
		change func(*Facts)
		want   time.Duration
	}{
		"of a platform that is not known":    {Bootstrapping, func(*Facts) {}, time.Hour},
		"of AWS":                             {Bootstrapping, platform("aws"), 0},
		"of bare metal":                      {Bootstrapping, platform("baremetal"), time.Hour},
		"of vSphere":                         {Bootstrapping, platform("vsphere"), time.Hour},
		"of bare metal, in another state":    {Settling, platform("baremetal"), 0},
		"what the spec asks for":             {Bootstrapping, spec(Bootstrapping, time.Minute), time.Minute},
		"what it asks for of another state":  {AwaitingAPI, spec(Bootstrapping, time.Minute), 0},
		"of infrastructure":                  {AwaitingInfrastructure, func(*Facts) {}, 15 * time.Minute},
		"of a long hook":                     {AwaitingInfrastructure, hook(PostInfrastructure, time.Hour, false), time.Hour},
		"of a long hook that is met":         {AwaitingInfrastructure, hook(PostInfrastructure, time.Hour, true), 15 * time.Minute},
		"of a short hook":                    {AwaitingInfrastructure, hook(PostInfrastructure, time.Minute, false), 15 * time.Minute},
		"of a hook of the other phase":       {AwaitingInfrastructure, hook(PreBootstrapRemoval, time.Hour, false), 15 * time.Minute},
		"of a hook that holds the removal":   {RemovingBootstrap, hook(PreBootstrapRemoval, time.Hour, false), time.Hour},
		"of the removal":                     {RemovingBootstrap, func(*Facts) {}, 5 * time.Minute},
		"of infrastructure, of a short spec": {AwaitingInfrastructure, spec(AwaitingInfrastructure, time.Minute), time.Minute},
	} {
		facts := with(with(waiting, row.change), func(f *Facts) { f.Then.State = row.state })
		if got := Patience(facts, ProgressStalled); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
		if got := Patience(facts, "OperatorsReady"); got != 0 {
			t.Errorf("%s: %s with what is no deadline", name, got)
		}
	}
}

func TestPatienceOf_is_never_zero_where_it_is_asked_outside_the_table(t *testing.T) {
	for state, want := range usual {
		if got := (Facts{Cluster: Cluster{Platform: "aws"}}).PatienceOf(state); got != want || want == 0 {
			t.Errorf("%s has %s, want %s", state, got, want)
		}
	}
	own := Facts{Timeouts: map[machine.State]time.Duration{CreatingMachines: time.Hour}}
	if got := own.PatienceOf(CreatingMachines); got != time.Hour {
		t.Errorf("what the spec asks for gives %s", got)
	}
}
