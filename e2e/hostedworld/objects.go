package hostedworld

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// inMemoryMachine is the provider's kind.
const inMemoryMachine = "InMemoryMachine"

// setLabel names the MachineSet of a Machine.
const setLabel = "cluster.x-k8s.io/set-name"

var hostedKind = schema.GroupVersionKind{Group: HyperShift, Version: "v1beta1", Kind: "HostedCluster"}

func kind(group, kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: version, Kind: kind}
}

// object is a new one of a kind, or what a request names one by.
func object(of schema.GroupVersionKind, namespace, name string, owner *Object, spec map[string]any) *Object {
	o := &Object{Object: map[string]any{}}
	o.SetGroupVersionKind(of)
	o.SetNamespace(namespace)
	o.SetName(name)
	if spec != nil {
		o.Object["spec"] = spec
	}
	if owner != nil {
		o.SetOwnerReferences([]metav1.OwnerReference{ownedBy(owner)})
	}
	return o
}

func ownedBy(o *Object) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: o.GetName(), UID: o.GetUID(), Controller: &yes, BlockOwnerDeletion: &yes}
}

// reference names an object of the provider, as Cluster API's do.
func reference(kind, name string) map[string]any {
	return map[string]any{"apiGroup": infrastructure + Standard, "kind": kind, "name": name}
}

func list(ctx context.Context, from client.Reader, of schema.GroupVersionKind, namespace string) ([]Object, error) {
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(of)
	all.SetKind(of.Kind + "List")
	if err := from.List(ctx, all, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing %s of %s: %w", of.Kind, namespace, err)
	}
	return all.Items, nil
}

// field is a text that an object has at a path, empty for none.
func field(o *Object, path ...string) string {
	text, _, _ := unstructured.NestedString(o.Object, path...)
	return text
}

// IsReady says that an object's condition Ready is true.
func IsReady(o *Object) bool { return readiness(o) == "True" }

// InStandardText is the spec of an object of either side, with the standard groups.
func InStandardText(o *Object) string {
	return strings.ReplaceAll(fmt.Sprint(o.Object["spec"]), Private, Standard)
}
