package main

import (
	"encoding/json"
	"testing"
)

func TestBoxes_and_what_is_required_of_them_have_the_size_that_is_asked_for(t *testing.T) {
	const mostData = 1572864
	for _, kib := range []int{20, 300, 1024} {
		definition, err := boxes("example.com", kib)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(definition)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) < kib<<10 || len(text) > kib<<10+8<<10 {
			t.Errorf("a definition of %d KiB has %d bytes", kib, len(text))
		}
		r, err := requirement("r", definition, deny, deny)
		if err != nil {
			t.Fatal(err)
		}
		if data := r.Spec.CompatibilitySchema.CustomResourceDefinition.Data; len(data) > mostData {
			t.Errorf("the requirement of %d KiB has %d bytes, more than the API takes", kib, len(data))
		}
	}
	text, err := json.Marshal(box("example.com", "a", objectSize))
	if err != nil || len(text) < (objectSize-1)<<10 || len(text) > (objectSize+2)<<10 {
		t.Errorf("an object has %d bytes (%v)", len(text), err)
	}
}
