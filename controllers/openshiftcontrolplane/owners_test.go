package openshiftcontrolplane

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/controllers/provider/options"
	"github.com/capstan-capi/capstan/machine"
)

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, clusterv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// named is the metadata of an object of Cluster c.
func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "fleet", Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: "c"}}
}

func TestOwners_tell_whom_an_object_matters_to(t *testing.T) {
	yes := true
	plane := &v1alpha1.OpenShiftControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a"}}
	plane.Spec.InstallStateSecretRef.Name = "state"
	plane.Spec.ManifestsSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"manifests": "a"}}
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "c"}}
	cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: v1alpha1.GroupVersion.Group, Kind: kind, Name: "a"}
	other := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "d"}}
	other.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: "controlplane.cluster.x-k8s.io", Kind: "KubeadmControlPlane", Name: "a"}
	ours := named("a-0")
	ours.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "b", Controller: &yes}}
	o := owners{in: fake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(plane, cluster, other).Build()}

	secretOf := func(meta metav1.ObjectMeta) client.Object { s := options.Secret(); s.ObjectMeta = meta; return s }
	for name, row := range map[string]struct {
		got  []machine.Key
		want []machine.Key
	}{
		"the Cluster":                  {o.ofCluster(cluster), []machine.Key{"fleet/a"}},
		"a Cluster of another kind":    {o.ofCluster(other), nil},
		"a Machine of ours":            {o.ofMachine(&clusterv1.Machine{ObjectMeta: ours}), []machine.Key{"fleet/b"}},
		"a worker":                     {o.ofMachine(&clusterv1.Machine{ObjectMeta: named("w")}), []machine.Key{"fleet/a"}},
		"a config":                     {o.ofConfig(&v1alpha1.OpenShiftConfig{ObjectMeta: named("w")}), []machine.Key{"fleet/a"}},
		"a Secret of ours":             {o.ofSecret(secretOf(ours)), []machine.Key{"fleet/b"}},
		"the install state":            {o.ofSecret(secretOf(metav1.ObjectMeta{Namespace: "fleet", Name: "state"})), []machine.Key{"fleet/a"}},
		"manifests":                    {o.ofSecret(secretOf(metav1.ObjectMeta{Namespace: "fleet", Name: "m", Labels: map[string]string{"manifests": "a"}})), []machine.Key{"fleet/a"}},
		"a kubeconfig":                 {o.ofSecret(secretOf(named("c-kubeconfig"))), []machine.Key{"fleet/a"}},
		"a Secret of another":          {o.ofSecret(secretOf(metav1.ObjectMeta{Namespace: "fleet", Name: "x"})), nil},
		"a Secret of other namespaces": {o.ofSecret(secretOf(metav1.ObjectMeta{Namespace: "other", Name: "state"})), nil},
	} {
		if !slices.Equal(row.got, row.want) {
			t.Errorf("%s matters to %v, want %v", name, row.got, row.want)
		}
	}
}

func TestMachineMatters_lets_no_words_through(t *testing.T) {
	before := &clusterv1.Machine{ObjectMeta: named("a-0")}
	before.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Message: "1 of 2"}}
	words, ready := before.DeepCopy(), before.DeepCopy()
	words.Status.Conditions[0].Message = "2 of 2"
	ready.Status.Conditions[0].Status = metav1.ConditionTrue
	if machineMatters.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: words}) || !machineMatters.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: ready}) {
		t.Error("of a Machine the conditions matter, and their words do not")
	}
}

func TestConfigMatters_lets_through_what_a_machine_waits_for_that_cannot_be_started(t *testing.T) {
	before := &v1alpha1.OpenShiftConfig{ObjectMeta: named("a-0")}
	before.Spec.Role, before.Status.State = v1alpha1.MasterRole, "Publishing"
	for name, row := range map[string]struct {
		change func(*v1alpha1.OpenShiftConfig)
		want   bool
	}{
		"it stands still": {func(c *v1alpha1.OpenShiftConfig) { c.Status.State, c.Status.Waits = "AwaitingPayload", "an upload" }, true},
		"it has failed":   {func(c *v1alpha1.OpenShiftConfig) { c.Status.State, c.Status.Waits = "Failed", "a conflict" }, true},
		"it goes on":      {func(c *v1alpha1.OpenShiftConfig) { c.Status.Waits = "the Secret" }, false},
		"a worker stands still": {func(c *v1alpha1.OpenShiftConfig) {
			c.Spec.Role, c.Status.State, c.Status.Waits = v1alpha1.WorkerRole, "AwaitingPayload", "the API"
		}, false},
		"what it has had is ready": {func(c *v1alpha1.OpenShiftConfig) {
			c.Status.Initialization.DataSecretCreated, c.Status.State, c.Status.Waits = new(true), "Failed", "x"
		}, false},
	} {
		now := before.DeepCopy()
		row.change(now)
		if got := configMatters.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: now}); got != row.want {
			t.Errorf("%s: it is let through: %t", name, got)
		}
	}
}
