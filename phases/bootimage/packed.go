package bootimage

import (
	"encoding/json"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Pack has the spec of an infrastructure template be its text: as a tree it takes eight times as much, and a cluster has a template
// for each set, and during a wave two. Keys are sorted, so that specs that are the same are the same text.
func Pack(template *unstructured.Unstructured) {
	spec, is := template.Object["spec"].(map[string]any)
	if !is {
		return
	}
	if text, err := json.Marshal(spec); err == nil { // what was read as JSON can be written
		template.Object["spec"] = string(text)
	}
}

// unpacked is a template with its spec as a tree; what is packed stays as it is.
func unpacked(template *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	text, is := template.Object["spec"].(string)
	if !is {
		return template, nil
	}
	var spec map[string]any
	if err := utiljson.Unmarshal([]byte(text), &spec); err != nil {
		return nil, fmt.Errorf("reading the spec of %s %s: %w", template.GetKind(), template.GetName(), err)
	}
	object := maps.Clone(template.Object)
	object["spec"] = spec
	return &unstructured.Unstructured{Object: object}, nil
}
