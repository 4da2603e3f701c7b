package decide

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// schemaNode is what the API server keeps of a value at one place of a custom resource, by the schema of one version:
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning
type schemaNode struct {
	schema   map[string]any // nil: nothing is specified
	open     bool           // fields that the schema does not name are kept, whatever it says itself
	resource bool           // apiVersion, kind and metadata are the API server's own
}

// schemaNodeOf is the shape of whole objects of one version, false when the CRD does not have the version.
func schemaNodeOf(crd *unstructured.Unstructured, version string) (schemaNode, bool) {
	preserve, _, _ := unstructured.NestedBool(crd.Object, "spec", "preserveUnknownFields")
	for _, v := range VersionsOf(crd) {
		if v["name"] == version {
			schema, _, _ := unstructured.NestedFieldNoCopy(v, "schema", "openAPIV3Schema")
			root, _ := schema.(map[string]any)
			return schemaNode{schema: root, open: preserve, resource: true}, true
		}
	}
	return schemaNode{}, false
}

func (s schemaNode) keepsUnknown() bool {
	return s.open || s.schema["x-kubernetes-preserve-unknown-fields"] == true
}

func (s schemaNode) properties() map[string]any {
	named, _ := s.schema["properties"].(map[string]any)
	return named
}

// field is the shape of one field, false when the field is pruned.
func (s schemaNode) field(name string) (schemaNode, bool) {
	if s.isHead(name) {
		return schemaNode{open: true}, true
	}
	if named, given := s.properties()[name].(map[string]any); given {
		return schemaNode{schema: named}, true
	}
	return s.unnamed()
}

// isHead says that a field is one that the API server keeps of every resource.
func (s schemaNode) isHead(name string) bool {
	if !s.resource && s.schema["x-kubernetes-embedded-resource"] != true {
		return false
	}
	return name == "apiVersion" || name == "kind" || name == "metadata"
}

// unnamed is the shape of fields that have no schema of their own, false when they are pruned.
func (s schemaNode) unnamed() (schemaNode, bool) {
	if rest, given := s.schema["additionalProperties"]; given {
		schema, _ := rest.(map[string]any)
		return schemaNode{schema: schema}, true
	}
	return schemaNode{open: true}, s.keepsUnknown()
}

func (s schemaNode) item() schemaNode {
	items, _ := s.schema["items"].(map[string]any)
	return schemaNode{schema: items, open: s.keepsUnknown()}
}

// nothing says that no field is kept here.
func (s schemaNode) nothing() bool { return !s.open && len(s.schema) == 0 }

// narrowedPaths lists the places where the new shape may keep less than the old one, or refuse values that it took. It
// says more rather than less: whether live objects lose anything is for losses to say.
func narrowedPaths(path string, before, after schemaNode) []string {
	if before.nothing() || reflect.DeepEqual(before, after) {
		return nil
	}
	var found []string
	if stricter(before.schema, after.schema) {
		found = append(found, path)
	}
	if after.nothing() {
		return append(found, path+".*")
	}
	names := shallow(before.properties())
	maps.Copy(names, after.properties())
	for _, name := range slices.Sorted(maps.Keys(names)) {
		found = append(found, narrowedField(path+"."+name, name, before, after)...)
	}
	if rest, kept := before.unnamed(); kept {
		if now, still := after.unnamed(); still {
			found = append(found, narrowedPaths(path+".*", rest, now)...)
		} else {
			found = append(found, path+".*")
		}
	}
	return append(found, narrowedPaths(path+"[]", before.item(), after.item())...)
}

func narrowedField(path, name string, before, after schemaNode) []string {
	was, kept := before.field(name)
	if !kept {
		return nil
	}
	is, still := after.field(name)
	if !still {
		return []string{path}
	}
	return narrowedPaths(path, was, is)
}

// stricter says whether values may be refused now for their type or because they are not in a list of choices.
func stricter(before, after map[string]any) bool {
	if now := after["type"]; now != nil && now != before["type"] && (now != "number" || before["type"] != "integer") {
		return true
	}
	now, limited := after["enum"].([]any)
	if !limited {
		return false
	}
	was, _ := before["enum"].([]any)
	return len(was) == 0 || slices.ContainsFunc(was, func(v any) bool { return !among(v, now) })
}

// among compares as an enum does: 1 and 1.0 are one number, and texts are no quantities.
func among(v any, choices []any) bool {
	n, isNumber := number(v)
	return slices.ContainsFunc(choices, func(choice any) bool {
		m, numeric := number(choice)
		return isNumber && numeric && m == n || reflect.DeepEqual(choice, v)
	})
}

// names says that a field has a name of the schema's, and not of whoever wrote the object.
func (s schemaNode) names(field string) bool {
	_, named := s.properties()[field].(map[string]any)
	return named || s.isHead(field)
}

// keepsAll says that whatever is here is kept.
func (s schemaNode) keepsAll() bool { return s.open && s.schema == nil }

// refuses says that a value has another type than the schema's, or is none of its choices.
func (s schemaNode) refuses(value any) bool {
	if choices, limited := s.schema["enum"].([]any); limited && value != nil && !among(value, choices) {
		return true
	}
	typed, given := s.schema["type"].(string)
	if !given || value == nil {
		return false
	}
	is := "string"
	switch v := value.(type) {
	case map[string]any:
		is = "object"
	case []any:
		is = "array"
	case bool:
		is = "boolean"
	case int64:
		is = "integer"
	case float64:
		if is = "number"; v == float64(int64(v)) {
			is = "integer"
		}
	}
	return is != typed && (is != "integer" || typed != "number")
}
