package simulated

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

var bases = []phases.Kind{
	{Group: "cluster.x-k8s.io", Resource: "clusters", Kind: "Cluster", Namespaced: true, Status: true},
	{Group: "cluster.x-k8s.io", Resource: "machinesets", Kind: "MachineSet", Namespaced: true, Status: true},
	{Group: "cluster.x-k8s.io", Resource: "machines", Kind: "Machine", Namespaced: true, Status: true},
	{Group: "infrastructure.cluster.x-k8s.io", Resource: "awsclusters", Kind: "AWSCluster", Namespaced: true, Status: true},
	{Group: "infrastructure.cluster.x-k8s.io", Resource: "awsmachines", Kind: "AWSMachine", Namespaced: true, Status: true},
	{Group: "infrastructure.cluster.x-k8s.io", Resource: "awsmachinetemplates", Kind: "AWSMachineTemplate", Namespaced: true},
	{Group: "infrastructure.cluster.x-k8s.io", Resource: "awsmachinepools", Kind: "AWSMachinePool", Namespaced: true, Status: true}, // of which there is none
	{Group: "infrastructure.cluster.x-k8s.io", Resource: "awsidentities", Kind: "AWSIdentity"},
}

// kinds are those of Cluster API on both sides.
func kinds() []phases.Kind {
	var all []phases.Kind
	for _, k := range bases {
		k.Versions = []string{"v1beta2", "v1beta1"}
		all = append(all, k)
		k.Group = phases.Counterpart(k.Group)
		k.Versions = []string{"v1beta1"}
		all = append(all, k)
	}
	return all
}

// kind is one of Cluster API on a side.
func kind(resource string, side phases.Side) phases.Kind {
	for _, k := range kinds() {
		if k.Resource == resource && phases.SideOf(k.Group) == side {
			k.Versions = []string{"v1beta1"}
			return k
		}
	}
	panic("no kind " + resource)
}

func scoped(side phases.Side) phases.Kind { return kind("awsidentities", side) }

var (
	boxes         = phases.Kind{Group: "team.example", Resource: "boxes", Kind: "Box", Versions: []string{"v1"}, Namespaced: true}
	secrets       = phases.Kind{Resource: "secrets", Kind: "Secret", Versions: []string{"v1"}, Namespaced: true}
	controlPlanes = phases.Kind{Group: "hypershift.openshift.io", Resource: "hostedcontrolplanes", Kind: "HostedControlPlane", Versions: []string{"v1beta1"}, Namespaced: true}
)

// AddHosted adds a hosted cluster with some machines, which the old operator has made, and returns its key. It has no mark yet.
func (w *World) AddHosted(name string, machines int) machine.Key {
	o := w.put(phases.HostedClusters, map[string]any{
		"metadata": map[string]any{"namespace": "clusters", "name": name, "finalizers": []any{"hypershift.openshift.io/finalizer"}},
		"spec":     map[string]any{"platform": "AWS"},
	})
	namespace := phases.ControlPlaneNamespace("clusters", name)
	w.put(phases.Namespaces, map[string]any{"metadata": map[string]any{"name": namespace}})
	for _, component := range phases.Components {
		env := []any{map[string]any{"name": "A", "value": "b"}}
		if component.Waits { // it speaks to the hosted cluster, too
			env = append([]any{map[string]any{"name": "KUBECONFIG", "value": "/hosted/kubeconfig"}}, env...)
		}
		w.put(phases.Deployments, map[string]any{
			"metadata": map[string]any{"namespace": namespace, "name": component.Name},
			"spec": map[string]any{
				"replicas": int64(1), "selector": map[string]any{"matchLabels": map[string]any{"app": component.Name}},
				"template": map[string]any{
					"metadata": map[string]any{"labels": map[string]any{"app": component.Name}},
					"spec": map[string]any{"serviceAccountName": component.Name, "initContainers": []any{map[string]any{"name": "first"}}, "containers": []any{map[string]any{
						"name": "main", "image": "registry.example/" + component.Name, "env": env,
					}}},
				},
			},
		})
	}
	plane := w.put(controlPlanes, map[string]any{"metadata": map[string]any{"namespace": namespace, "name": name}})
	w.addClusterAPI(namespace, name, plane, machines)
	for range 5 {
		w.Pass(time.Second)
	}
	w.cloud.log = nil
	return phases.KeyOf(o)
}

// AddEmpty adds a hosted cluster of which nothing was made yet.
func (w *World) AddEmpty(name string) machine.Key {
	return phases.KeyOf(w.put(phases.HostedClusters, map[string]any{"metadata": map[string]any{"namespace": "clusters", "name": name}}))
}

// AddBare adds a hosted cluster of which the namespace alone was made.
func (w *World) AddBare(name string) machine.Key {
	key := w.AddEmpty(name)
	w.MakeNamespace(key)
	return key
}

// MakeNamespace makes the namespace of the control plane of a hosted cluster.
func (w *World) MakeNamespace(key machine.Key) {
	w.put(phases.Namespaces, map[string]any{"metadata": map[string]any{"name": w.namespaceOf(key)}})
}

// AddNamed adds a hosted cluster without objects of its own, in a namespace, with annotations.
func (w *World) AddNamed(namespace, name string, annotations map[string]any) machine.Key {
	return phases.KeyOf(w.put(phases.HostedClusters, map[string]any{"metadata": map[string]any{"namespace": namespace, "name": name, "annotations": annotations}}))
}

// Restore makes what a backup of a hosted cluster has beside the HostedCluster, of the time before there were private types.
func (w *World) Restore(key machine.Key) {
	namespace, name := w.namespaceOf(key), w.object(key).GetName()
	w.put(phases.Namespaces, map[string]any{"metadata": map[string]any{"name": namespace}})
	plane := w.put(controlPlanes, map[string]any{"metadata": map[string]any{"namespace": namespace, "name": name}})
	w.addClusterAPI(namespace, name, plane, 1)
}

func (w *World) addClusterAPI(namespace, name string, plane *unstructured.Unstructured, machines int) {
	cluster := w.put(kind("clusters", phases.Standard), map[string]any{
		"metadata": map[string]any{
			"namespace": namespace, "name": name, "finalizers": []any{"cluster.cluster.x-k8s.io"}, "labels": map[string]any{"cluster.x-k8s.io/cluster-name": name},
			"annotations": map[string]any{"note": "cluster.x-k8s.io/v1beta1"}, "ownerReferences": []any{owner(plane, true)},
		},
		"spec": map[string]any{"infrastructureRef": map[string]any{
			"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "AWSCluster", "name": name, "namespace": namespace,
		}, "controlPlaneRef": map[string]any{"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedControlPlane", "name": name}},
		"status": map[string]any{"phase": "Provisioned", "observedGeneration": int64(0), "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
	})
	w.put(kind("awsclusters", phases.Standard), map[string]any{
		"metadata": map[string]any{"namespace": namespace, "name": name, "finalizers": []any{"awscluster.infrastructure.cluster.x-k8s.io"}, "ownerReferences": []any{owner(cluster, false)}},
		"spec":     map[string]any{"region": "us-east-1"}, "status": map[string]any{"ready": true},
	})
	w.put(kind("awsmachinetemplates", phases.Standard), map[string]any{
		"metadata": map[string]any{"namespace": namespace, "name": name, "ownerReferences": []any{owner(cluster, false)}},
		"spec":     map[string]any{"template": map[string]any{"spec": map[string]any{"instanceType": "m5.large"}}}, "status": map[string]any{"capacity": "4"},
	})
	w.put(kind("machinesets", phases.Standard), map[string]any{
		"metadata": map[string]any{"namespace": namespace, "name": name, "ownerReferences": []any{owner(cluster, false)}},
		"spec":     map[string]any{"clusterName": name, "replicas": int64(machines)}, "status": map[string]any{"observedGeneration": int64(0)},
	})
}

func owner(o *unstructured.Unstructured, controls bool) map[string]any {
	ref := map[string]any{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "name": o.GetName(), "uid": string(o.GetUID()), "blockOwnerDeletion": true}
	if controls {
		ref["controller"] = true
	}
	return ref
}

// Scale has people ask for another number of machines, on the side that counts.
func (w *World) Scale(key machine.Key, machines int) bool {
	o := w.object(key)
	namespace := phases.ControlPlaneNamespace(o.GetNamespace(), o.GetName())
	for _, side := range []phases.Side{phases.Private, phases.Standard} {
		have := w.server.objects[refOf(kind("machinesets", side), namespace, o.GetName())]
		if have == nil {
			continue
		}
		changed := have.DeepCopy()
		set(changed, int64(machines), "spec", "replicas")
		_, err := w.server.try(phases.Write{Verb: phases.Replace, Kind: kind("machinesets", side), Namespace: namespace, Name: o.GetName(), Body: changed.Object}, "system:serviceaccount:test:nodepool", false)
		return err == nil
	}
	return false
}

// Legacy says that a hosted cluster has the mark of the old operator alone, and IsPrivate that it has that of the new one alone.
func (w *World) Legacy(key machine.Key) bool {
	return guards.OwnerOf(w.Annotations(key)).By == guards.Legacy
}

// IsPrivate says that a hosted cluster is of the new operator.
func (w *World) IsPrivate(key machine.Key) bool {
	return guards.OwnerOf(w.Annotations(key)).By == guards.New
}

// Cloud is what components did to the cloud since the last hosted cluster was added.
func (w *World) Cloud() []string { return w.cloud.log }

// cloud is where machines run.
type cloud struct {
	instances map[string]bool
	log       []string
}

func (c *cloud) create(name string) {
	if !c.instances[name] {
		c.instances[name] = true
		c.log = append(c.log, fmt.Sprintf("create %s", name))
	}
}

func (c *cloud) delete(name string) {
	if c.instances[name] {
		delete(c.instances, name)
		c.log = append(c.log, fmt.Sprintf("delete %s", name))
	}
}
