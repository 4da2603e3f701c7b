package protobuf

import (
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// kindExtension is the name of the extension that says which kind something is about.
const kindExtension = "x-kubernetes-group-version-kind"

// openapi.v2.Document and openapi.v3.Document.
var documentV2, documentV3 = newDocumentV2(), newDocumentV3()

// OpenAPIv2 appends to dst the document in src, translated: paths, kinds, names of definitions, references. What is not to be
// seen is left out.
func OpenAPIv2(dst, src []byte, texts *Texts) ([]byte, error) {
	return texts.walk(dst, src, documentV2, 0)
}

// OpenAPIv3 does the same with a document of v3.
func OpenAPIv3(dst, src []byte, texts *Texts) ([]byte, error) {
	return texts.walk(dst, src, documentV3, 0)
}

func extensionsAt(number protowire.Number, name string) field {
	named := fields(sub(2, "value", fields(text(2, "yaml", yamlGroups))))
	return field{number: number, name: name, role: extension, of: named}
}

func newDocumentV2() *message {
	schema := &message{}
	schema.fields = []field{
		text(1, "_ref", reference),
		sub(21, "additional_properties", fields(sub(1, "schema", schema))),
		sub(23, "items", fields(sub(1, "schema", schema))),
		sub(24, "all_of", schema),
		sub(25, "properties", fields(sub(1, "additional_properties", fields(sub(2, "value", schema))))),
		extensionsAt(31, "vendor_extension"),
	}
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
		extensionsAt(13, "vendor_extension"),
	)
	pathItem := fields(
		sub(2, "get", operation), sub(3, "put", operation), sub(4, "post", operation), sub(5, "delete", operation),
		sub(6, "options", operation), sub(7, "head", operation), sub(8, "patch", operation),
		sub(9, "parameters", parametersItem), extensionsAt(10, "vendor_extension"),
	)
	return fields(
		sub(8, "paths", fields(pathsAt(2, pathItem))),
		sub(9, "definitions", fields(definitionsAt(1, schema))),
	)
}

func newDocumentV3() *message {
	schema := &message{}
	either := fields(sub(1, "schema", schema), sub(2, "reference", fields(text(1, "_ref", reference))))
	schema.fields = []field{
		sub(26, "all_of", either), sub(27, "one_of", either), sub(28, "any_of", either), sub(29, "not", schema),
		sub(30, "items", fields(sub(1, "schema_or_reference", either))),
		sub(31, "properties", fields(sub(1, "additional_properties", fields(sub(2, "value", either))))),
		sub(32, "additional_properties", fields(sub(1, "schema_or_reference", either))),
		extensionsAt(36, "specification_extension"),
	}
	content := fields(sub(1, "additional_properties", fields(sub(2, "value", fields(sub(1, "schema", either))))))
	parameters := fields(sub(1, "parameter", fields(sub(10, "schema", either))))
	response := fields(sub(1, "response", fields(sub(3, "content", content))))
	operation := fields(
		sub(6, "parameters", parameters),
		sub(7, "request_body", fields(sub(1, "request_body", fields(sub(2, "content", content))))),
		sub(8, "responses", fields(sub(1, "default", response), sub(2, "response_or_reference", fields(sub(2, "value", response))))),
		extensionsAt(13, "specification_extension"),
	)
	pathItem := fields(
		sub(4, "get", operation), sub(5, "put", operation), sub(6, "post", operation), sub(7, "delete", operation),
		sub(8, "options", operation), sub(9, "head", operation), sub(10, "patch", operation), sub(11, "trace", operation),
		sub(13, "parameters", parameters), extensionsAt(14, "specification_extension"),
	)
	return fields(
		sub(4, "paths", fields(pathsAt(1, pathItem))),
		sub(5, "components", fields(sub(1, "schemas", fields(definitionsAt(1, either))))),
	)
}

func pathsAt(number protowire.Number, item *message) field {
	return field{number: number, name: "path", role: namedPath, of: fields(text(1, "name", path), sub(2, "value", item))}
}

func definitionsAt(number protowire.Number, of *message) field {
	named := fields(text(1, "name", definition), sub(2, "value", of))
	return field{number: number, name: "additional_properties", role: namedDefinition, of: named}
}

// nameOf is the name of what has one, its field 1.
func nameOf(named []byte) string {
	var name string
	err := each(named, func(number protowire.Number, value []byte) error {
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

// yamlGroups translates the kinds that an extension names: one, or a list of them. Those that are not to be seen are left out
// of a list.
func (t *Texts) yamlGroups(yaml string) string {
	var out, kind strings.Builder
	shown := true
	end := func() {
		if shown {
			out.WriteString(kind.String())
		}
		kind.Reset()
		shown = true
	}
	for line := range strings.SplitAfterSeq(yaml, "\n") {
		if strings.HasPrefix(line, "- ") {
			end()
		}
		before, value, found := strings.Cut(line, "group: ")
		if name := strings.TrimSpace(value); found && strings.Trim(before, " -") == "" && name != "" {
			seen, ok := t.Kind(name)
			line = before + "group: " + strings.Replace(value, name, seen, 1)
			shown = shown && (ok || !strings.HasPrefix(yaml, "- "))
		}
		kind.WriteString(line)
	}
	end()
	return out.String()
}
