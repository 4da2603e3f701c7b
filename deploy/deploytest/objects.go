package deploytest

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// As is an object in its type.
func As[T any](t *testing.T, object *unstructured.Unstructured) *T {
	t.Helper()
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, typed, true); err != nil {
		t.Fatalf("%s %s/%s: %v", object.GetKind(), object.GetNamespace(), object.GetName(), err)
	}
	return typed
}

// First is the first object of a kind, in its type.
func First[T any](t *testing.T, objects []*unstructured.Unstructured, kind string) *T {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() == kind {
			return As[T](t, object)
		}
	}
	t.Fatalf("there is no %s", kind)
	return nil
}
