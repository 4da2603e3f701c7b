// Package enginetest is what the tests of the engine's rooms share: revisions, and objects as a revision has applied them.
package enginetest

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
)

// The installation that tests act for, and the number of its revision.
const (
	Owner  = "clusterapi/cluster"
	Number = 7
)

// Made are objects o0, o1, ... of kinds such as "apps/v1 Deployment".
func Made(t testing.TB, kinds ...string) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for i, kind := range kinds {
		version, name, _ := strings.Cut(kind, " ")
		out = append(out, objects.Parse(t, fmt.Sprintf(`{apiVersion: %s, kind: %s, metadata: {name: o%d}}`, version, name, i)))
	}
	return out
}

// Revision is a revision of one component.
func Revision(number int64, objects ...*unstructured.Unstructured) *decide.Revision {
	return &decide.Revision{Name: "rev", Number: number, ContentID: "content", Components: []decide.Component{{Name: "core", Objects: objects}}}
}

// Applied is the object of [objects.Settings] as revision Number has applied it.
func Applied() *unstructured.Unstructured {
	obj := objects.Settings()
	obj.SetLabels(map[string]string{decide.ManagedByLabel: "core"})
	obj.SetAnnotations(map[string]string{decide.RevisionAnnotation: fmt.Sprint(Number), decide.OwnerAnnotation: Owner})
	obj.SetUID("uid")
	obj.SetResourceVersion("10")
	return WithEntry(obj, "capstan", "Apply", objects.AllFields)
}

// WithEntry puts an entry into the managedFields of an object, in the place of that of the same manager and operation.
func WithEntry(obj *unstructured.Unstructured, manager, operation, fields string) *unstructured.Unstructured {
	var entries []metav1.ManagedFieldsEntry
	for _, e := range obj.GetManagedFields() {
		if e.Manager != manager || string(e.Operation) != operation {
			entries = append(entries, e)
		}
	}
	obj.SetManagedFields(append(entries, metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationType(operation), APIVersion: obj.GetAPIVersion(),
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}))
	return obj
}
