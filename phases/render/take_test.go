package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestTake_gets_the_objects_that_the_revision_does_not_hold_then(t *testing.T) {
	in := Input{Profiles: []Profile{profile("b", "installOrder: 2"), profile("a", "installOrder: 1")}}
	whole := mustRender(t, in)
	var names []string
	var taken [][]*unstructured.Unstructured
	in.Take = func(_ int, component string, objects []*unstructured.Unstructured) {
		names, taken = append(names, component), append(taken, objects)
	}
	rendered := mustRender(t, in)
	listed, err := Listed(in, []ComponentRef{{Image: image("a"), Profile: "default"}, {Image: image("b"), Profile: "default"}})
	if err != nil {
		t.Fatal(err)
	}
	if rendered.ContentID != whole.ContentID || listed.ContentID != whole.ContentID {
		t.Errorf("the content IDs are %s, %s and %s", whole.ContentID, rendered.ContentID, listed.ContentID)
	}
	if diff := cmp.Diff([]string{"a", "b", "a", "b"}, names); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
	for i, objects := range taken {
		of := i % len(whole.Components)
		if diff := cmp.Diff(whole.Components[of].Objects, objects); diff != "" {
			t.Errorf("objects of %s (-want +got):\n%s", names[i], diff)
		}
		if rendered.Components[of].Objects != nil || listed.Components[of].Objects != nil {
			t.Errorf("the revision holds the objects of %s", names[i])
		}
	}
}
