package decide

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
)

// schemaOf is a shape from the YAML of a schema.
func schemaOf(t *testing.T, text string) schemaNode {
	t.Helper()
	return schemaNode{schema: yamlMap(t, text), resource: true}
}

// yamlMap is YAML that is no object of a cluster.
func yamlMap(t *testing.T, text string) map[string]any {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestNarrowed(t *testing.T) {
	rows := []struct{ name, before, after, want string }{
		{"nothing changed", `{type: object, properties: {a: {type: string}}}`, `{type: object, properties: {a: {type: string}}}`, ""},
		{"a field more", `{type: object, properties: {a: {type: string}}}`, `{type: object, properties: {a: {type: string}, b: {type: string}}}`, ""},
		{"a field less", `{type: object, properties: {a: {type: string}, b: {type: string}}}`, `{type: object, properties: {a: {type: string}}}`, ".b"},
		{"a field less further down", `{properties: {a: {properties: {b: {type: string}, c: {type: string}}}}}`, `{properties: {a: {properties: {c: {type: string}}}}}`, ".a.b"},
		{"all fields less", `{properties: {a: {type: object, properties: {b: {type: string}}}}}`, `{properties: {a: {type: object}}}`, ".a.b"},
		{"a field less in items", `{properties: {a: {items: {properties: {b: {}, c: {}}}}}}`, `{properties: {a: {items: {properties: {c: {}}}}}}`, ".a[].b"},
		{"a field less in values", `{properties: {a: {additionalProperties: {properties: {b: {}}}}}}`, `{properties: {a: {additionalProperties: {properties: {c: {}}}}}}`, ".a.*.b"},
		{"names are fixed now", `{properties: {a: {additionalProperties: {type: string}}}}`, `{properties: {a: {properties: {b: {type: string}}}}}`, ".a.*"},
		{"names are free now", `{properties: {a: {properties: {b: {type: string}}}}}`, `{properties: {a: {additionalProperties: {type: string}}}}`, ""},
		{"unknown fields were kept", `{properties: {a: {x-kubernetes-preserve-unknown-fields: true}}}`, `{properties: {a: {properties: {b: {}}}}}`, ".a.b.* .a.* .a[].*"},
		{"unknown fields are kept now", `{properties: {a: {properties: {b: {}}}}}`, `{properties: {a: {x-kubernetes-preserve-unknown-fields: true}}}`, ""},
		{"a free field has a type now", `{properties: {a: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`, `{properties: {a: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {b: {type: string}}}}}`, ".a.b .a.b.* .a.b[].*"},
		{"an embedded resource keeps its head", `{properties: {a: {x-kubernetes-embedded-resource: true, properties: {metadata: {type: object}, spec: {}}}}}`, `{properties: {a: {x-kubernetes-embedded-resource: true, properties: {spec: {}}}}}`, ""},
		{"no embedded resource any more", `{properties: {a: {x-kubernetes-embedded-resource: true, properties: {kind: {type: string}}}}}`, `{properties: {a: {properties: {b: {}}}}}`, ".a.kind"},
		{"another type", `{properties: {a: {type: integer}}}`, `{properties: {a: {type: string}}}`, ".a"},
		{"a wider type", `{properties: {a: {type: integer}}}`, `{properties: {a: {type: number}}}`, ""},
		{"a choice less", `{properties: {a: {enum: [x, y]}}}`, `{properties: {a: {enum: [x]}}}`, ".a"},
		{"a choice more", `{properties: {a: {enum: [x]}}}`, `{properties: {a: {enum: [x, y]}}}`, ""},
		{"a choice less that is the same quantity as one that stays", `{properties: {a: {enum: ["1.1", "1.10"]}}}`, `{properties: {a: {enum: ["1.1"]}}}`, ".a"},
		{"a choice that is the same number", `{properties: {a: {enum: [1]}}}`, `{properties: {a: {enum: [1.0]}}}`, ""},
		{"a text in place of a number", `{properties: {a: {enum: [1]}}}`, `{properties: {a: {enum: ["1"]}}}`, ".a"},
		{"choices at all", `{properties: {a: {type: string}}}`, `{properties: {a: {type: string, enum: [x]}}}`, ".a"},
		{"a stricter pattern is the API server's business", `{properties: {a: {type: string}}}`, `{properties: {a: {type: string, pattern: x}}}`, ""},
	}
	for _, row := range rows {
		if got := strings.Join(narrowedPaths("", schemaOf(t, row.before), schemaOf(t, row.after)), " "); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

// everything is the shape of what keeps whatever it is given.
var everything = schemaNode{open: true}

// lostTo are the losses of a value to a shape, all of which was kept.
func lostTo(s schemaNode, value map[string]any) []string {
	return VersionLoss{before: everything, after: s}.LostFrom(&unstructured.Unstructured{Object: value})
}

func TestLosses(t *testing.T) {
	rows := []struct{ name, schema, object, want string }{
		{"nothing", `{properties: {a: {type: string}}}`, `{kind: X, metadata: {b: 1}, a: x}`, ""},
		{"a field that is not named", `{properties: {a: {}}}`, `{b: x}`, "*"},
		{"a field with an empty value", `{properties: {a: {}}}`, `{b: {}}`, "*"},
		{"in items, once for all", `{properties: {a: {items: {properties: {b: {}}}}}}`, `{a: [{b: 1, c: 1}, {c: 2}]}`, "a[].*"},
		{"in values", `{properties: {a: {additionalProperties: {properties: {b: {}}}}}}`, `{a: {x: {b: {c: 1}}}}`, "a.*.b.*"},
		{"not where unknown fields are kept", `{x-kubernetes-preserve-unknown-fields: true}`, `{a: {b: [{c: 1}]}}`, ""},
		{"below a named field of where unknown fields are kept", `{x-kubernetes-preserve-unknown-fields: true, properties: {a: {properties: {b: {}}}}}`, `{a: {b: 1, c: 1}, d: 1}`, "a.*"},
		{"another type", `{properties: {a: {type: string}}}`, `{a: {b: 1}}`, "a"},
		{"an integer is a number", `{properties: {a: {type: number}}}`, `{a: 1}`, ""},
		{"a whole number is an integer", `{properties: {a: {type: integer}}}`, `{a: 1.0}`, ""},
		{"a fraction is not", `{properties: {a: {type: integer}}}`, `{a: 1.5}`, "a"},
		{"int or string", `{properties: {a: {x-kubernetes-int-or-string: true}, b: {x-kubernetes-int-or-string: true}}}`, `{a: 1, b: x}`, ""},
		{"a choice", `{properties: {a: {enum: [x, 1]}}}`, `{a: 1}`, ""},
		{"no choice, but the same quantity as one", `{properties: {a: {enum: ["1.1"]}}}`, `{a: "1.10"}`, "a"},
		{"no choice", `{properties: {a: {enum: [x, 1]}}}`, `{a: y}`, "a"},
	}
	for _, row := range rows {
		if got := strings.Join(lostTo(schemaOf(t, row.schema), yamlMap(t, row.object)), " "); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

// drawnSchema is any structural schema without types and choices, which pruning does not look at.
func drawnSchema(t *rapid.T, depth int) map[string]any {
	schema := map[string]any{}
	if depth == 0 {
		return schema
	}
	if rapid.Bool().Draw(t, "properties") {
		named := map[string]any{}
		for _, name := range rapid.SliceOfNDistinct(fieldName, 0, 3, rapid.ID[string]).Draw(t, "names") {
			named[name] = drawnSchema(t, depth-1)
		}
		schema["properties"] = named
	} else if rapid.IntRange(0, 2).Draw(t, "free") == 0 {
		schema["additionalProperties"] = drawnSchema(t, depth-1)
		if rapid.Bool().Draw(t, "bare") {
			schema["additionalProperties"] = true
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "list") == 0 {
		schema["items"] = drawnSchema(t, depth-1)
	}
	for _, extension := range []string{"x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"} {
		if rapid.IntRange(0, 3).Draw(t, extension) == 0 {
			schema[extension] = true
		}
	}
	return schema
}

var fieldName = rapid.SampledFrom([]string{"a", "b", "c", "kind", "metadata"})

func drawnValue(t *rapid.T, depth int) any {
	switch kind := rapid.IntRange(0, 3).Draw(t, "value"); {
	case depth == 0 || kind == 0:
		return "x"
	case kind == 1:
		return []any{drawnValue(t, depth-1), drawnValue(t, depth-1)}
	}
	return drawnObject(t, depth)
}

func drawnObject(t *rapid.T, depth int) map[string]any {
	object := map[string]any{}
	for _, name := range rapid.SliceOfNDistinct(fieldName, 0, 4, rapid.ID[string]).Draw(t, "fields") {
		object[name] = drawnValue(t, depth-1)
	}
	return object
}

// structural is a schema as the API server itself prunes by it.
func structural(t *rapid.T, schema map[string]any) *structuralschema.Structural {
	var v1 apiextensionsv1.JSONSchemaProps
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(schema, &v1); err != nil {
		t.Fatal(err)
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &internal, nil); err != nil {
		t.Fatal(err)
	}
	s, err := structuralschema.NewStructural(&internal)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLosses_are_what_the_API_server_prunes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema, object := drawnSchema(t, 3), drawnObject(t, 4)
		lost := lostTo(schemaNode{schema: schema, resource: true}, object)
		pruned := (&unstructured.Unstructured{Object: object}).DeepCopy()
		paths := pruning.PruneWithOptions(pruned.Object, structural(t, schema), true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
		if (len(lost) == 0) != (len(paths) == 0) {
			t.Fatalf("%v of %v by %v, but the API server prunes %v", lost, object, schema, paths)
		}
	})
}

func TestNarrowed_misses_nothing_that_an_instance_could_lose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after, object := drawnSchema(t, 3), drawnSchema(t, 3), drawnObject(t, 4)
		pruning.Prune(object, structural(t, before), true) // as it is stored
		is := schemaNode{schema: after, resource: true}
		lost := lostTo(is, object)
		if found := narrowedPaths("", schemaNode{schema: before, resource: true}, is); len(lost) > 0 && len(found) == 0 {
			t.Fatalf("%v loses %v, which was not foreseen:\n%v\n%v", object, lost, before, after)
		}
	})
}

const twoVersions = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.test}, spec: {group: test, versions: [
	{name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {a: {type: string}}}}},
	{name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: string}, b: {type: string}}}}}]},
	status: {storedVersions: [v1, v2]}}`

func byWebhook(u *unstructured.Unstructured) {
	_ = unstructured.SetNestedField(u.Object, "Webhook", "spec", "conversion", "strategy")
}

func TestNarrowingOf(t *testing.T) {
	only := func(names ...string) change {
		return func(u *unstructured.Unstructured) {
			all, _, _ := unstructured.NestedSlice(u.Object, "spec", "versions")
			all = slices.DeleteFunc(all, func(v any) bool { return !slices.Contains(names, text(v.(map[string]any)["name"])) })
			_ = unstructured.SetNestedSlice(u.Object, all, "spec", "versions")
		}
	}
	versions := func(edit func(version map[string]any)) change {
		return func(u *unstructured.Unstructured) {
			for _, v := range VersionsOf(u) {
				edit(v)
			}
		}
	}
	rows := []struct {
		name    string
		webhook bool // one converts now
		change  change
		want    string
	}{
		{"the same", false, func(*unstructured.Unstructured) {}, ""},
		{"a stored version dropped", false, only("v2"), "stored v1"},
		{"all served versions dropped", false, versions(func(v map[string]any) { v["served"] = false }), "served v1 v2"},
		{"one served version dropped", false, versions(func(v map[string]any) { v["served"] = v["name"] == "v1" }), ""},
		{"a field dropped", false, versions(func(v map[string]any) {
			unstructured.RemoveNestedField(v, "schema", "openAPIV3Schema", "properties", "b")
		}), "v2: .b"},
		{"stored in a version with fewer fields", false, versions(func(v map[string]any) { v["storage"] = v["name"] == "v1" }), "v2: .b"},
		{"a webhook converts to the version with fewer fields", false, func(u *unstructured.Unstructured) {
			versions(func(v map[string]any) { v["storage"] = v["name"] == "v1" })(u)
			byWebhook(u)
		}, ""},
		{"the webhook stays", true, byWebhook, ""},
		{"the webhook dropped, with objects stored in another version", true, func(*unstructured.Unstructured) {}, "unconverted v1"},
		{"the webhook dropped with the version", true, only("v2"), "stored v1"},
	}
	for _, row := range rows {
		actual, wanted := objects.Parse(t, twoVersions), objects.Parse(t, twoVersions)
		if row.webhook {
			byWebhook(actual)
		}
		row.change(wanted)
		n := SchemaLossOf(actual, wanted)
		var got []string
		if len(n.Stored) > 0 {
			got = append(got, "stored "+strings.Join(n.Stored, " "))
		}
		if len(n.Served) > 0 {
			got = append(got, "served "+strings.Join(n.Served, " "))
		}
		if len(n.Unconverted) > 0 {
			got = append(got, "unconverted "+strings.Join(n.Unconverted, " "))
		}
		for _, v := range n.Versions {
			got = append(got, v.Version+": "+strings.Join(v.fields, " "))
		}
		if strings.Join(got, "; ") != row.want || n.None() != (row.want == "") {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}
