package decide

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Key names one object of a cluster. Two keys that differ in Version only are the same object.
type Key struct {
	Group, Version, Kind, Namespace, Name string
}

// KeyOf reads the key of an object.
func KeyOf(obj *unstructured.Unstructured) Key {
	gvk := obj.GroupVersionKind()
	return Key{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// String is how users see an object: "Deployment openshift-cluster-api/capi-controller-manager".
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Kind + " " + k.Name
	}
	return k.Kind + " " + k.Namespace + "/" + k.Name
}

// GVK is the kind of the object in the version in which it is applied.
func (k Key) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
}

// NamespacedName is the key without the kind.
func (k Key) NamespacedName() types.NamespacedName {
	return types.NamespacedName{Namespace: k.Namespace, Name: k.Name}
}

// Identity is the key without its version: what makes two objects the same one.
func (k Key) Identity() Key {
	k.Version = ""
	return k
}

// IsCRD says that the object is a CustomResourceDefinition.
func (k Key) IsCRD() bool {
	return k.Group == "apiextensions.k8s.io" && k.Kind == "CustomResourceDefinition"
}

// IsNamespace says that the object is a Namespace.
func (k Key) IsNamespace() bool { return k.Group == "" && k.Kind == "Namespace" }
