package machines

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/standing"
)

func of(names ...string) []string {
	var all []string
	for _, name := range names {
		all = append(all, "BoxMachine "+name, "Machine "+name, "OpenShiftConfig "+name)
	}
	slices.Sort(all)
	return all
}

func TestCreateMachines_makes_three_objects_of_each_machine_under_fixed_names(t *testing.T) {
	w := newWorld(t, append(frame(), asked(3))...)
	w.must((*Seen).CreateMachines)
	if got, want := w.all(), of("a-0", "a-1", "a-2", "a-bootstrap"); !reflect.DeepEqual(got, want) {
		t.Fatalf("there are %v, want %v", got, want)
	}
	if order := w.writes[:6]; !reflect.DeepEqual(order, []string{
		"patch OpenShiftControlPlane a", "patch OpenShiftControlPlane a",
		"create OpenShiftConfig a-bootstrap", "create BoxMachine a-bootstrap", "create Machine a-bootstrap", "patch OpenShiftControlPlane a",
	}) {
		t.Errorf("it was made in the order %v", order)
	}
	p := w.plane()
	if mark := p.Annotations[v1alpha1.BootstrapMark]; mark != string(w.machine("a-bootstrap").UID) || !slices.Contains(p.Finalizers, v1alpha1.Finalizer) {
		t.Errorf("mark %q, finalizers %v", mark, p.Finalizers)
	}
	w.writes = nil
	if w.clusterAPI(); w.writes != nil {
		t.Fatal("the works' writes are counted only")
	}
	w.again((*Seen).CreateMachines)
	for _, write := range w.writes {
		if write[:len("patch status of")] != "patch status of" {
			t.Errorf("what is whole was written: %s", write)
		}
	}
	if len(w.writes) != 4 {
		t.Errorf("of each Machine it is said once that it is up to date: %v", w.writes)
	}
}

func TestCreateMachines_are_as_Cluster_API_wants_them_without_its_webhooks(t *testing.T) {
	p := asked(1, func(p *v1alpha1.OpenShiftControlPlane) {
		p.Spec.MachineTemplate.ObjectMeta = clusterv1.ObjectMeta{Labels: map[string]string{"team": "x", clusterv1.ClusterNameLabel: "other"}, Annotations: map[string]string{"note": "y"}}
		p.Spec.MachineTemplate.Spec.Deletion.NodeDrainTimeoutSeconds = one(int32(7))
		p.Spec.MachineTemplate.Spec.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "Gate"}}
		p.Spec.BootstrapMachine.InfrastructureRef = &clusterv1.ContractVersionedObjectReference{APIGroup: infraGV.Group, Kind: infraTemplate.Kind, Name: "small"}
	})
	w := newWorld(t, append(frame("z1"), p)...)
	w.must((*Seen).CreateMachines)
	for name, role := range map[string]v1alpha1.Role{"a-0": v1alpha1.MasterRole, "a-bootstrap": v1alpha1.BootstrapRole} {
		m, config, infra := w.machine(name), &v1alpha1.OpenShiftConfig{}, w.infra(name)
		w.get(config, name)
		labels := map[string]string{
			"team": "x", clusterv1.ClusterNameLabel: "c", clusterv1.MachineControlPlaneLabel: "", clusterv1.MachineControlPlaneNameLabel: "a",
			v1alpha1.RoleLabel: string(role),
		}
		for _, object := range []client.Object{m, config, infra} {
			for key, value := range labels {
				if got, has := object.GetLabels()[key]; !has || got != value {
					t.Errorf("%s %s: label %s is %q, want %q", name, object.GetObjectKind(), key, got, value)
				}
			}
			if object.GetAnnotations()["note"] != "y" {
				t.Errorf("%s: annotations are %v", name, object.GetAnnotations())
			}
			if _, skips := object.GetAnnotations()[clusterv1.MachineSkipRemediationAnnotation]; skips != (role == v1alpha1.BootstrapRole) {
				t.Errorf("%s: health checks are kept off: %t", name, skips)
			}
			owner := object.GetOwnerReferences()[0]
			if owner.UID != "p1" || (owner.Controller != nil && *owner.Controller) != (object == client.Object(m)) {
				t.Errorf("%s %T: owner %+v", name, object, owner)
			}
		}
		want := clusterv1.MachineSpec{
			ClusterName:       "c",
			Bootstrap:         clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{APIGroup: v1alpha1.GroupVersion.Group, Kind: "OpenShiftConfig", Name: name}},
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infraGV.Group, Kind: infraKind.Kind, Name: name},
			FailureDomain:     "z1", MinReadySeconds: one(int32(0)),
			ReadinessGates: []clusterv1.MachineReadinessGate{{ConditionType: "Gate"}},
			Deletion:       clusterv1.MachineDeletionSpec{NodeDrainTimeoutSeconds: one(int32(7)), NodeDeletionTimeoutSeconds: one(int32(10))},
		}
		if !reflect.DeepEqual(m.Spec, want) {
			t.Errorf("%s: spec is %+v\nwant %+v", name, m.Spec, want)
		}
		size := map[v1alpha1.Role]string{v1alpha1.MasterRole: "large", v1alpha1.BootstrapRole: "small"}[role]
		if spec := infra.Object["spec"]; !reflect.DeepEqual(spec, map[string]any{"size": size}) || infra.GetLabels()["of"] != "the template" {
			t.Errorf("%s: the infrastructure machine has %v, %v", name, spec, infra.GetLabels())
		}
		if infra.GetAnnotations()[clusterv1.TemplateClonedFromNameAnnotation] == "" {
			t.Errorf("%s: it is not said what it was cloned from", name)
		}
		if config.Spec.Role != role || config.Spec.ControlPlaneRef.Name != "a" {
			t.Errorf("%s: the config is %+v", name, config.Spec)
		}
	}
}

func TestCreateMachines_spread_over_failure_domains(t *testing.T) {
	objects := append(frame("z2", "z1", "z3"), asked(3))
	cluster, _ := objects[0].(*clusterv1.Cluster)
	cluster.Status.FailureDomains = append(cluster.Status.FailureDomains, clusterv1.FailureDomain{Name: "z0"})
	w := newWorld(t, objects...)
	w.must((*Seen).CreateMachines)
	for name, domain := range map[string]string{"a-0": "z1", "a-1": "z2", "a-2": "z3", "a-bootstrap": "z1"} {
		if got := w.machine(name).Spec.FailureDomain; got != domain {
			t.Errorf("%s is in %s, want %s", name, got, domain)
		}
	}
}

func TestCreateMachines_one_after_the_other_wait_for_the_bootstrap_machine(t *testing.T) {
	w := newWorld(t, append(frame(), asked(1, func(p *v1alpha1.OpenShiftControlPlane) { p.Spec.BootstrapMachine.Sequential = one(true) }))...)
	w.again((*Seen).CreateMachines)
	if got := w.all(); !reflect.DeepEqual(got, of("a-bootstrap")) {
		t.Fatalf("there are %v", got)
	}
	w.clusterAPI()
	w.must((*Seen).CreateMachines)
	if got := w.all(); !reflect.DeepEqual(got, of("a-0", "a-bootstrap")) {
		t.Errorf("there are %v", got)
	}
}

func TestCreateMachines_without_a_template_say_which_and_go_on_once_it_is_there(t *testing.T) {
	objects := slices.DeleteFunc(frame(), func(object client.Object) bool { return object.GetName() == "masters" })
	p := asked(1, func(p *v1alpha1.OpenShiftControlPlane) {
		p.Spec.BootstrapMachine.InfrastructureRef = &clusterv1.ContractVersionedObjectReference{APIGroup: infraGV.Group, Kind: infraTemplate.Kind, Name: "small"}
	})
	w := newWorld(t, append(objects, p)...)
	_, err := w.do((*Seen).CreateMachines)
	if err == nil || machine.IsTerminal(err) {
		t.Fatalf("the error is %v", err)
	}
	if w.machine("a-bootstrap"); len(w.all()) != 4 {
		t.Errorf("the others are held up: %v", w.all())
	}
	if err := w.api.Create(t.Context(), template("masters", "large")); err != nil {
		t.Fatal(err)
	}
	w.must((*Seen).CreateMachines)
	if got := w.all(); !reflect.DeepEqual(got, of("a-0", "a-bootstrap")) {
		t.Errorf("there are %v", got)
	}
}

func TestCreateMachines_overwrite_nothing_of_others(t *testing.T) {
	foreign := metav1.ObjectMeta{Namespace: "fleet", Name: "a-0", UID: "f", Labels: map[string]string{clusterv1.ClusterNameLabel: "c"}}
	infra := template("a-0", "theirs")
	infra.SetGroupVersionKind(infraKind)
	owned := *foreign.DeepCopy()
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Name: "a-0", UID: "f", Controller: one(true)}}
	for name, objects := range map[string][]client.Object{
		"a config":                  {&v1alpha1.OpenShiftConfig{ObjectMeta: foreign}},
		"an infrastructure machine": {infra},
		"a Machine":                 {&clusterv1.Machine{ObjectMeta: foreign}},
		"a Machine and its config":  {&clusterv1.Machine{ObjectMeta: foreign}, &v1alpha1.OpenShiftConfig{ObjectMeta: owned}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, append(append(frame(), asked(3)), objects...)...)
			_, err := w.do((*Seen).CreateMachines)
			var conflict *standing.ConflictError
			if !errors.As(err, &conflict) || conflict.Key != "fleet/a-0" || !machine.IsTerminal(err) {
				t.Fatalf("the error is %v", err)
			}
			for _, write := range w.writes {
				if write == "patch "+conflict.Kind+" a-0" || write == "delete "+conflict.Kind+" a-0" {
					t.Errorf("somebody's was written: %s", write)
				}
			}
			w.machine("a-2") // the others are not held up
			for _, object := range objects {
				if err := w.api.Delete(t.Context(), object); err != nil {
					t.Fatal(err)
				}
			}
			w.must((*Seen).CreateMachines)
			if got := w.all(); !reflect.DeepEqual(got, of("a-0", "a-1", "a-2", "a-bootstrap")) {
				t.Errorf("there are %v", got)
			}
		})
	}
}

func TestCreateMachines_wait_for_the_end_of_what_has_the_name(t *testing.T) {
	config := &v1alpha1.OpenShiftConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a-0", UID: "f", Finalizers: []string{"x/y"}}}
	orphan := &v1alpha1.OpenShiftConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a-0", UID: "f", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Name: "a-0", UID: "gone", Controller: one(true)},
	}}}
	for name, object := range map[string]*v1alpha1.OpenShiftConfig{"it is being deleted": config, "its Machine is gone": orphan} {
		w := newWorld(t, append(frame(), asked(1), object)...)
		if object == config {
			if err := w.api.Delete(t.Context(), object); err != nil {
				t.Fatal(err)
			}
		}
		result, err := w.do((*Seen).CreateMachines)
		if err != nil || result.LookAgain == 0 {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
		if slices.Contains(w.all(), "Machine a-0") {
			t.Errorf("%s: the Machine was made with it", name)
		}
	}
}

func TestSee_tells_what_there_is(t *testing.T) {
	w := newWorld(t, append(frame(), asked(3), secret("a-ignition-bootstrap"), secret("c-ca"))...)
	if _, facts := w.see(); facts.Bootstrap.UID != "" || facts.Provisioned.Done != 0 || !facts.Provisioned.Known || facts.Attempt.IsDone() {
		t.Errorf("at first there is %+v", facts)
	}
	w.must((*Seen).CreateMachines)
	_, facts := w.see()
	if facts.Bootstrap.UID == "" || facts.Bootstrap.Provisioned || facts.Provisioned.Done != 0 || len(facts.Provisioned.Missing) != 3 || facts.Counts.Replicas != 3 {
		t.Errorf("made, there is %+v", facts)
	}
	w.clusterAPI()
	change(w, w.machine("a-1"), func(m *clusterv1.Machine) {
		m.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "R"}, {Type: "Available", Status: metav1.ConditionTrue, Reason: "R"}}
	})
	_, facts = w.see()
	want := guards.Counts{Known: true, Replicas: 3, Ready: 1, Available: 1, Selector: facts.Counts.Selector}
	if !facts.Bootstrap.Provisioned || !facts.Provisioned.IsDone() || facts.Counts != want {
		t.Errorf("provisioned, there is %+v", facts)
	}
	if removal := facts.Bootstrap.Removal; removal.Done != 0 || len(removal.Missing) != 3 {
		t.Errorf("of the bootstrap there is %+v", removal)
	}
	if left := facts.Attempt.Missing; len(left) != 10 {
		t.Errorf("of the attempt there is %v", left)
	}
}

func TestCreateMachines_are_seen_by_whoever_filters_by_the_label_of_the_control_plane(t *testing.T) {
	filtered := asked(1)
	filtered.Labels = map[string]string{clusterv1.WatchLabel: "mine"}
	w := newWorld(t, append(frame(), filtered)...)
	w.must((*Seen).CreateMachines)
	config := &v1alpha1.OpenShiftConfig{}
	if err := w.api.Get(t.Context(), client.ObjectKey{Namespace: filtered.Namespace, Name: "a-0"}, config); err != nil {
		t.Fatal(err)
	}
	if config.Labels[clusterv1.WatchLabel] != "mine" || w.machine("a-0").Labels[clusterv1.WatchLabel] != "mine" {
		t.Errorf("the config has labels %v", config.Labels)
	}
}
