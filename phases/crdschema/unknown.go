package crdschema

import (
	"encoding/json"
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

// hiddenUnknown are the unknown fields that a strict decoder does not see: items, additionalProperties and dependencies decode
// themselves, and drop what they do not know.
func hiddenUnknown(asJSON []byte) ([]error, error) {
	var document struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema any `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(asJSON, &document); err != nil {
		return nil, fmt.Errorf("decoding the definition: %w", err)
	}
	var found unknownFields
	for i, version := range document.Spec.Versions {
		found.schema("spec.versions["+strconv.Itoa(i)+"].schema.openAPIV3Schema", version.Schema.OpenAPIV3Schema, false)
	}
	slices.Sort(found)
	problems := make([]error, 0, len(found))
	for _, path := range found {
		problems = append(problems, fmt.Errorf("unknown field %q", path))
	}
	return problems, nil
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
