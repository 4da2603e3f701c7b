package machines

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

// stuck is a cluster of three that was asked for five, and whose fourth machine never comes.
func stuck(t *testing.T) *world {
	t.Helper()
	w := installed(t, 3, managed)
	resize(w, 5)
	in(w, guards.Scaling)
	w.must((*Seen).ScaleMachines)
	change(w, w.machine("a-3"), func(m *clusterv1.Machine) { m.Finalizers = []string{clusterv1.MachineFinalizer} })
	resize(w, 3)
	w.writes = nil
	return w
}

func TestScaleMachines_take_back_a_machine_that_cannot_come(t *testing.T) {
	for name, unwell := range map[string]func(*world){
		"all is well":               func(*world) {},
		"another Node is not Ready": func(w *world) { w.node("a-1").Ready = false },
		"a member is not healthy":   func(w *world) { w.guest.Etcd.Unhealthy = []string{"node-of-a-2"} },
		"somebody has chosen another": func(w *world) {
			change(w, w.machine("a-0"), func(m *clusterv1.Machine) { m.Annotations[clusterv1.DeleteMachineAnnotation] = "" })
		},
	} {
		w := stuck(t)
		unwell(w)
		if _, facts := w.see(); truth(guards.ScaleIsWanted, facts) != machine.Yes {
			t.Errorf("%s: it is told %+v", name, facts.Scaling)
		}
		w.must((*Seen).ScaleMachines)
		if got := deletions(w.writes); !reflect.DeepEqual(got, []string{"Machine a-3"}) {
			t.Errorf("%s: it deleted %v", name, got)
		}
		w.must((*Seen).KeepInstalled)
		w.end(w.machine("a-3"))
		if slices.Contains(w.all(), "Machine a-3") {
			t.Errorf("%s: it is held, and has never been a Node", name)
		}
	}
	w := stuck(t)
	for range 4 {
		w.must((*Seen).ScaleMachines)
		w.clusterAPI()
	}
	if _, facts := w.see(); truth(guards.ScaleIsDone, facts) != machine.Yes {
		t.Errorf("it is not done: %+v", facts.Scaling)
	}
}

func TestScaleMachines_take_nothing_back_that_may_be_a_member(t *testing.T) {
	for name, how := range map[string]func(*world){
		"the guest was asked long ago": func(w *world) { w.guest.Fresh = false },
		"etcd is not known":            func(w *world) { w.guest.Etcd.Known = false },
		"etcd has a member on it, and another Node is not Ready": func(w *world) {
			change(w, w.machine("a-3"), func(m *clusterv1.Machine) {
				m.Status.Addresses = clusterv1.MachineAddresses{{Type: clusterv1.MachineInternalIP, Address: ipOf("a-3")}}
			})
			w.guest.Etcd.Endpoints = append(w.guest.Etcd.Endpoints, ipOf("a-3"))
			w.node("a-1").Ready = false
		},
	} {
		w := stuck(t)
		how(w)
		w.must((*Seen).ScaleMachines)
		if got := deletions(w.writes); got != nil {
			t.Errorf("%s: it deleted %v", name, got)
		}
	}
}

func TestScaleMachines_take_back_what_is_half_made(t *testing.T) {
	for writes := 1; writes < 3; writes++ {
		w := halfScaled(t, writes)
		resize(w, 1)
		w.guest = Guest{} // nobody has to be asked
		if _, facts := w.see(); truth(guards.ScaleIsWanted, facts) != machine.Yes || truth(guards.ScaleIsDone, facts) != machine.No {
			t.Errorf("after %d writes it is told %+v", writes, facts.Scaling)
		}
		in(w, guards.Scaling)
		for range 3 {
			w.must((*Seen).ScaleMachines)
		}
		if got := w.all(); !reflect.DeepEqual(got, of("a-0")) {
			t.Errorf("after %d writes there are %v", writes, got)
		}
		w.healthy()
		if _, facts := w.see(); truth(guards.ScaleIsDone, facts) != machine.Yes {
			t.Errorf("after %d writes it is not done: %+v", writes, facts.Scaling)
		}
	}
}

func TestScaling_is_not_asked_for_by_the_config_of_a_Machine_whose_end_was_seen_first(t *testing.T) {
	w := installed(t, 1, managed)
	config := &v1alpha1.OpenShiftConfig{ObjectMeta: metav1.ObjectMeta{
		Namespace: "fleet", Name: "a-1", Labels: map[string]string{clusterv1.ClusterNameLabel: "c"},
		OwnerReferences: []metav1.OwnerReference{
			{APIVersion: v1alpha1.GroupVersion.String(), Kind: "OpenShiftControlPlane", Name: "a", UID: "p1"},
			{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Name: "a-1", UID: "gone", Controller: one(true)},
		},
	}}
	if err := w.api.Create(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if _, facts := w.see(); facts.Scaling.Asked != "" {
		t.Errorf("it is told %+v", facts.Scaling)
	}
}

// unhooked takes our hook off a Machine as somebody else does.
func unhooked(w *world, name string) {
	w.t.Helper()
	change(w, w.machine(name), func(m *clusterv1.Machine) { delete(m.Annotations, deletionHook) })
}

func TestNo_control_plane_Machine_is_deleted_without_our_hook(t *testing.T) {
	for name, row := range map[string]struct {
		replicas int32
		work     work
	}{"one that is unhealthy": {3, (*Seen).ReplaceMachine}, "one that is too many": {1, (*Seen).ScaleMachines}} {
		w := installed(t, 3, managed)
		goes := "a-2"
		if row.replicas == 3 {
			sick(w, goes)
		}
		resize(w, row.replicas)
		for _, each := range []string{"a-0", "a-1", "a-2"} {
			unhooked(w, each)
		}
		w.writes = nil
		// Somebody writes the Machine between any look and any write of ours.
		w.refuse = func(verb, what string) error {
			if verb != "patch" || what != "Machine "+goes {
				return nil
			}
			change(w, w.machine(goes), func(m *clusterv1.Machine) { m.Labels["touched"] += "x" })
			return nil
		}
		if result, err := w.do(row.work); err != nil || result.LookAgain == 0 || deletions(w.writes) != nil {
			t.Errorf("%s: it did %v (%+v, %v)", name, w.writes, result, err)
		}
		w.refuse = nil
		for range 2 {
			w.must(row.work)
		}
		if got := deletions(w.writes); !reflect.DeepEqual(got, []string{"Machine " + goes}) {
			t.Errorf("%s: it deleted %v", name, got)
		}
		if _, held := w.machine(goes).Annotations[deletionHook]; !held {
			t.Errorf("%s: it goes, and nothing holds it", name)
		}
	}
}

func TestNo_control_plane_Machine_is_deleted_that_somebody_has_written_since_it_was_seen(t *testing.T) {
	w := installed(t, 3, managed)
	resize(w, 1)
	w.refuse = func(verb, _ string) error {
		if verb == "delete" {
			unhooked(w, "a-2")
		}
		return nil
	}
	if result, err := w.do((*Seen).ScaleMachines); err != nil || result.LookAgain == 0 {
		t.Errorf("%+v, %v", result, err)
	}
	if !w.machine("a-2").DeletionTimestamp.IsZero() {
		t.Error("it goes, and nothing holds it")
	}
	w.refuse = func(verb, _ string) error {
		if verb == "patch" {
			return errors.New("refused")
		}
		return nil
	}
	if _, err := w.do((*Seen).ScaleMachines); err == nil || !w.machine("a-2").DeletionTimestamp.IsZero() {
		t.Errorf("it cannot be held, and goes (%v)", err)
	}
}
