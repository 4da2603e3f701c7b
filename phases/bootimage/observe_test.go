package bootimage

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
)

func TestLastWriter_is_the_same_of_typed_and_of_untyped_objects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typed, untyped := &metav1.PartialObjectMetadata{}, &unstructured.Unstructured{Object: map[string]any{}}
		for range rapid.IntRange(0, 4).Draw(t, "managers") {
			entry := metav1.ManagedFieldsEntry{
				Manager:     rapid.SampledFrom([]string{"", "argocd", "kubectl", "capstan"}).Draw(t, "manager"),
				Operation:   metav1.ManagedFieldsOperationUpdate,
				Subresource: rapid.SampledFrom([]string{"", "", "status"}).Draw(t, "subresource"),
			}
			if at := rapid.Int64Range(0, 3).Draw(t, "time"); at > 0 {
				entry.Time = &metav1.Time{Time: time.Unix(1_800_000_000+at, 0)}
			}
			typed.ManagedFields = append(typed.ManagedFields, entry)
		}
		untyped.SetManagedFields(typed.ManagedFields)
		if one, other := lastWriter(typed), lastWriter(untyped); one != other {
			t.Fatalf("%q and %q", one, other)
		}
	})
}
