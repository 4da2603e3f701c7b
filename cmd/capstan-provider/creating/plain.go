package creating

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cluster-api/util/labels/format"
)

// plainly is an object as it is written: without a status, and without what a type writes of fields that nobody has set.
func plainly(object any) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("writing %T: %w", object, err)
	}
	plain := &unstructured.Unstructured{}
	if err := plain.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("writing %T: %w", object, err)
	}
	delete(plain.Object, "status")
	if spec, is := plain.Object["spec"].(map[string]any); is && len(spec) == 0 {
		delete(plain.Object, "spec")
	}
	unstructured.RemoveNestedField(plain.Object, "metadata", "creationTimestamp")
	return plain, nil
}

// labelled is a name as Cluster API writes it into a label.
func labelled(name string) string { return format.MustFormatValue(name) }
