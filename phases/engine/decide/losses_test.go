package decide

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestLostFrom_names_what_a_schema_names_and_nothing_else(t *testing.T) {
	rows := []struct{ name, before, after, object, want string }{
		{"a field that is dropped", `{properties: {a: {}, b: {}}}`, `{properties: {a: {}}}`, `{a: 1, b: 1}`, "b"},
		{"keys of a map, each once", `{properties: {a: {additionalProperties: {properties: {b: {}, c: {}}}}}}`, `{properties: {a: {additionalProperties: {properties: {b: {}}}}}}`, `{a: {secret: {b: {}, c: {}}, other: {c: {}}}}`, "a.*.c"},
		{"a map that is dropped", `{properties: {a: {additionalProperties: {type: string}}}}`, `{properties: {a: {properties: {b: {type: string}}}}}`, `{a: {secret: x, other: x, b: x}}`, "a.*"},
		{"unknown fields that were kept", `{properties: {a: {x-kubernetes-preserve-unknown-fields: true}}}`, `{properties: {a: {properties: {b: {}}}}}`, `{a: {secret: {deep: 1}, other: 1, b: {secret: 1}}}`, "a.* a.b.*"},
		{"unknown fields of another type", `{properties: {a: {additionalProperties: {}}}}`, `{properties: {a: {additionalProperties: {type: string}}}}`, `{a: {secret: 1}}`, "a.*"},
		{"the head of an embedded resource", `{properties: {a: {x-kubernetes-embedded-resource: true}}}`, `{properties: {a: {properties: {b: {}}}}}`, `{a: {kind: X, secret: 1}}`, "a.kind"},
		{"not what was lost already", `{properties: {a: {properties: {b: {}}}}}`, `{properties: {a: {properties: {b: {}}}}}`, `{a: {secret: 1}}`, ""},
		{"not what was refused already", `{properties: {a: {type: string}}}`, `{properties: {a: {type: integer}}}`, `{a: true}`, ""},
		{"of a key that was refused already, and of one that was not", `{properties: {a: {additionalProperties: {enum: [x]}}}}`, `{properties: {a: {additionalProperties: {enum: [y]}}}}`, `{a: {one: z, two: x}}`, "a.*"},
		{"in an item, though another item had lost it already", `{properties: {a: {items: {properties: {b: {enum: [x]}}}}}}`, `{properties: {a: {items: {properties: {b: {enum: [y]}}}}}}`, `{a: [{b: z}, {b: x}]}`, "a[].b"},
		{"inside of what was refused", `{properties: {a: {type: string, properties: {b: {}}}}}`, `{properties: {a: {type: object, properties: {c: {}}}}}`, `{a: {b: 1, secret: 1}}`, "a.*"},
		{"a list in place of a field", `{properties: {a: {type: array, items: {properties: {b: {}}}}}}`, `{properties: {a: {type: object}}}`, `{a: [{b: 1}]}`, "a"},
	}
	for _, row := range rows {
		loss := VersionLoss{before: schemaOf(t, row.before), after: schemaOf(t, row.after)}
		if got := strings.Join(loss.LostFrom(&unstructured.Unstructured{Object: yamlMap(t, row.object)}), " "); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

func TestLostFrom_takes_little_memory_whatever_keys_an_instance_has(t *testing.T) {
	open, closed := `{properties: {a: {x-kubernetes-preserve-unknown-fields: true}}}`, `{properties: {a: {additionalProperties: {additionalProperties: {type: string}}}}}`
	inside := map[string]any{}
	for i := range 20_000 {
		inside[fmt.Sprintf("key-%d", i)] = map[string]any{"lost": "x"}
	}
	object := &unstructured.Unstructured{Object: map[string]any{"a": map[string]any{strings.Repeat("x", 100<<10): inside}}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	lost := VersionLoss{before: schemaOf(t, open), after: schemaOf(t, closed)}.LostFrom(object)
	runtime.ReadMemStats(&after)
	if takes := (after.TotalAlloc - before.TotalAlloc) >> 20; takes > 16 {
		t.Errorf("it takes %d MiB", takes)
	}
	if len(lost) != 1 || lost[0] != "a.*.*" {
		t.Errorf("%d fields are lost, the first %.100s", len(lost), lost[0])
	}
}
