package crdschema_test

import (
	"testing"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

// FuzzDecode reads whatever there may be: it ends, and what it takes meets itself.
func FuzzDecode(f *testing.F) {
	for _, data := range []string{
		"", "{}", "null", "a: &a [*a]", "---\n---\n", "a: &a [b]\nc: *a", definition(someSpec), inJSON(f, definition(someSpec)), definition(onlyA), definition(keepsAll), definition("{$ref: x}"),
		definition("{type: array, items: [{type: string}]}"), definition("{type: object, additionalProperties: false}"), definition("{type: object, default: {a: b}, x-kubernetes-validations: [{rule: 'self.a'}]}"),
	} {
		f.Add(data, "spec.a")
	}
	f.Fuzz(func(t *testing.T, data, path string) {
		need, err := crdschema.Decode(excluding(specification(data), path))
		if err != nil {
			need, err = crdschema.Decode(specification(data))
		}
		if err != nil {
			return
		}
		if verdict := need.Compare(need.CRD()); len(verdict.Missing) > 0 {
			t.Errorf("it does not meet itself: %q", verdict.Missing)
		}
	})
}
