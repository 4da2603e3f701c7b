package machines

import (
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

func resize(w *world, replicas int32) {
	w.t.Helper()
	change(w, w.plane(), func(p *v1alpha1.OpenShiftControlPlane) { p.Spec.Replicas = one(replicas) })
}

// sick has a health check find a Machine unhealthy.
func sick(w *world, name string) {
	w.t.Helper()
	change(w, w.machine(name), func(m *clusterv1.Machine) {
		m.Status.Conditions = append(m.Status.Conditions,
			metav1.Condition{Type: clusterv1.MachineHealthCheckSucceededCondition, Status: metav1.ConditionFalse, Reason: "NodeNotReady"},
			metav1.Condition{Type: clusterv1.MachineOwnerRemediatedCondition, Status: metav1.ConditionFalse, Reason: "WaitingForRemediation"})
	})
	w.node(name).Ready = false
	w.guest.Etcd.Unhealthy = append(w.guest.Etcd.Unhealthy, w.node(name).Name)
}

func (w *world) node(name string) *Node {
	for i := range w.guest.Nodes {
		if w.guest.Nodes[i].Name == "node-of-"+name {
			return &w.guest.Nodes[i]
		}
	}
	w.t.Fatalf("there is no Node of %s", name)
	return nil
}

func in(w *world, state machine.State) {
	w.t.Helper()
	change(w, w.plane(), func(p *v1alpha1.OpenShiftControlPlane) { p.Status.State = string(state) })
}

func truth(guard machine.Guard[guards.Facts], facts *guards.Facts) machine.Truth {
	return guard.Answer(*facts).Truth
}

func TestScaleMachines_make_more_one_by_one(t *testing.T) {
	w := installed(t, 3, managed)
	if _, facts := w.see(); truth(guards.ScaleIsWanted, facts) != machine.No {
		t.Fatal("nothing is asked for, and it is wanted")
	}
	resize(w, 5)
	if _, facts := w.see(); truth(guards.ScaleIsWanted, facts) != machine.Yes || truth(guards.ScaleIsDone, facts) != machine.No {
		t.Fatalf("five are asked for: %+v", facts.Scaling)
	}
	in(w, guards.Scaling)
	steps := -1
	for _, want := range []string{"a-3", "a-4"} {
		w.writes = nil
		w.must((*Seen).ScaleMachines)
		if got := strings.Join(w.writes, ", "); got != "create OpenShiftConfig "+want+", create BoxMachine "+want+", create Machine "+want {
			t.Fatalf("it wrote %s", got)
		}
		if _, has := w.machine(want).Annotations[deletionHook]; !has {
			t.Errorf("%s has no hook", want)
		}
		_, facts := w.see()
		if facts.Scaling.Steps.Done <= steps {
			t.Errorf("no progress: %+v", facts.Scaling)
		}
		steps = facts.Scaling.Steps.Done
		w.clusterAPI() // it has a Node that is not Ready yet
		w.writes = nil
		w.again((*Seen).ScaleMachines)
		if got := strings.Join(w.writes, ", "); strings.Contains(got, "create") {
			t.Fatalf("before its Node is Ready, it wrote %s", got)
		}
		if _, facts := w.see(); truth(guards.ScaleIsDone, facts) != machine.No {
			t.Errorf("before its Node is Ready, it is done: %+v", facts.Scaling)
		}
		w.healthy()
	}
	if _, facts := w.see(); truth(guards.ScaleIsDone, facts) != machine.Yes || facts.Counts.Replicas != 5 {
		t.Errorf("it is not done: %+v", facts.Scaling)
	}
	if domain := w.machine("a-3").Spec.FailureDomain; domain != "z1" {
		t.Errorf("a-3 is in %s", domain)
	}
}

func TestScaleMachines_make_fewer_one_by_one_once_etcd_does_without(t *testing.T) {
	w := installed(t, 5, managed)
	resize(w, 3)
	in(w, guards.Scaling)
	change(w, w.machine("a-1"), func(m *clusterv1.Machine) { m.Annotations[clusterv1.DeleteMachineAnnotation] = "" })
	for _, name := range []string{"a-1", "a-4"} {
		w.writes = nil
		w.must((*Seen).ScaleMachines)
		w.clusterAPI()
		w.must((*Seen).ScaleMachines)
		w.clusterAPI()
		if got := deletions(w.writes); !reflect.DeepEqual(got, []string{"Machine " + name}) {
			t.Fatalf("it deleted %v, want %s", got, name)
		}
		w.machine(name) // etcd has the member
		w.outOfEtcd(name)
		w.must((*Seen).ScaleMachines)
		w.clusterAPI()
		if w.get(w.blank(name), name) {
			t.Fatalf("%s is still there", name)
		}
		w.healthy()
	}
	if _, facts := w.see(); truth(guards.ScaleIsDone, facts) != machine.Yes || facts.Counts.Replicas != 3 {
		t.Errorf("it is not done: %+v", facts.Scaling)
	}
	resize(w, 5)
	w.must((*Seen).ScaleMachines)
	w.machine("a-1") // the lowest that is free
}

func TestScaleMachines_go_on_with_one_that_is_half_made(t *testing.T) {
	for writes := 1; writes < 3; writes++ {
		w := halfScaled(t, writes)
		w.must((*Seen).ScaleMachines)
		w.machine("a-1")
	}
}

// halfScaled is a cluster of one, of which three are asked for, whose second one is half made.
func halfScaled(t *testing.T, writes int) *world {
	t.Helper()
	w := installed(t, 1, managed)
	resize(w, 3)
	w.left = writes
	if _, err := w.do((*Seen).ScaleMachines); err == nil {
		t.Fatal("it was not stopped")
	}
	w.left = -1
	return w
}

func TestScaling_is_refused_where_not_all_is_well(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*world)
		says   string
	}{
		"the guest is not known":       {func(w *world) { w.guest.Known = false }, "Nodes are not known"},
		"etcd is not known":            {func(w *world) { w.guest.Etcd.Known = false }, "etcd is not known"},
		"a Node is not Ready":          {func(w *world) { w.node("a-1").Ready = false }, "Node node-of-a-1 is not Ready"},
		"a Node is gone":               {func(w *world) { w.guest.Nodes = w.guest.Nodes[1:] }, "Machine a-0 has no Node"},
		"a member is not healthy":      {func(w *world) { w.guest.Etcd.Unhealthy = []string{"node-of-a-2"} }, "etcd's member node-of-a-2"},
		"something else is the matter": {func(w *world) { w.guest.Etcd.Problem = "no leader" }, "no leader"},
		"one is being deleted": {func(w *world) {
			if err := w.api.Delete(w.t.Context(), w.machine("a-2")); err != nil {
				w.t.Fatal(err)
			}
		}, "Machine a-2 is being deleted"},
	} {
		for _, replicas := range []int32{1, 5} {
			w := installed(t, 3, managed)
			resize(w, replicas)
			row.change(w)
			_, facts := w.see()
			if !strings.Contains(facts.Scaling.Refused, row.says) || truth(guards.ScaleIsWanted, facts) != machine.No {
				t.Errorf("%s: it is told %+v", name, facts.Scaling)
			}
			w.must((*Seen).ScaleMachines)
			for _, write := range w.writes {
				if !strings.HasPrefix(write, "patch") {
					t.Errorf("%s: it wrote %s", name, write)
				}
			}
		}
	}
}

func TestScaling_is_nobodys_wish_under_Handover_or_before_the_bootstrap_is_finished(t *testing.T) {
	w := installed(t, 3)
	resize(w, 5)
	sick(w, "a-1")
	if _, facts := w.see(); facts.Remediation.Asked != "" || facts.Scaling.Asked != "" {
		t.Errorf("under Handover: %+v, %+v", facts.Scaling, facts.Remediation)
	}
	w = newWorld(t, append(frame(), asked(3, managed))...)
	if _, facts := w.see(); facts.Scaling.Asked != "" || !facts.Scaling.Known || !facts.Remediation.Known {
		t.Errorf("before: %+v", facts.Scaling)
	}
}

func TestReplaceMachine_deletes_the_unhealthy_one_and_makes_another_in_its_place(t *testing.T) {
	w := installed(t, 3, managed)
	sick(w, "a-1")
	before := w.machine("a-1").UID
	if _, facts := w.see(); truth(guards.RemediationIsNeeded, facts) != machine.Yes || truth(guards.RemediationIsDone, facts) != machine.No {
		t.Fatalf("it is told %+v", facts.Remediation)
	}
	in(w, guards.Remediating)
	w.must((*Seen).ReplaceMachine)
	if got := deletions(w.writes); !reflect.DeepEqual(got, []string{"Machine a-1"}) {
		t.Fatalf("it deleted %v", got)
	}
	w.outOfEtcd("a-1")
	w.must((*Seen).ReplaceMachine)
	w.clusterAPI()
	w.healthy()
	if _, facts := w.see(); truth(guards.RemediationIsDone, facts) != machine.No {
		t.Errorf("it is done, and the place is empty: %+v", facts.Remediation)
	}
	w.must((*Seen).ReplaceMachine)
	w.clusterAPI()
	if after := w.machine("a-1"); after.UID == before || after.Spec.FailureDomain != "z2" {
		t.Errorf("in its place is %s in %s", after.UID, after.Spec.FailureDomain)
	}
	w.healthy()
	if _, facts := w.see(); truth(guards.RemediationIsDone, facts) != machine.Yes || truth(guards.ScaleIsWanted, facts) != machine.No {
		t.Errorf("it is not done: %+v, %+v", facts.Remediation, facts.Scaling)
	}
}

func TestReplaceMachine_replaces_one_that_never_had_a_Node(t *testing.T) {
	w := installed(t, 3, managed)
	change(w, w.machine("a-1"), func(m *clusterv1.Machine) {
		m.Status.NodeRef, m.Status.Addresses = clusterv1.MachineNodeReference{}, nil
		m.Status.Conditions = append(m.Status.Conditions,
			metav1.Condition{Type: clusterv1.MachineHealthCheckSucceededCondition, Status: metav1.ConditionFalse, Reason: "NodeStartupTimeout"},
			metav1.Condition{Type: clusterv1.MachineOwnerRemediatedCondition, Status: metav1.ConditionFalse, Reason: "WaitingForRemediation"})
	})
	w.must((*Seen).ReplaceMachine)
	if got := deletions(w.writes); !reflect.DeepEqual(got, []string{"Machine a-1"}) {
		t.Errorf("it deleted %v", got)
	}
}

func TestRemediation_is_refused_without_a_quorum(t *testing.T) {
	w := installed(t, 1, managed)
	sick(w, "a-0")
	if _, facts := w.see(); truth(guards.RemediationIsNeeded, facts) != machine.No || !strings.Contains(facts.Remediation.Refused, "quorum") {
		t.Errorf("the only one: %+v", facts.Remediation)
	}
	w.must((*Seen).ReplaceMachine)
	if got := deletions(w.writes); got != nil {
		t.Errorf("it deleted %v", got)
	}
	w = installed(t, 3, managed)
	sick(w, "a-0")
	sick(w, "a-1")
	if _, facts := w.see(); truth(guards.RemediationIsNeeded, facts) != machine.No || facts.Remediation.Asked == "" {
		t.Errorf("two at once: %+v", facts.Remediation)
	}
	w.must((*Seen).ReplaceMachine)
	if got := deletions(w.writes); got != nil {
		t.Errorf("it deleted %v", got)
	}
}

func TestRemediation_is_done_though_there_are_too_many(t *testing.T) {
	w := installed(t, 5, managed)
	resize(w, 3)
	in(w, guards.Remediating)
	if _, facts := w.see(); truth(guards.RemediationIsDone, facts) != machine.Yes {
		t.Errorf("it is told %+v", facts.Remediation)
	}
}
