package capiworld

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// kinds are those that a cluster has objects of in its namespace.
var kinds = []schema.GroupVersionKind{
	{Version: "v1", Kind: "Secret"},
	{Group: "batch", Version: "v1", Kind: "Job"},
	{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Cluster"},
	{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Machine"},
	{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "MachineSet"},
	{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "MachineDeployment"},
	OpenShift.WithKind("OpenShiftControlPlane"),
	OpenShift.WithKind("OpenShiftConfig"),
	OpenShift.WithKind("OpenShiftConfigTemplate"),
	Infrastructure.WithKind("DevCluster"),
	Infrastructure.WithKind("DevMachine"),
	Infrastructure.WithKind("DevMachineTemplate"),
}

// Kinds are those that a cluster has objects of in its namespace.
func Kinds() []schema.GroupVersionKind { return slices.Clone(kinds) }

// List has the objects of a kind in a namespace.
func (w *World) List(ctx context.Context, of schema.GroupVersionKind, namespace string) ([]unstructured.Unstructured, error) {
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(of.GroupVersion().WithKind(of.Kind + "List"))
	if err := w.API.List(ctx, all, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing %s of %s: %w", of.Kind, namespace, err)
	}
	return all.Items, nil
}

// Objects are those of a namespace that belong to clusters, by kind and name, sorted.
func (w *World) Objects(ctx context.Context, namespace string) ([]string, error) {
	var all []string
	for _, of := range kinds {
		found, err := w.List(ctx, of, namespace)
		if err != nil {
			return nil, err
		}
		for i := range found {
			all = append(all, found[i].GetKind()+" "+found[i].GetName())
		}
	}
	slices.Sort(all)
	return all, nil
}
