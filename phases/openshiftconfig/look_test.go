package openshiftconfig

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftconfig"
)

func yes() *bool {
	is := true
	return &is
}

func TestRead_tells_facts_of_a_config_its_Machine_and_its_Cluster(t *testing.T) {
	config := &v1alpha1.OpenShiftConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a"}, Spec: v1alpha1.OpenShiftConfigSpec{Role: v1alpha1.WorkerRole}}
	owned := config.DeepCopy()
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Machine", Name: "a", UID: "m1"}}
	labelled := config.DeepCopy()
	labelled.Labels = map[string]string{clusterv1.ClusterNameLabel: "c"}
	labelled.Annotations = map[string]string{clusterv1.PausedAnnotation: "true"}
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a", UID: "m1"}}
	machine.Spec.ClusterName = "c"
	machine.Status.Initialization.InfrastructureProvisioned = yes()
	machine.Status.NodeRef.Name = "n"
	moved := machine.DeepCopy()
	moved.Status, moved.Spec.ProviderID = clusterv1.MachineStatus{}, "aws:///i-1"
	another := machine.DeepCopy()
	another.UID = "m2"
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "c"}}
	cluster.Spec.Paused = yes()
	cluster.Status.Initialization.ControlPlaneInitialized = yes()

	object := guards.Object{Namespace: "fleet", Name: "a", Role: guards.Worker}
	paused := object
	paused.Paused = true
	of := guards.Cluster{Known: true, Name: "c", Paused: true, Initialized: true}
	alone := guards.Facts{Seen: true, Object: object, Machine: guards.Machine{Known: true}, Cluster: guards.Cluster{Known: true}}
	for name, row := range map[string]struct {
		objects []client.Object
		want    guards.Facts
	}{
		"none":                        {nil, guards.Facts{}},
		"no owner":                    {[]client.Object{config}, alone},
		"no owner, and a Cluster":     {[]client.Object{labelled, cluster}, guards.Facts{Seen: true, Object: paused, Machine: guards.Machine{Known: true}, Cluster: of}},
		"the owner is gone":           {[]client.Object{owned, cluster}, alone},
		"another Machine of the name": {[]client.Object{owned, another, cluster}, alone},
		"the Cluster is gone": {[]client.Object{owned, machine}, guards.Facts{
			Seen: true, Object: object, Machine: guards.Machine{Known: true, Name: "a", Provisioned: true, Node: "n"}, Cluster: guards.Cluster{Known: true},
		}},
		"one that has just come from another plane, which has dropped its status": {[]client.Object{owned, moved, cluster}, guards.Facts{
			Seen: true, Object: object, Machine: guards.Machine{Known: true, Name: "a", Provisioned: true}, Cluster: of,
		}},
		"all": {[]client.Object{owned, machine, cluster}, guards.Facts{
			Seen: true, Object: object, Machine: guards.Machine{Known: true, Name: "a", Provisioned: true, Node: "n"}, Cluster: of,
		}},
	} {
		scheme := runtime.NewScheme()
		for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, clusterv1.AddToScheme} {
			if err := add(scheme); err != nil {
				t.Fatal(err)
			}
		}
		look, err := Read(t.Context(), fake.NewClientBuilder().WithScheme(scheme).WithObjects(row.objects...).Build(), client.ObjectKey{Namespace: "fleet", Name: "a"})
		if err != nil {
			t.Fatal(err)
		}
		if got := look.Facts(); got != row.want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", name, got, row.want)
		}
	}
}
