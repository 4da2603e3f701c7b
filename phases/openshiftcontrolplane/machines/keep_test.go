package machines

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
)

func managed(p *v1alpha1.OpenShiftControlPlane) { p.Spec.Management = v1alpha1.Managed }

// installed is a cluster of some replicas whose bootstrap is gone, and of whose guest all is known and well.
func installed(t *testing.T, replicas int32, how ...func(*v1alpha1.OpenShiftControlPlane)) *world {
	t.Helper()
	w := newWorld(t, append(frame("z1", "z2", "z3"), asked(replicas, how...))...)
	w.must((*Seen).CreateMachines)
	w.clusterAPI()
	w.must((*Seen).CreateMachines, (*Seen).MarkInitialized, (*Seen).MarkFinished)
	for range 3 {
		w.must((*Seen).RemoveBootstrap)
		w.clusterAPI()
	}
	w.healthy()
	w.must((*Seen).HandOver)
	w.writes = nil
	return w
}

// healthy has the guest say that every Machine has a Node that is Ready and a member of etcd.
func (w *world) healthy() {
	w.t.Helper()
	list := &clusterv1.MachineList{}
	if err := w.api.List(w.t.Context(), list); err != nil {
		w.t.Fatal(err)
	}
	w.guest = Guest{Known: true, Fresh: true, Etcd: Etcd{Known: true}}
	for _, m := range list.Items {
		if m.Status.NodeRef.Name != "" {
			w.guest.Nodes = append(w.guest.Nodes, Node{Name: m.Status.NodeRef.Name, Ready: true})
			w.guest.Etcd.Endpoints = append(w.guest.Etcd.Endpoints, ipOf(m.Name))
		}
	}
}

// outOfEtcd has etcd lose its member on a Machine.
func (w *world) outOfEtcd(name string) {
	w.guest.Etcd.Endpoints = slices.DeleteFunc(w.guest.Etcd.Endpoints, func(at string) bool { return at == ipOf(name) })
}

func relabelled(p *v1alpha1.OpenShiftControlPlane) {
	p.Spec.MachineTemplate.ObjectMeta = clusterv1.ObjectMeta{Labels: map[string]string{"team": "y"}, Annotations: map[string]string{"new": "z"}}
	p.Spec.MachineTemplate.Spec.Deletion.NodeDrainTimeoutSeconds = one(int32(9))
	p.Spec.MachineTemplate.Spec.Taints = []clusterv1.MachineTaint{{Key: "k", Effect: "NoSchedule", Propagation: clusterv1.MachineTaintPropagationAlways}}
}

func labelled(p *v1alpha1.OpenShiftControlPlane) {
	p.Spec.MachineTemplate.ObjectMeta = clusterv1.ObjectMeta{Labels: map[string]string{"team": "x", "old": "x"}, Annotations: map[string]string{"note": "x"}}
}

func TestKeep_changes_in_place_what_the_template_says_and_nothing_of_others(t *testing.T) {
	w := installed(t, 1, managed, labelled)
	change(w, w.machine("a-0"), func(m *clusterv1.Machine) { m.Labels["mine"], m.Annotations["mine"] = "m", "m" })
	change(w, w.plane(), relabelled)
	w.must((*Seen).KeepInstalled)
	m, infra, config := w.machine("a-0"), w.infra("a-0"), &v1alpha1.OpenShiftConfig{}
	w.get(config, "a-0")
	for _, object := range []client.Object{m, infra, config} {
		labels, annotations := object.GetLabels(), object.GetAnnotations()
		_, old := labels["old"]
		_, note := annotations["note"]
		if labels["team"] != "y" || old || annotations["new"] != "z" || note || labels[v1alpha1.RoleLabel] != "master" {
			t.Errorf("%T has %v, %v", object, labels, annotations)
		}
	}
	if m.Labels["mine"] != "m" || m.Annotations["mine"] != "m" || infra.GetLabels()["of"] != "the template" {
		t.Errorf("what is of others is gone: %v, %v, %v", m.Labels, m.Annotations, infra.GetLabels())
	}
	if *m.Spec.Deletion.NodeDrainTimeoutSeconds != 9 || *m.Spec.Deletion.NodeDeletionTimeoutSeconds != 10 || len(m.Spec.Taints) != 1 {
		t.Errorf("the Machine has %+v", m.Spec)
	}
	w.writes = nil
	w.must((*Seen).KeepInstalled)
	if w.writes != nil {
		t.Errorf("what is as it is to be was written: %v", w.writes)
	}
}

func TestKeep_writes_under_Handover_until_the_cluster_is_installed_and_no_more(t *testing.T) {
	w := finished(t)
	change(w, w.plane(), labelled)
	w.must((*Seen).RemoveBootstrap)
	if w.machine("a-0").Labels["team"] != "x" {
		t.Error("while operators come up, it is not kept")
	}
	w = installed(t, 1)
	change(w, w.plane(), labelled)
	w.must((*Seen).HandOver, (*Seen).KeepInstalled, (*Seen).ScaleMachines, (*Seen).ReplaceMachine)
	if w.writes != nil {
		t.Errorf("it wrote %v", w.writes)
	}
}

func TestKeep_says_of_each_Machine_that_it_is_up_to_date(t *testing.T) {
	w := installed(t, 3)
	for _, name := range []string{"a-0", "a-1", "a-2"} {
		if c := meta.FindStatusCondition(w.machine(name).Status.Conditions, clusterv1.MachineUpToDateCondition); c == nil || c.Status != "True" || !c.LastTransitionTime.Time.Equal(noon) {
			t.Errorf("%s says %+v", name, c)
		}
	}
	if _, facts := w.see(); facts.Counts.UpToDate != 3 || facts.Counts.Replicas != 3 {
		t.Errorf("the counts are %+v", facts.Counts)
	}
}

func TestKeep_that_somebody_is_quicker_than_to_say_that_a_Machine_is_up_to_date_is_no_error(t *testing.T) {
	w := installed(t, 1, managed)
	change(w, w.machine("a-0"), func(m *clusterv1.Machine) {
		meta.RemoveStatusCondition(&m.Status.Conditions, clusterv1.MachineUpToDateCondition)
	})
	w.maker.told.forget(w.machine("a-0").UID)
	asked := 0
	w.refuse = func(verb, what string) error {
		if verb != "patch status of" || what != "Machine a-0" {
			return nil
		}
		asked++
		return apierrors.NewInvalid(machines.GroupKind(), "a-0", nil)
	}
	if result, err := w.do((*Seen).KeepInstalled); err != nil || result.LookAgain == 0 || asked != 1 {
		t.Errorf("%+v, %v, asked %d times", result, err, asked)
	}
	w.refuse = nil
	w.must((*Seen).KeepInstalled)
	if meta.FindStatusCondition(w.machine("a-0").Status.Conditions, clusterv1.MachineUpToDateCondition) == nil {
		t.Error("it is not said later")
	}
}

func TestHandOver_sets_hooks_under_Managed_and_takes_them_off_under_Handover(t *testing.T) {
	w := installed(t, 3, managed)
	hooked := func() (names []string) {
		for _, name := range []string{"a-0", "a-1", "a-2"} {
			if _, has := w.machine(name).Annotations[deletionHook]; has {
				names = append(names, name)
			}
		}
		return names
	}
	if got := hooked(); len(got) != 3 {
		t.Errorf("hooks are on %v", got)
	}
	change(w, w.plane(), func(p *v1alpha1.OpenShiftControlPlane) { p.Spec.Management = v1alpha1.Handover })
	w.must((*Seen).KeepInstalled)
	if got := hooked(); got != nil {
		t.Errorf("hooks are on %v", got)
	}
}

func TestKeep_lifts_the_hook_once_etcd_does_without_the_member(t *testing.T) {
	w := installed(t, 3, managed)
	if err := w.api.Delete(t.Context(), w.machine("a-1")); err != nil {
		t.Fatal(err)
	}
	held := func() bool {
		w.t.Helper()
		w.must((*Seen).KeepInstalled)
		_, has := w.machine("a-1").Annotations[deletionHook]
		return has
	}
	if !held() {
		t.Error("it was lifted while etcd has the member")
	}
	w.outOfEtcd("a-1")
	known := w.guest
	w.guest = Guest{}
	if !held() {
		t.Error("it was lifted while nothing is known of etcd")
	}
	w.guest = known
	if held() {
		t.Error("it holds, and etcd does without the member")
	}
	if got := strings.Join(w.writes, ", "); got != "patch Machine a-1" {
		t.Errorf("it wrote %s", got)
	}
}

func TestKeep_leaves_a_Machine_for_later_that_somebody_else_has_written(t *testing.T) {
	w := installed(t, 1, managed)
	change(w, w.plane(), labelled)
	s, _ := w.see()
	change(w, w.machine("a-0"), func(m *clusterv1.Machine) { m.Labels["mine"] = "m" })
	result, err := s.KeepInstalled(t.Context())
	if err != nil || result.LookAgain == 0 {
		t.Errorf("%+v, %v", result, err)
	}
	w.must((*Seen).KeepInstalled)
	if got := w.machine("a-0").Labels; got["mine"] != "m" || got["team"] != "x" {
		t.Errorf("the labels are %v", got)
	}
}

func TestCreateMachines_give_a_Machine_its_config_back_before_it_was_started(t *testing.T) {
	w := newWorld(t, append(frame(), asked(1))...)
	w.must((*Seen).CreateMachines)
	want := w.all()
	lose := func() {
		t.Helper()
		config := &v1alpha1.OpenShiftConfig{}
		w.get(config, "a-0")
		if err := w.api.Delete(t.Context(), config); err != nil {
			t.Fatal(err)
		}
		w.must((*Seen).CreateMachines)
	}
	if lose(); !reflect.DeepEqual(w.all(), want) {
		t.Errorf("there are %v", w.all())
	}
	w.clusterAPI()
	if lose(); slices.Contains(w.all(), "OpenShiftConfig a-0") {
		t.Error("a machine that runs has got another config")
	}
}

func TestHandOver_has_the_Cluster_own_templates_that_were_made_anew(t *testing.T) {
	w := installed(t, 1)
	read := func() client.Object {
		one := template("masters", "large")
		w.get(one, "masters")
		return one
	}
	if err := w.api.Delete(t.Context(), read()); err != nil {
		t.Fatal(err)
	}
	w.must((*Seen).HandOver) // one that is gone holds nothing up
	anew := template("masters", "large")
	anew.SetOwnerReferences(nil)
	if err := w.api.Create(t.Context(), anew); err != nil {
		t.Fatal(err)
	}
	w.must((*Seen).HandOver)
	if owners := read().GetOwnerReferences(); len(owners) != 1 || owners[0].UID != "c1" {
		t.Errorf("it is owned by %v", owners)
	}
	w.writes = nil
	w.must((*Seen).HandOver)
	if w.writes != nil {
		t.Errorf("it wrote %v", w.writes)
	}
}

func TestFinalizer_that_somebody_has_taken_off_is_put_back_before_anything_else_is_made(t *testing.T) {
	for name, work := range map[string]work{"KeepInstalled": (*Seen).KeepInstalled, "RemoveBootstrap": (*Seen).RemoveBootstrap, "ScaleMachines": (*Seen).ScaleMachines} {
		w := installed(t, 3, managed)
		change(w, w.plane(), func(p *v1alpha1.OpenShiftControlPlane) { p.Finalizers = nil })
		resize(w, 5)
		w.writes = nil
		w.must(work)
		if !slices.Contains(w.plane().Finalizers, v1alpha1.Finalizer) || w.writes[0] != "patch OpenShiftControlPlane a" {
			t.Errorf("%s: finalizers %v after %v", name, w.plane().Finalizers, w.writes)
		}
	}
}
