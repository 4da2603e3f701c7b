package protobuf

import "google.golang.org/protobuf/encoding/protowire"

// role says what a field holds.
type role uint8

const (
	nested          role = iota // a message in which something is translated
	embedded                    // an enveloped object
	extension                   // the extension of OpenAPI that says which kind something is about, or another one
	attributes                  // what an access review is about
	allowed                     // a rule of a rules review
	rootVersion                 // the apiVersion of an envelope
	groupVersion                // "group/version"
	group                       // "group"
	crdName                     // "<plural>.<group>", the name of a definition
	definedName                 // the same, if the request is about definitions
	prose                       // a message for people
	path                        // the path of a URL, in OpenAPI
	definition                  // the name of a definition of OpenAPI
	reference                   // a reference to one
	namedPath                   // what has such a path for its name, or is left out with it
	namedDefinition             // the same with the name of a definition
	yamlGroups                  // what that extension says, as YAML
)

// field is a field of a message in which something is translated.
type field struct {
	number protowire.Number
	name   string
	role   role
	of     *message
}

// message is the part of a message type that matters here; other fields are copied.
type message struct {
	fields []field
}

func (m *message) field(number protowire.Number) *field {
	for i := range m.fields {
		if m.fields[i].number == number {
			return &m.fields[i]
		}
	}
	return nil
}

func fields(list ...field) *message {
	return &message{fields: list}
}

func text(number protowire.Number, name string, role role) field {
	return field{number: number, name: name, role: role}
}

func sub(number protowire.Number, name string, of *message) field {
	return field{number: number, name: name, role: nested, of: of}
}
