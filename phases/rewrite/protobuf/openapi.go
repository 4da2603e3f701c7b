package protobuf

import (
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

const referencePrefix = "#/definitions/"

// kindExtension is the name of the extension that says which kind something is about.
const kindExtension = "x-kubernetes-group-version-kind"

// document is openapi.v2.Document.
var document = newDocument()

// OpenAPI appends to dst the document of OpenAPI v2 in src, translated: paths, kinds, names of definitions, references.
func OpenAPI(dst, src []byte, texts *Texts) ([]byte, error) {
	return texts.walk(dst, src, document, 0)
}

func newDocument() *message {
	extensions := fields(sub(2, "value", fields(text(2, "yaml", yamlGroups))))
	schema := newSchema(extensions)
	jsonReference := fields(text(1, "_ref", reference))
	bodyParameter := fields(sub(5, "schema", schema))
	parametersItem := fields(
		sub(1, "parameter", fields(sub(1, "body_parameter", bodyParameter))),
		sub(2, "json_reference", jsonReference),
	)
	response := fields(sub(2, "schema", fields(sub(1, "schema", schema))))
	responseValue := fields(sub(1, "response", response), sub(2, "json_reference", jsonReference))
	operation := fields(
		sub(8, "parameters", parametersItem),
		sub(9, "responses", fields(sub(1, "response_code", fields(sub(2, "value", responseValue))))),
		field{number: 13, name: "vendor_extension", role: extension, of: extensions},
	)
	pathItem := fields(
		sub(2, "get", operation), sub(3, "put", operation), sub(4, "post", operation), sub(5, "delete", operation),
		sub(6, "options", operation), sub(7, "head", operation), sub(8, "patch", operation),
		sub(9, "parameters", parametersItem), field{number: 10, name: "vendor_extension", role: extension, of: extensions},
	)
	namedSchema := fields(text(1, "name", definition), sub(2, "value", schema))
	return fields(
		sub(8, "paths", fields(sub(2, "path", fields(text(1, "name", path), sub(2, "value", pathItem))))),
		sub(9, "definitions", fields(sub(1, "additional_properties", namedSchema))),
	)
}

// newSchema is openapi.v2.Schema, which is made of itself.
func newSchema(extensions *message) *message {
	schema := &message{}
	namedSchema := fields(sub(2, "value", schema))
	schema.fields = []field{
		text(1, "_ref", reference),
		sub(21, "additional_properties", fields(sub(1, "schema", schema))),
		sub(23, "items", fields(sub(1, "schema", schema))),
		sub(24, "all_of", schema),
		sub(25, "properties", fields(sub(1, "additional_properties", namedSchema))),
		field{number: 31, name: "vendor_extension", role: extension, of: extensions},
	}
	return schema
}

// nameOf is the name of an extension.
func nameOf(namedAny []byte) string {
	var name string
	err := each(namedAny, func(number protowire.Number, value []byte) error {
		if number == 1 {
			name = string(value)
		}
		return nil
	})
	if err != nil {
		return ""
	}
	return name
}

// yamlGroups translates the lines "group: <group>".
func (t *Texts) yamlGroups(yaml string) string {
	lines := strings.SplitAfter(yaml, "\n")
	for i, line := range lines {
		before, value, found := strings.Cut(line, "group: ")
		if !found || strings.Trim(before, " -") != "" {
			continue
		}
		name := strings.TrimSpace(value)
		lines[i] = before + "group: " + strings.Replace(value, name, t.Group(name), 1)
	}
	return strings.Join(lines, "")
}
