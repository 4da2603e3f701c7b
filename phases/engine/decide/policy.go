package decide

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// policy is what a manifest asks for by its annotations.
type policy struct {
	Collision CollisionProtection
	Gate      rule // what is asked of the object before the next wave
	OwnGate   bool // the gate has a condition of the manifest's own
	Recreate  bool // delete and create it again when fields that cannot be changed have to
}

// policyOf reads the annotations of a manifest, or says what is wrong with them.
func policyOf(obj *unstructured.Unstructured) (policy, string) {
	var p policy
	annotations := obj.GetAnnotations()
	mode, known := collisionProtections[annotations[AdoptAnnotation]]
	if !known {
		return p, fmt.Sprintf("annotation %s is %q; it may be %q or %q", AdoptAnnotation, annotations[AdoptAnnotation], AdoptAlways, AdoptForce)
	}
	p.Collision = mode
	gate, fault := gateOf(obj)
	if fault != "" {
		return p, fault
	}
	p.Gate, p.OwnGate = gate, annotations[CompleteAnnotation] != ""
	switch asked := annotations[ImmutableAnnotation]; {
	case asked == "":
	case asked != OnImmutableRecreate:
		return p, fmt.Sprintf("annotation %s is %q; it may be %q", ImmutableAnnotation, asked, OnImmutableRecreate)
	case HoldsData(KeyOf(obj)):
		return p, fmt.Sprintf("annotation %s must not be set: deleting a %s deletes what it holds", ImmutableAnnotation, obj.GetKind())
	default:
		p.Recreate = true
	}
	return p, ""
}

// HoldsData says that data of users may go with an object of that kind.
func HoldsData(k Key) bool {
	switch k.Group + "/" + k.Kind {
	case "apiextensions.k8s.io/CustomResourceDefinition", "/Namespace", "/PersistentVolume", "/PersistentVolumeClaim":
		return true
	}
	return false
}
