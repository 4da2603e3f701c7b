package engine

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// The marks that the engine reads and writes on the objects of a cluster.
const (
	// ManagedByLabel is on every managed object; its value is the component. The watches select by it.
	ManagedByLabel = "capi-operator.openshift.io/managed-by"
	// RevisionAnnotation holds the decimal number of the newest revision that applied the object.
	RevisionAnnotation = "capi-operator.openshift.io/revision"
	// OwnerAnnotation holds the identity (Config.Owner) of the installation that the object belongs to.
	OwnerAnnotation = "capi-operator.openshift.io/owner"
	// AdoptAnnotation, set to "always" in a manifest, lets an existing object without a controller be taken over, and
	// set to "force" also one from its controller, which stays as a plain owner.
	AdoptAnnotation = "capi-operator.openshift.io/adopt-existing"
	// ImmutableAnnotation, set to "recreate" in a manifest, lets the object be deleted and created again when the API
	// server refuses a change of it only because fields cannot be changed.
	ImmutableAnnotation = "capi-operator.openshift.io/on-immutable-change"
	// CompleteAnnotation is a CEL expression over self, the object, that has to be true before the next wave.
	CompleteAnnotation = "capi-operator.openshift.io/complete-when"
	// InventoryLabel marks the ConfigMaps that list what each revision applies.
	InventoryLabel = "capi-operator.openshift.io/inventory"
	// FieldManager is the name under which the engine owns fields.
	FieldManager = "capstan"

	adoptAlways = "always"
	adoptForce  = "force"
	recreate    = "recreate"
)

// Revision is the full set of objects that one release content stands for. It is read only: neither the engine nor
// the caller changes it once it was handed over, and a number stands for one content for ever.
type Revision struct {
	Name       string
	Number     int64 // >= 1, never used for another content
	ContentID  string
	Components []Component // in order of installation
	Unmanaged  []string    // names of CRDs that are never applied, updated or deleted
}

// Component is one installable part of a revision; its objects may come in any order.
type Component struct {
	Name    string
	Objects []*unstructured.Unstructured

	packed []*manifest // those that came before Objects
}

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

func (k Key) name() types.NamespacedName {
	return types.NamespacedName{Namespace: k.Namespace, Name: k.Name}
}

// identity is the key without its version: what makes two objects the same one.
func (k Key) identity() Key {
	k.Version = ""
	return k
}

func (k Key) isCRD() bool {
	return k.Group == "apiextensions.k8s.io" && k.Kind == "CustomResourceDefinition"
}
