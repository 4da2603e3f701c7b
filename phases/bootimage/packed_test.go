package bootimage

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestPack_loses_nothing_of_a_template(t *testing.T) {
	whole := func() *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"kind": "AWSMachineTemplate", "metadata": map[string]any{"name": "a"},
			"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"size": int64(1) << 60, "ratio": 0.5, "tags": []any{"<a>", nil, true}, "none": map[string]any{}}}},
		}}
	}
	packed := whole()
	for range 2 {
		Pack(packed)
		if _, is := packed.Object["spec"].(string); !is {
			t.Fatalf("it is not packed: %v", packed.Object)
		}
	}
	got, err := unpacked(packed)
	if err != nil || !reflect.DeepEqual(got, whole()) {
		t.Errorf("got %v (%v)", got, err)
	}
	if _, is := packed.Object["spec"].(string); !is {
		t.Error("what is packed was changed")
	}
	if same, err := unpacked(whole()); err != nil || !reflect.DeepEqual(same, whole()) {
		t.Errorf("what is not packed is %v (%v)", same, err)
	}
	if _, err := unpacked(&unstructured.Unstructured{Object: map[string]any{"spec": "forged"}}); err == nil {
		t.Error("a spec that is no object is read")
	}
	bare := &unstructured.Unstructured{Object: map[string]any{"kind": "AWSMachineTemplate"}}
	if Pack(bare); len(bare.Object) != 1 {
		t.Errorf("one without a spec has %v", bare.Object)
	}
}
