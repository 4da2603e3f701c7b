package joint

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/openshiftcontrolplane/machines"
)

func TestTogether_does_all_parts_and_looks_again_when_the_first_wants_to(t *testing.T) {
	says := func(did string, again time.Duration, err error) part {
		return func(context.Context) (machine.Result, error) {
			return machine.Result{Did: did, LookAgain: again}, err
		}
	}
	broken, spoilt := errors.New("broken"), machine.Terminal(errors.New("spoilt"))
	result, err := together(t.Context(), says("a", time.Minute, broken), says("", 0, nil), says("b", time.Second, spoilt))
	if result.Did != "a, b" || result.LookAgain != time.Second || !errors.Is(err, broken) || machine.IsTerminal(err) {
		t.Errorf("it came to %+v and %v", result, err)
	}
	if _, err := together(t.Context(), says("", 0, nil), says("", 0, spoilt)); !machine.IsTerminal(err) {
		t.Errorf("one part has failed for good, and it is told as %v", err)
	}
	if result, err := together(t.Context(), says("", 0, nil)); err != nil || result != (machine.Result{}) {
		t.Errorf("nothing came to %+v and %v", result, err)
	}
}

func TestRecall_has_works_know_the_state_that_they_are_done_in(t *testing.T) {
	for raw, want := range map[string]machine.State{
		`{"state":"Bootstrapping"}`: guards.Bootstrapping, `{`: guards.Pending, `{}`: guards.Pending, ``: guards.Pending,
	} {
		plane, facts := &v1alpha1.OpenShiftControlPlane{}, guards.Facts{}
		plane.Status.Machine.Raw = []byte(raw)
		plane.Status.State = "Edited"
		p := &Phases{}
		if p.recall("fleet/a", &facts, plane); facts.Then.State != want {
			t.Errorf("of %s it recalls %s, want %s", raw, facts.Then.State, want)
		}
	}
}

func TestWaitsForHooks_looks_again_while_one_holds_the_removal(t *testing.T) {
	p := &Pass{facts: guards.Facts{Marks: guards.Marks{Finished: true}, Hooks: []guards.Hook{{Phase: guards.PreBootstrapRemoval, Condition: "Audited"}}}}
	if result, _ := p.waitsForHooks(t.Context()); result.LookAgain != whileHeld {
		t.Errorf("it came to %+v", result)
	}
	p.facts.Hooks[0].Met = true
	if result, _ := p.waitsForHooks(t.Context()); result != (machine.Result{}) {
		t.Errorf("a hook that is met came to %+v", result)
	}
}

func TestAside_holds_nothing_up_in_the_states_that_follow_its_own(t *testing.T) {
	refused := errors.New("a policy keeps it")
	for state, fails := range map[machine.State]bool{guards.RemovingBootstrap: true, guards.Settling: false, guards.Installed: false, guards.Upgrading: false} {
		p := &Pass{facts: guards.Facts{Then: guards.Then{State: state}}}
		result, err := p.aside(func(context.Context) (machine.Result, error) { return machine.Result{}, refused })(t.Context())
		if (err != nil) != fails || !fails && (result.LookAgain != whileLeft || !strings.Contains(result.Did, refused.Error())) {
			t.Errorf("%s: it came to %+v, %v", state, result, err)
		}
	}
}

func TestAsksAgain_while_nobody_knows_what_release_is_asked_for(t *testing.T) {
	p := &Pass{facts: guards.Facts{Upgrade: guards.Wish{Known: true, Asked: "release r", Unasked: "the registry is away"}}}
	if result, _ := p.asksAgain(t.Context()); result.LookAgain != whileUnasked {
		t.Errorf("it came to %+v", result)
	}
	p.facts.Upgrade.Unasked = ""
	if result, _ := p.asksAgain(t.Context()); result != (machine.Result{}) {
		t.Errorf("a release that is known came to %+v", result)
	}
}

func TestClearAttempt_looks_again_until_the_state_is_left(t *testing.T) {
	p := &Pass{machines: &machines.Seen{}} // of an object that is gone, whose clearing does nothing
	if result, err := p.ClearAttempt(t.Context()); err != nil || result.LookAgain != whileCleared {
		t.Errorf("it came to %+v (%v)", result, err)
	}
}
