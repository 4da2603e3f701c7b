package see

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
)

func TestOutline_has_what_an_object_is_and_how_it_stands(t *testing.T) {
	o := objects.Parse(t, `{apiVersion: v1, kind: A, metadata: {name: a, uid: u, generation: 3, resourceVersion: "5", labels: {a: b}}, spec: {a: b}, status: {conditions: [{type: "q\"uoted"}]}}`)
	want := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "a", "uid": "u", "generation": int64(3)},
		"status":   map[string]any{"conditions": []any{map[string]any{"type": `q"uoted`}}},
	}}
	if got := ObjectFrom(o).Outline(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := ObjectFrom(objects.Parse(t, `{apiVersion: v1, kind: A, metadata: {name: a}}`)).Outline(); got.GetName() != "a" || len(got.Object) != 1 {
		t.Errorf("of a bare one: %v", got)
	}
	if got := (*Object)(nil).Outline(); got != nil {
		t.Errorf("of none: %v", got)
	}
}
