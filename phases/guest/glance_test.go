package guest

import (
	"net/http"
	"slices"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

// in has a look be of a state.
func in(state machine.State) func(*guards.Facts) {
	return func(f *guards.Facts) { f.Then.State = state }
}

func TestGlance_at_a_guest_that_comes_up_is_one_question_until_its_bootstrap_is_complete(t *testing.T) {
	w := connected(t)
	w.ask(in(guards.Bootstrapping))
	if whole := w.guest.questions(); len(whole) < 6 {
		t.Fatalf("the first look asks for %v", whole)
	}
	w.ask(in(guards.Bootstrapping))
	equal(t, "a glance", w.guest.questions(), []string{"GET " + bootstrapPath})
	w.clock.Step(installing)
	w.ask(in(guards.Bootstrapping))
	if whole := w.guest.questions(); !slices.Contains(whole, "GET "+readyPath) {
		t.Errorf("after a while it asks for no more than %v", whole)
	}
	w.guest.set(bootstrapPath, is(&corev1.ConfigMap{Data: map[string]string{"status": "complete"}}))
	if facts := w.ask(in(guards.Bootstrapping)); !facts.Guest.Complete {
		t.Error("a glance does not show that the bootstrap is complete")
	}
	w.guest.questions()
	w.ask(in(guards.Bootstrapping))
	if whole := w.guest.questions(); !slices.Contains(whole, "GET "+nodesPath) && !slices.Contains(whole, "GET "+etcdPath) {
		t.Errorf("while Nodes and etcd are waited for, it asks for %v", whole)
	}
}

func TestGlance_at_a_guest_that_settles_is_at_its_operators_and_its_release(t *testing.T) {
	w := connected(t)
	w.ask(finished, in(guards.Settling))
	w.guest.questions()
	w.ask(finished, in(guards.Settling))
	equal(t, "a glance", w.guest.questions(), []string{"GET " + releasePath, "GET " + operatorsPath})
	w.guest.set(operatorsPath, is(&configv1.ClusterOperatorList{Items: []configv1.ClusterOperator{{ObjectMeta: metav1.ObjectMeta{Name: "etcd"}}}}))
	if facts := w.ask(finished, in(guards.Settling)); facts.Guest.Operators.Wanted != 2 {
		t.Errorf("a glance does not show another operator: %+v", facts.Guest.Operators)
	}
	w.guest.set(operatorsPath, status(http.StatusInternalServerError))
	if facts := w.ask(finished, in(guards.Settling)); facts.Guest.APIProblem == "" {
		t.Error("what cannot be read any more is not told")
	}
}

func TestGlance_is_no_look_in_states_in_which_what_is_fresh_counts(t *testing.T) {
	w := connected(t)
	for _, state := range []machine.State{guards.Scaling, guards.Remediating, guards.Installed} {
		w.ask(finished, in(state))
		w.guest.questions()
		w.ask(finished, in(state))
		if whole := w.guest.questions(); !slices.Contains(whole, "GET "+readyPath) {
			t.Errorf("in %s it asks for %v", state, whole)
		}
	}
}
