package packaging

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func sortObjects(objects []*unstructured.Unstructured) {
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int {
		left, right := a.GroupVersionKind(), b.GroupVersionKind()
		return cmp.Or(
			cmp.Compare(left.Group, right.Group),
			cmp.Compare(left.Kind, right.Kind),
			cmp.Compare(a.GetNamespace(), b.GetNamespace()),
			cmp.Compare(a.GetName(), b.GetName()),
			cmp.Compare(left.Version, right.Version),
		)
	})
}

// refuseDuplicates expects sorted objects. Moving everything to one namespace
// can make two objects the same that kustomize could still tell apart.
func refuseDuplicates(objects []*unstructured.Unstructured) error {
	for i, object := range objects[1:] {
		before := objects[i]
		if isKind(object, before.GroupVersionKind().Group, before.GetKind()) &&
			object.GetNamespace() == before.GetNamespace() && object.GetName() == before.GetName() {
			return &FieldError{
				Object: describe(object),
				Field:  "metadata.name",
				Reason: fmt.Sprintf("is used by two objects (%s and %s): rename one in the kustomization", before.GetAPIVersion(), object.GetAPIVersion()),
			}
		}
	}
	return nil
}

// encode writes one YAML document per object, keys sorted.
func encode(objects []*unstructured.Unstructured) ([]byte, error) {
	var out bytes.Buffer
	for i, object := range objects {
		document, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, fmt.Errorf("encoding %s: %w", describe(object), err)
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(document)
	}
	return out.Bytes(), nil
}
