package machines

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

func deletions(writes []string) []string { return requests("delete ", writes) }

// creations are those that were asked for.
func creations(writes []string) []string { return requests("create ", writes) }

// requests are what writes of a kind were about.
func requests(verb string, writes []string) (all []string) {
	for _, write := range writes {
		if what, is := strings.CutPrefix(write, verb); is {
			all = append(all, what)
		}
	}
	return all
}

func worker(name string) *clusterv1.Machine {
	return &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{
		Namespace: "fleet", Name: name, UID: "w", Labels: map[string]string{clusterv1.ClusterNameLabel: "c"},
	}}
}

func TestDeleteCluster_goes_in_order_and_leaves_nothing(t *testing.T) {
	others := worker("elsewhere")
	others.Labels[clusterv1.ClusterNameLabel] = "another"
	inputs := secret("inputs")
	inputs.OwnerReferences = nil
	pool := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "pool", Labels: map[string]string{clusterv1.ClusterNameLabel: "c"}}}
	w := newWorld(t, append(frame(), asked(3), secret("a-ignition-bootstrap"), secret("c-ca"), worker("w-1"), pool, others, inputs)...)
	w.must((*Seen).CreateMachines)
	w.clusterAPI()
	w.must((*Seen).ask)
	for _, worker := range []client.Object{w.machine("w-1"), pool} {
		w.writes = nil
		if result, err := w.do((*Seen).DeleteCluster); err != nil || result.LookAgain == 0 || w.writes != nil {
			t.Fatalf("while %s is there, it did %v (%+v, %v)", worker.GetName(), w.writes, result, err)
		}
		if err := w.api.Delete(t.Context(), worker); err != nil {
			t.Fatal(err)
		}
		w.clusterAPI()
	}
	w.writes = nil
	for range 6 {
		w.must((*Seen).DeleteCluster)
		w.clusterAPI()
	}
	want := []string{"Machine a-0", "Machine a-1", "Machine a-2", "Machine a-bootstrap", "Secret a-ignition-bootstrap", "Secret c-ca"}
	if got := deletions(w.writes); !reflect.DeepEqual(got, want) {
		t.Errorf("it went in the order %v, want %v", got, want)
	}
	if got := w.all(); !reflect.DeepEqual(got, []string{"Machine elsewhere", "Secret inputs"}) {
		t.Errorf("there are %v", got)
	}
	if _, facts := w.see(); facts.Seen {
		t.Error("the OpenShiftControlPlane is still there")
	}
}

func TestDeleteCluster_believes_no_list_that_lags_behind(t *testing.T) {
	w := newWorld(t, append(frame(), asked(1))...)
	w.must((*Seen).CreateMachines)
	w.clusterAPI()
	w.must((*Seen).ask)
	w.lag = true
	w.must((*Seen).DeleteCluster)
	if slices.Contains(w.writes, "patch OpenShiftControlPlane a") && w.plane().Finalizers == nil {
		t.Error("it let go of Machines that are there")
	}
	if got := deletions(w.writes); !reflect.DeepEqual(got, []string{"OpenShiftControlPlane a", "Machine a-0"}) {
		t.Errorf("it deleted %v", got)
	}
}

func TestDeleteCluster_lifts_hooks_since_all_of_etcd_goes(t *testing.T) {
	w := finished(t, func(p *v1alpha1.OpenShiftControlPlane) { p.Spec.Management = v1alpha1.Managed })
	w.must((*Seen).HandOver)
	if _, has := w.machine("a-0").Annotations[deletionHook]; !has {
		t.Fatal("there is no hook")
	}
	w.must((*Seen).ask)
	for range 5 {
		w.must((*Seen).DeleteCluster)
		w.clusterAPI()
	}
	if got := w.all(); len(got) != 0 {
		t.Errorf("there are %v", got)
	}
}

func TestDeleteCluster_does_without_definitions_that_are_gone(t *testing.T) {
	w := newWorld(t, append(frame(), asked(1, func(p *v1alpha1.OpenShiftControlPlane) {
		p.Finalizers = []string{v1alpha1.Finalizer}
		p.Spec.MachineTemplate.Spec.InfrastructureRef.Kind = "CrateMachineTemplate"
	}))...)
	w.must((*Seen).ask, (*Seen).DeleteCluster)
	if _, facts := w.see(); facts.Seen {
		t.Error("the OpenShiftControlPlane is still there")
	}
}

func TestClearAttempt_leaves_nothing_and_allows_another_bootstrap_Machine(t *testing.T) {
	w := newWorld(t, append(frame(), asked(1), secret("a-ignition-bootstrap"), secret("c-ca"), worker("w-1"))...)
	w.must((*Seen).CreateMachines)
	w.clusterAPI()
	w.must((*Seen).MarkInitialized, (*Seen).giveUp)
	for i := range 6 {
		w.must((*Seen).ClearAttempt)
		if marks := phases.MarksOf(w.plane()); i < 3 && marks.Inputs == "" {
			t.Fatalf("marks went first: %+v", marks)
		}
		if i == 0 {
			_, drains := w.machine("a-0").Annotations[clusterv1.ExcludeNodeDrainingAnnotation]
			if !drains {
				t.Error("a guest that may never answer is drained")
			}
		}
		w.clusterAPI()
	}
	if got := w.all(); !reflect.DeepEqual(got, []string{"Machine w-1"}) {
		t.Errorf("there are %v", got)
	}
	_, facts := w.see()
	if facts.Marks != (guards.Marks{}) || !facts.Attempt.IsDone() || facts.Attempt.Done != 13 {
		t.Errorf("the marks are %+v, of the attempt there is %+v", facts.Marks, facts.Attempt)
	}
	change(w, w.plane(), set(v1alpha1.InputsMark, "d2"))
	w.must((*Seen).CreateMachines)
	if made := w.created["Machine a-bootstrap"]; len(made) != 2 || made[0] == made[1] {
		t.Errorf("the bootstrap Machines were %v", made)
	}
}

func TestClearAttempt_is_refused_once_the_bootstrap_is_finished(t *testing.T) {
	w := finished(t)
	w.writes = nil
	if _, err := w.do((*Seen).ClearAttempt); !machine.IsTerminal(err) || w.writes != nil {
		t.Errorf("it did %v (%v)", w.writes, err)
	}
	s, _ := w.see() // it has not seen the mark
	s.facts.Marks.Finished = false
	if _, err := s.ClearAttempt(t.Context()); !machine.IsTerminal(err) || w.writes != nil {
		t.Errorf("it did %v (%v)", w.writes, err)
	}
}

func TestTaking_down_leaves_what_the_OpenShiftControlPlane_owns_and_does_not_control(t *testing.T) {
	owned := []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "OpenShiftControlPlane", Name: "a", UID: "p1"}}
	for name, work := range map[string]work{"clearing": (*Seen).ClearAttempt, "deleting": (*Seen).DeleteCluster} {
		inputs := secret("inputs")
		inputs.OwnerReferences = owned
		theirs := &v1alpha1.OpenShiftConfig{ObjectMeta: metav1.ObjectMeta{
			Namespace: "fleet", Name: "theirs", Labels: map[string]string{clusterv1.ClusterNameLabel: "c"}, OwnerReferences: owned,
		}}
		job := &batchv1.Job{ObjectMeta: inputs.ObjectMeta}
		w := newWorld(t, append(frame(), asked(1), inputs, theirs, job, secret("a-ignition-bootstrap"))...)
		w.must((*Seen).CreateMachines)
		w.clusterAPI()
		if name == "deleting" {
			w.must((*Seen).ask)
		} else {
			w.must((*Seen).giveUp)
		}
		for range 6 {
			w.must(work)
			w.clusterAPI()
		}
		if got, want := w.all(), []string{"Job inputs", "OpenShiftConfig theirs", "Secret inputs"}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: there are %v, want %v", name, got, want)
		}
	}
}

func TestClearAttempt_deletes_nothing_that_no_mark_gives_up(t *testing.T) {
	w := newWorld(t, append(frame(), asked(1), secret("a-ignition-bootstrap"))...)
	w.must((*Seen).CreateMachines)
	in(w, guards.Clearing) // a status that somebody has put back
	w.writes = nil
	if result, err := w.do((*Seen).ClearAttempt); err != nil || result.LookAgain == 0 || w.writes != nil {
		t.Errorf("it did %v (%+v, %v)", w.writes, result, err)
	}
}

func TestClearAttempt_that_was_stopped_deletes_nothing_of_the_next_attempt(t *testing.T) {
	for name, before := range map[string]string{"Machines are listed": "list MachineList", "infrastructure machines are listed": "list BoxMachineList", "Jobs are listed": "list JobList"} {
		w := newWorld(t, append(frame(), asked(1), secret("a-ignition-bootstrap"))...)
		w.must((*Seen).CreateMachines)
		w.clusterAPI()
		w.must((*Seen).giveUp)
		if before != "list MachineList" { // of the former attempt there are no Machines any more
			for range 2 {
				w.must((*Seen).ClearAttempt)
				w.clusterAPI()
			}
		}
		s, _ := w.see()
		w.listing = func(what string) { // another process clears the rest away meanwhile, and begins the next attempt
			if "list "+what != before {
				return
			}
			w.listing = nil
			for range 6 {
				w.must((*Seen).ClearAttempt)
				w.clusterAPI()
			}
			change(w, w.plane(), set(v1alpha1.InputsMark, "d2"))
			w.must((*Seen).CreateMachines)
			w.clusterAPI()
			w.writes = nil
		}
		_, err := s.ClearAttempt(t.Context())
		if w.listing != nil || err == nil || len(w.writes) != 0 {
			t.Errorf("stopped before %s: it did %v (%v)", name, w.writes, err)
		}
		if marks := phases.MarksOf(w.plane()); marks.Inputs != "d2" || marks.Bootstrap == "" {
			t.Errorf("stopped before %s: the marks are %+v", name, marks)
		}
	}
}

func TestClearAttempt_goes_on_where_it_was_interrupted_and_no_Machine_is_made_meanwhile(t *testing.T) {
	w := newWorld(t, append(frame(), asked(3), secret("a-ignition-bootstrap"))...)
	w.must((*Seen).CreateMachines)
	w.clusterAPI()
	w.must((*Seen).MarkInitialized, (*Seen).giveUp, (*Seen).ClearAttempt)
	w.clusterAPI() // masters are gone, and the bootstrap is there
	if got := w.all(); !reflect.DeepEqual(got, append(of("a-bootstrap"), "Secret a-ignition-bootstrap")) {
		t.Fatalf("there are %v", got)
	}
	s, facts := w.see()
	facts.Then.State = guards.Locating
	if truth(guards.RemovalIsOver, facts) != machine.No || truth(guards.BootstrapIsKept, facts) != machine.Yes {
		t.Error("after a pause it is not known that the attempt is cleared away")
	}
	if err := w.api.Delete(t.Context(), w.machine("a-bootstrap")); err != nil {
		t.Fatal(err)
	}
	w.clusterAPI()
	if allowed, err := s.mayCreateBootstrap(t.Context()); allowed || err != nil {
		t.Errorf("another bootstrap Machine may be made (%v)", err)
	}
	for range 5 {
		w.must((*Seen).ClearAttempt)
	}
	_, facts = w.see()
	if len(w.all()) != 0 || truth(guards.AttemptIsGone, facts) != machine.Yes || facts.Object.Served != guards.Brief("from-scratch-1") {
		t.Errorf("there are %v, and it is told %+v", w.all(), facts.Object)
	}
}

func TestRemoving_what_is_half_made_leaves_what_was_changed_since_it_was_listed(t *testing.T) {
	half := &v1alpha1.OpenShiftConfig{ObjectMeta: metav1.ObjectMeta{
		Namespace: "fleet", Name: "a-3", Labels: map[string]string{clusterv1.ClusterNameLabel: "c"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "OpenShiftControlPlane", Name: "a", UID: "p1", Controller: one(true)}},
	}}
	w := newWorld(t, append(frame(), asked(1), half)...)
	s, _ := w.see()
	change(w, half.DeepCopy(), func(c *v1alpha1.OpenShiftConfig) { c.Annotations = map[string]string{"somebody": "took it up"} })
	d := &doing{}
	if gone, err := s.removeHalfMade(t.Context(), "a-3", anyway, d); gone || err != nil || !d.waits || !slices.Contains(w.all(), "OpenShiftConfig a-3") {
		t.Errorf("gone: %t (%v), there are %v", gone, err, w.all())
	}
	s, _ = w.see()
	if _, err := s.removeHalfMade(t.Context(), "a-3", anyway, d); err != nil || slices.Contains(w.all(), "OpenShiftConfig a-3") {
		t.Errorf("there are %v (%v)", w.all(), err)
	}
}
