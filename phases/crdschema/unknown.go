package crdschema

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// schemaFields are the names that a schema may have in JSON.
var schemaFields = func() map[string]bool {
	names := map[string]bool{}
	for field := range reflect.TypeFor[apiextensionsv1.JSONSchemaProps]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names[name] = true
	}
	return names
}()

// hiddenUnknown are the unknown fields of a definition that a strict decoder does not see: items, additionalProperties and
// dependencies decode themselves, and drop what they do not know.
func hiddenUnknown(definition any) []error {
	fields, _ := definition.(map[string]any)
	spec, _ := fields["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	var found unknownFields
	for i, version := range versions {
		fields, _ := version.(map[string]any)
		schema, _ := fields["schema"].(map[string]any)
		found.schema("spec.versions["+strconv.Itoa(i)+"].schema.openAPIV3Schema", schema["openAPIV3Schema"], false)
	}
	slices.Sort(found)
	problems := make([]error, 0, len(found))
	for _, path := range found {
		problems = append(problems, fmt.Errorf("unknown field %q", path))
	}
	return problems
}

type unknownFields []string

// schema looks through a schema; hidden says that a strict decoder did not see it.
func (u *unknownFields) schema(path string, value any, hidden bool) {
	fields, ok := value.(map[string]any)
	if !ok {
		return
	}
	for name, value := range fields {
		at := path + "." + name
		switch name {
		case "properties", "patternProperties", "definitions":
			u.each(at, value, hidden)
		case "dependencies":
			u.each(at, value, true)
		case "allOf", "anyOf", "oneOf":
			u.list(at, value, hidden)
		case "not":
			u.schema(at, value, hidden)
		case "items", "additionalProperties", "additionalItems":
			u.schema(at, value, true)
			u.list(at, value, true)
		default:
			if hidden && !schemaFields[name] {
				*u = append(*u, at)
			}
		}
	}
}

func (u *unknownFields) each(path string, value any, hidden bool) {
	schemas, _ := value.(map[string]any)
	for name, schema := range schemas {
		u.schema(path+"."+name, schema, hidden)
	}
}

func (u *unknownFields) list(path string, value any, hidden bool) {
	schemas, _ := value.([]any)
	for i, schema := range schemas {
		u.schema(path+"["+strconv.Itoa(i)+"]", schema, hidden)
	}
}
