package joint

import (
	"context"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/openshiftcontrolplane/machines"
	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/ignition"
	"github.com/capstan-capi/capstan/phases/payload/job"
)

type action = machine.Action[phases.Works]

func TestWorks_write_all_that_they_name_and_nothing_else(t *testing.T) {
	l := &ledger{}
	t.Run("inputs", func(t *testing.T) { noteInputs(t, l) })
	t.Run("an installer", func(t *testing.T) { noteInstaller(t, l) })
	for state, one := range map[machine.State]action{
		guards.CreatingMachines: phases.CreateMachines, guards.AwaitingAPI: phases.ProbeAPI, guards.Bootstrapping: phases.WatchBootstrap,
	} {
		t.Run(one.Name, func(t *testing.T) { noteMaking(t, l, state, one) })
	}
	for state, one := range map[machine.State]action{
		guards.RemovingBootstrap: phases.RemoveBootstrap, guards.Settling: phases.Settle, guards.Installed: phases.KeepInstalled,
		guards.Upgrading: phases.AskUpgrade, guards.Scaling: phases.ScaleMachines, guards.Remediating: phases.ReplaceMachine,
	} {
		t.Run(one.Name, func(t *testing.T) { noteKeeping(t, l, state, one) })
	}
	t.Run("one machine less", func(t *testing.T) { noteScaling(t, l) })
	t.Run("another machine", func(t *testing.T) { noteReplacing(t, l) })
	t.Run("ClearAttempt", func(t *testing.T) { noteClearing(t, l) })
	t.Run("DeleteCluster", func(t *testing.T) { noteDeleting(t, l) })
	l.Whole(t, "../../../docs/state-diagrams/openshiftcontrolplane.md",
		phases.ResolveInputs, phases.FreezeInputs, phases.GenerateIgnition, phases.CreateMachines, phases.ProbeAPI, phases.MarkInitialized,
		phases.WatchBootstrap, phases.MarkFinished, phases.RemoveBootstrap, phases.Settle, phases.HandOver, phases.KeepInstalled, phases.AskUpgrade,
		phases.ScaleMachines, phases.ReplaceMachine, phases.ClearAttempt, phases.DeleteCluster)
}

// disowns takes the owners off the template, and unbinds the finalizer off the OpenShiftControlPlane, as people do.
func disowns(w *world) {
	template := &unstructured.Unstructured{}
	template.SetGroupVersionKind(infraTemplate)
	edit(w, template, "masters", func(o *unstructured.Unstructured) { o.SetOwnerReferences(nil) })
}

func unbinds(w *world) {
	plane(w, func(p *v1alpha1.OpenShiftControlPlane) { p.Finalizers = nil })
}

func noteInputs(t *testing.T, l *ledger) {
	w := newWorld(t, l)
	w.do(guards.ResolvingInputs, phases.ResolveInputs)
	disowns(w)
	w.do(guards.ResolvingInputs, phases.FreezeInputs)
	disowns(w)
	unbinds(w)
	w.do(guards.GeneratingIgnition, phases.GenerateIgnition)
	if !w.has(&corev1.Secret{}, payload.SecretName("a", payload.Master)) {
		t.Error("there is no payload")
	}
	// It ends, and the Machine that was intended was never made.
	plane(w, func(p *v1alpha1.OpenShiftControlPlane) {
		p.Annotations[v1alpha1.BootstrapMark] = v1alpha1.BootstrapIntended
	})
	w.now = noon.Add(payload.Lifetime)
	w.do(guards.GeneratingIgnition, phases.GenerateIgnition)
}

func noteInstaller(t *testing.T, l *ledger) {
	w := newWorld(t, l, func(p *v1alpha1.OpenShiftControlPlane) {
		p.Spec.Ignition = v1alpha1.Ignition{Engine: v1alpha1.InstallerJob, InstallerImage: "registry.example.com/installer@sha256:" + strings.Repeat("1", 64)}
	})
	w.do(guards.ResolvingInputs, phases.ResolveInputs, phases.FreezeInputs)
	w.do(guards.GeneratingIgnition, phases.GenerateIgnition)
	list := &batchv1.JobList{}
	must(t, w.api.List(t.Context(), list))
	if len(list.Items) != 1 {
		t.Fatalf("there are %d Jobs", len(list.Items))
	}
	text, err := ignition.Render(ignition.Content{})
	must(t, err)
	made, err := job.Pack(payload.Payload{Bootstrap: text, Master: text, Worker: text})
	must(t, err)
	edit(w, &corev1.Secret{}, list.Items[0].Name, func(s *corev1.Secret) { s.Data = made })
	w.do(guards.GeneratingIgnition, phases.GenerateIgnition)
	if w.has(&batchv1.Job{}, list.Items[0].Name) {
		t.Error("the Job is left")
	}
}

// noteMaking has machines made by one work, and what is given to them changed.
func noteMaking(t *testing.T, l *ledger, state machine.State, one action) {
	w := newWorld(t, l, frozen)
	if state == guards.Bootstrapping {
		// What never makes the bootstrap Machine takes up one whose UID nobody has noted yet.
		w.do(guards.CreatingMachines, phases.CreateMachines)
		w.do(guards.AwaitingAPI, phases.MarkInitialized)
		plane(w, func(p *v1alpha1.OpenShiftControlPlane) {
			p.Annotations[v1alpha1.BootstrapMark] = v1alpha1.BootstrapIntended
		})
		w.loses(&clusterv1.Machine{}, "a-2")
		w.loses(&v1alpha1.OpenShiftConfig{}, "a-2")
		unbinds(w)
		disowns(w)
	}
	w.do(state, one, one)
	w.provisions()
	relabels(w)
	w.do(state, one)
}

// relabels changes what machines are given.
func relabels(w *world) {
	plane(w, func(p *v1alpha1.OpenShiftControlPlane) {
		p.Spec.MachineTemplate.ObjectMeta.Labels = map[string]string{"rack": "7"}
	})
}

// installed is a world whose bootstrap is finished and still there, with a payload and its keys.
func installed(t *testing.T, l *ledger) *world {
	w := newWorld(t, l, frozen)
	for _, role := range payload.Roles {
		w.ours(&corev1.Secret{}, payload.SecretName("a", role), map[string]string{v1alpha1.PayloadNotAfterAnnotation: noon.Format(time.RFC3339)})
	}
	w.ours(&corev1.Secret{}, payload.KeysName("a"), map[string]string{v1alpha1.PayloadNotAfterAnnotation: noon.Format(time.RFC3339)})
	w.do(guards.CreatingMachines, phases.CreateMachines)
	w.provisions()
	w.do(guards.AwaitingAPI, phases.MarkInitialized)
	w.do(guards.Bootstrapping, phases.MarkFinished)
	return w
}

// noteKeeping has the work of an installed cluster keep what changes, and remove what is left of the bootstrap.
func noteKeeping(t *testing.T, l *ledger, state machine.State, one action) {
	w := installed(t, l)
	if state == guards.Upgrading {
		w.asks()
		w.provisions()
	}
	relabels(w)
	finished := metav1.NewTime(noon)
	plane(w, func(p *v1alpha1.OpenShiftControlPlane) {
		delete(p.Annotations, v1alpha1.BootstrapFinishedMark)
		p.Status.Bootstrap = &v1alpha1.BootstrapStatus{CompletedAt: &finished}
	})
	unbinds(w)
	w.do(state, one)
	// What is half made is removed, too: of the bootstrap's, only the Machine is gone.
	for range 5 {
		w.do(state, one)
	}
	if name := payload.SecretName("a", payload.Bootstrap); w.has(&corev1.Secret{}, name) {
		t.Errorf("Secret %s is left", name)
	}
	if state == guards.Settling {
		w.provisions()
		plane(w, func(p *v1alpha1.OpenShiftControlPlane) { p.Spec.MachineTemplate.ObjectMeta.Labels = nil })
		disowns(w)
		w.do(state, phases.HandOver)
	}
}

// asks has the guest asked, as is done beside the passes, and waits for what comes of it.
func (w *world) asks() {
	w.t.Helper()
	w.do(guards.Installed, phases.KeepInstalled)
	ctx, stop := context.WithCancel(w.t.Context())
	w.t.Cleanup(stop)
	go func() { _ = w.phases.Guests.Start(ctx) }()
	select {
	case <-w.changed:
	case <-time.After(30 * time.Second):
		w.t.Fatal("the guest was not asked")
	}
}

// healthy is a guest whose Nodes and etcd are, but for the Node of one machine.
func healthy(but string) *machines.Guest {
	g := &machines.Guest{Known: true, Fresh: true, Etcd: machines.Etcd{Known: true}}
	for _, name := range []string{"a-0", "a-1", "a-2"} {
		g.Nodes = append(g.Nodes, machines.Node{Name: "node-of-" + name, Ready: name != but})
		if name != but {
			g.Etcd.Endpoints = append(g.Etcd.Endpoints, "ip-of-"+name)
		}
	}
	return g
}

func noteScaling(t *testing.T, l *ledger) {
	w := installed(t, l)
	w.says = healthy("")
	plane(w, func(p *v1alpha1.OpenShiftControlPlane) { p.Spec.Replicas = new(int32(2)) })
	w.do(guards.Scaling, phases.ScaleMachines)
	if w.has(&clusterv1.Machine{}, "a-2") {
		t.Error("there is no machine less")
	}
	plane(w, func(p *v1alpha1.OpenShiftControlPlane) { p.Spec.Replicas = new(int32(3)) })
	for range 2 {
		w.do(guards.Scaling, phases.ScaleMachines)
	}
	if !w.has(&clusterv1.Machine{}, "a-2") {
		t.Error("there is no machine more")
	}
}

func noteReplacing(t *testing.T, l *ledger) {
	w := installed(t, l)
	edit(w, &clusterv1.Machine{}, "a-1", func(m *clusterv1.Machine) {
		m.Status.Conditions = []metav1.Condition{
			{Type: clusterv1.MachineHealthCheckSucceededCondition, Status: metav1.ConditionFalse, Reason: "NodeNotReady"},
			{Type: clusterv1.MachineOwnerRemediatedCondition, Status: metav1.ConditionFalse, Reason: "WaitingForRemediation"},
		}
	})
	w.says = healthy("a-1")
	w.do(guards.Remediating, phases.ReplaceMachine)
	if w.has(&clusterv1.Machine{}, "a-1") {
		t.Error("it is not deleted")
	}
	w.do(guards.Remediating, phases.ReplaceMachine)
	if !w.has(&clusterv1.Machine{}, "a-1") {
		t.Error("there is no other one")
	}
}

// attempt is a world with all that an attempt may have: machines, one of them half made, Secrets, and an installer.
func attempt(t *testing.T, l *ledger) *world {
	w := newWorld(t, l, frozen)
	w.do(guards.CreatingMachines, phases.CreateMachines)
	w.provisions()
	w.loses(&clusterv1.Machine{}, "a-2")
	for _, one := range []client.Object{&batchv1.Job{}, &corev1.ServiceAccount{}, &rbacv1.Role{}, &rbacv1.RoleBinding{}} {
		w.ours(one, "a-installer-d", nil)
	}
	w.ours(&corev1.Secret{}, "a-installer-d", map[string]string{v1alpha1.PayloadNotAfterAnnotation: noon.Format(time.RFC3339)})
	return w
}

func noteClearing(t *testing.T, l *ledger) {
	w := attempt(t, l)
	plane(w, func(p *v1alpha1.OpenShiftControlPlane) {
		p.Annotations[v1alpha1.RetryAnnotation] = v1alpha1.FromScratch
	})
	for range 10 {
		w.do(guards.Clearing, phases.ClearAttempt)
	}
	plane(w, func(p *v1alpha1.OpenShiftControlPlane) {
		if marks := phases.MarksOf(p); marks != (guards.Marks{}) {
			t.Errorf("the marks %+v are left", marks)
		}
	})
}

func noteDeleting(t *testing.T, l *ledger) {
	w := attempt(t, l)
	must(t, w.api.Delete(t.Context(), &v1alpha1.OpenShiftControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a"}}))
	for range 10 {
		if w.has(&v1alpha1.OpenShiftControlPlane{}, "a") {
			w.do(guards.Deleting, phases.DeleteCluster)
		}
	}
	if w.has(&v1alpha1.OpenShiftControlPlane{}, "a") {
		t.Error("it is left")
	}
}
