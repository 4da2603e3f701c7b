package decide

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
)

func TestUnmarked_takes_off_our_marks_and_nothing_else(t *testing.T) {
	obj := objects.Parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, resourceVersion: "9",
		labels: {capi-operator.openshift.io/managed-by: core, app: x}, annotations: {capi-operator.openshift.io/revision: "4", note: x},
		managedFields: [{manager: capstan, operation: Apply}, {manager: capstan, operation: Update}, {manager: kubectl, operation: Update}]}}`)
	for _, only := range []bool{false, true} {
		if only {
			unstructured.RemoveNestedField(obj.Object, "metadata", "managedFields")
		}
		patch, err := Unmark(obj, Identity{FieldManager: testManager})
		if err != nil {
			t.Fatal(err)
		}
		fields := `[{"manager":"kubectl","operation":"Update"}]`
		if only {
			fields = `[{}]`
		}
		want := `[{"op":"replace","path":"/metadata/resourceVersion","value":"9"},` +
			`{"op":"remove","path":"/metadata/labels/capi-operator.openshift.io~1managed-by"},` +
			`{"op":"remove","path":"/metadata/annotations/capi-operator.openshift.io~1revision"},` +
			`{"op":"replace","path":"/metadata/managedFields","value":` + fields + `}]`
		if string(patch) != want {
			t.Errorf("got  %s\nwant %s", patch, want)
		}
	}
}
