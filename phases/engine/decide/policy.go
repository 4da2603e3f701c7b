package decide

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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
func policyOf(obj *unstructured.Unstructured) (policy, Fault) {
	var p policy
	annotations := obj.GetAnnotations()
	mode, known := collisionProtections[annotations[AdoptAnnotation]]
	if !known {
		return p, Fault{annotationPath + AdoptAnnotation, fmt.Sprintf("is %q; it may be %q or %q", annotations[AdoptAnnotation], AdoptAlways, AdoptForce)}
	}
	if !KeyOf(obj).IsCRD() { // one of somebody else is never seized: it is listed as unmanaged, or in the way
		p.Collision = mode
	}
	gate, err := gateOf(obj)
	if err != nil {
		return p, Fault{annotationPath + CompleteAnnotation, err.Error()}
	}
	p.Gate, p.OwnGate = gate, annotations[CompleteAnnotation] != ""
	switch asked := annotations[ImmutableAnnotation]; {
	case asked == "":
	case asked != OnImmutableRecreate:
		return p, Fault{annotationPath + ImmutableAnnotation, fmt.Sprintf("is %q; it may be %q", asked, OnImmutableRecreate)}
	case HoldsData(KeyOf(obj)):
		return p, Fault{annotationPath + ImmutableAnnotation, fmt.Sprintf("must not be set: deleting a %s deletes what it holds", obj.GetKind())}
	default:
		p.Recreate = true
	}
	return p, Fault{}
}

// HoldsData says that data of users may go with an object of that kind.
func HoldsData(k Key) bool {
	switch k.Group + "/" + k.Kind {
	case "apiextensions.k8s.io/CustomResourceDefinition", "/Namespace", "/PersistentVolume", "/PersistentVolumeClaim":
		return true
	}
	return false
}

// DeletesClaims says that the volume claims of an object go with it: those of a StatefulSet that asks for that.
func DeletesClaims(obj *unstructured.Unstructured) bool {
	if obj == nil || obj.GetKind() != "StatefulSet" || obj.GroupVersionKind().Group != "apps" {
		return false
	}
	when, _, _ := unstructured.NestedString(obj.Object, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
	return when == "Delete"
}

// IsClaimOf says that a volume claim is one that a StatefulSet makes for its pods: TEMPLATE-STATEFULSET-NUMBER.
func IsClaimOf(set *unstructured.Unstructured, claim string) bool {
	templates, _, _ := unstructured.NestedSlice(set.Object, "spec", "volumeClaimTemplates")
	return slices.ContainsFunc(templates, func(template any) bool {
		name, _, _ := unstructured.NestedString(shallow(template), "metadata", "name")
		ordinal, found := strings.CutPrefix(claim, name+"-"+set.GetName()+"-")
		_, err := strconv.ParseUint(ordinal, 10, 32)
		return found && err == nil
	})
}
