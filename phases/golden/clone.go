package golden

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	// FieldManager makes clones and writes targets.
	FieldManager = "capstan-bootimage"
	// CloneOfLabel is on each clone and has the name of the set that it was made for, cut as in the clone's name.
	CloneOfLabel = "capi-operator.openshift.io/boot-image-clone-of"
	// ClaimedAnnotation is on clones and says when a plan that had not made one was about to have it named: whoever has seen it
	// before that does not delete it.
	ClaimedAnnotation = "capi-operator.openshift.io/boot-image-claimed"
	// maxSet leaves room for a dash and eight digits in a label's 63 characters.
	maxSet = 54
)

// CloneOf is what the label of a set's clones says.
func CloneOf(set string) string { return cut(set) }

// cut shortens a set's name so that a clone's name, and the value of a label, can be made of it.
func cut(set string) string {
	return strings.TrimRight(set[:min(len(set), maxSet)], "-.")
}

// cloneName is the name of a clone: it follows from the set's name and the clone's content alone, so that a clone made before a
// crash is found again.
func cloneName(set string, spec map[string]any) (string, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return "", fmt.Errorf("encoding the spec of the template: %w", err)
	}
	sum := sha256.Sum256(text)
	return cut(set) + "-" + hex.EncodeToString(sum[:4]), nil
}

// Clone is the template that has to be there before the patch of a verdict on this target is sent. Its owner is the Cluster, as
// that of every template of Cluster API.
func (t *Target) Clone(v *Verdict, cluster metav1.OwnerReference) *unstructured.Unstructured {
	clone := &unstructured.Unstructured{Object: map[string]any{"spec": runtime.DeepCopyJSON(v.CloneSpec)}}
	clone.SetAPIVersion(t.Template.GetAPIVersion())
	clone.SetKind(t.Template.GetKind())
	clone.SetNamespace(t.Template.GetNamespace())
	clone.SetName(v.CloneName)
	labels := ofClusterAPI(t.Template.GetLabels())
	labels[CloneOfLabel] = cut(t.Name)
	clone.SetLabels(labels)
	if annotations := ofClusterAPI(t.Template.GetAnnotations()); len(annotations) > 0 {
		clone.SetAnnotations(annotations)
	}
	clone.SetOwnerReferences([]metav1.OwnerReference{cluster})
	return clone
}

// ofClusterAPI are the labels or annotations by which Cluster API and its providers steer an object. Those of others, such as
// what a GitOps tool looks for its objects by, are not the clone's.
func ofClusterAPI(all map[string]string) map[string]string {
	kept := map[string]string{}
	for key, value := range all {
		domain, _, prefixed := strings.Cut(key, "/")
		if prefixed && (domain == "x-k8s.io" || strings.HasSuffix(domain, ".x-k8s.io")) {
			kept[key] = value
		}
	}
	return kept
}

// SameSpec says that an object which has the name of a clone is one, whoever made it.
func SameSpec(object, clone *unstructured.Unstructured) bool {
	return sameSpec(object.Object["spec"], clone.Object["spec"])
}

// IsClone says the same of an object which has the name of the clone that a verdict leads to.
func (v *Verdict) IsClone(object *unstructured.Unstructured) bool {
	return sameSpec(object.Object["spec"], v.CloneSpec)
}

func sameSpec(one, other any) bool {
	this, thisErr := json.Marshal(one)
	that, thatErr := json.Marshal(other)
	return thisErr == nil && thatErr == nil && bytes.Equal(this, that)
}

// IsOurs says that a template is a clone that this operator made and nobody has changed: the label names its set, its name
// follows from label and spec, and its spec is of our field manager.
func IsOurs(template *unstructured.Unstructured) bool {
	set := template.GetLabels()[CloneOfLabel]
	spec, ok := template.Object["spec"].(map[string]any)
	if set == "" || !ok {
		return false
	}
	name, err := cloneName(set, spec)
	return err == nil && name == template.GetName() && slices.ContainsFunc(template.GetManagedFields(), isMaker)
}

// isMaker says that an entry has our name and owns the spec, which those who only add a label do not.
func isMaker(entry metav1.ManagedFieldsEntry) bool {
	if entry.Manager != FieldManager || entry.Subresource != "" || entry.FieldsV1 == nil {
		return false
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
		return false
	}
	_, owns := fields["f:spec"]
	return owns
}
