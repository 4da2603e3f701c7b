package decide

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A definition of 70 KB must not be kept as the megabyte of maps that it makes.
func TestPacked_a_large_definition_takes_a_fraction_of_its_text(t *testing.T) {
	properties := map[string]any{}
	for i := range 400 {
		properties[fmt.Sprintf("field%d", i)] = map[string]any{
			"type": "object", "description": strings.Repeat("what the field means, and when it counts. ", 3),
			"properties": map[string]any{"name": map[string]any{"type": "string"}},
		}
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Large", "metadata": map[string]any{"name": "a"}, "spec": properties})
	if err != nil {
		t.Fatal(err)
	}
	if p := Pack(text); len(text) < 70_000 || len(p) > len(text)/5 || cap(p) > len(p)+len(p)/4 {
		t.Errorf("%d bytes became %d of %d", len(text), len(p), cap(p))
	}
}
