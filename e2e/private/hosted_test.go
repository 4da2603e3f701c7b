package private_test

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

//go:embed testdata/cluster.yaml
var clusterYAML string

// hosted is one Cluster of a world, with all that belongs to it.
type hosted struct {
	world           *world
	namespace, name string
}

// String names the cluster in messages.
func (h hosted) String() string { return h.world.name + " Cluster " + h.namespace + "/" + h.name }

// create makes the Cluster, its control plane, its workers and their health check.
func (h hosted) create(ctx context.Context) error {
	text := strings.NewReplacer("${GROUP}", h.world.group, "${NAME}", h.name).Replace(clusterYAML)
	for document := range documents([]byte(text)) {
		object := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(document, &object.Object); err != nil {
			return fmt.Errorf("reading an object of %s: %w", h, err)
		}
		object.SetNamespace(h.namespace)
		if err := api.Create(ctx, object); err != nil {
			return fmt.Errorf("creating %s of %s: %w", object.GetKind(), h, err)
		}
	}
	return nil
}

// kind is a kind of the world, by the prefix of its group.
func (w *world) kind(prefix, kind string) schema.GroupVersionKind {
	group := w.group
	if prefix != "" {
		group = prefix + "." + group
	}
	return schema.GroupVersionKind{Group: group, Version: "v1beta2", Kind: kind}
}

// object reads the one of a kind that has the cluster's name.
func (h hosted) object(ctx context.Context, prefix, kind string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(h.world.kind(prefix, kind))
	return object, api.Get(ctx, client.ObjectKey{Namespace: h.namespace, Name: h.name}, object)
}

// patch merges a change into the one of a kind that has the cluster's name.
func (h hosted) patch(ctx context.Context, prefix, kind, change string) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(h.world.kind(prefix, kind))
	object.SetNamespace(h.namespace)
	object.SetName(h.name)
	return api.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(change)))
}

// owned are the objects of a kind that belong to the cluster.
func (h hosted) owned(ctx context.Context, prefix, kind string) ([]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(h.world.kind(prefix, kind+"List"))
	err := api.List(ctx, list, client.InNamespace(h.namespace), client.MatchingLabels{"cluster.x-k8s.io/cluster-name": h.name})
	return list.Items, err
}

// up is nil once all machines that are asked for are there, ready and up to date, and nothing more is.
func (h hosted) up(ctx context.Context) error {
	wanted := 0
	for _, of := range []struct{ prefix, kind string }{{"controlplane", "KubeadmControlPlane"}, {"", "MachineDeployment"}} {
		object, err := h.object(ctx, of.prefix, of.kind)
		if err != nil {
			return err
		}
		replicas, err := settled(object)
		if err != nil {
			return fmt.Errorf("%s: %w", h, err)
		}
		wanted += replicas
	}
	for _, of := range []struct{ prefix, kind string }{{"", "Machine"}, {"infrastructure", "DevMachine"}} {
		machines, err := h.owned(ctx, of.prefix, of.kind)
		if err != nil {
			return err
		}
		if of.kind == "DevMachine" {
			machines = slices.DeleteFunc(machines, isAbandoned)
		}
		if len(machines) != wanted {
			return fmt.Errorf("%s: there are %d of %d objects of kind %s", h, len(machines), wanted, of.kind)
		}
	}
	object, err := h.object(ctx, "", "Cluster")
	if err != nil {
		return err
	}
	return conditionTrue(object, "Available")
}

// isAbandoned says whether the Machine of a DevMachine was never made: on a busy machine a MachineSet can run out of the minute that
// it gives itself after it has made the one and before the other, and then leaves it behind until it goes itself.
func isAbandoned(machine unstructured.Unstructured) bool {
	return !slices.ContainsFunc(machine.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return owner.Kind == "Machine" })
}

// settled is how many replicas an object wants, and has, all of them as it wants them.
func settled(object *unstructured.Unstructured) (int, error) {
	wanted, _, err := unstructured.NestedInt64(object.Object, "spec", "replicas")
	if err != nil {
		return 0, err
	}
	if observed, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration"); observed != object.GetGeneration() {
		return 0, fmt.Errorf("%s is not observed yet", object.GetKind())
	}
	for _, count := range []string{"replicas", "readyReplicas", "availableReplicas", "upToDateReplicas"} {
		if got, _, _ := unstructured.NestedInt64(object.Object, "status", count); got != wanted {
			return 0, fmt.Errorf("%s has %d %s of %d: %v", object.GetKind(), got, count, wanted, saidFalse(object))
		}
	}
	return int(wanted), nil
}

// conditionTrue is nil if the object says so of itself.
func conditionTrue(object *unstructured.Unstructured, kind string) error {
	conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	if err != nil {
		return err
	}
	for _, condition := range conditions {
		if c, _ := condition.(map[string]any); c["type"] == kind && c["status"] == "True" {
			return nil
		}
	}
	return fmt.Errorf("%s %s is not %s: %v", object.GetKind(), object.GetName(), kind, saidFalse(object))
}

// saidFalse are the messages of conditions that are not true.
func saidFalse(object *unstructured.Unstructured) []string {
	var said []string
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, condition := range conditions {
		if c, _ := condition.(map[string]any); c["status"] != "True" {
			said = append(said, fmt.Sprintf("%v=%v: %v", c["type"], c["status"], c["message"]))
		}
	}
	return said
}

// leftovers are all objects of the world in the cluster's namespace that name it as theirs.
func (h hosted) leftovers(ctx context.Context) ([]string, error) {
	var left []string
	for _, of := range []struct{ prefix, kind string }{
		{"", "Cluster"},
		{"", "Machine"},
		{"", "MachineSet"},
		{"", "MachineDeployment"},
		{"", "MachineHealthCheck"},
		{"controlplane", "KubeadmControlPlane"},
		{"bootstrap", "KubeadmConfig"},
		{"infrastructure", "DevCluster"},
		{"infrastructure", "DevMachine"},
	} {
		object, err := h.object(ctx, of.prefix, of.kind)
		if err == nil {
			left = append(left, object.GetKind()+" "+object.GetName())
		} else if !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
			return nil, err
		}
		machines, err := h.owned(ctx, of.prefix, of.kind)
		if err != nil {
			return nil, err
		}
		for _, machine := range machines {
			left = append(left, machine.GetKind()+" "+machine.GetName())
		}
	}
	return left, nil
}
