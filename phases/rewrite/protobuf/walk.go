package protobuf

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxDepth is how many messages may lie in each other.
const maxDepth = 1000

// Texts say what becomes of the text at each sort of place. Each takes a whole text and gives what takes its place, which is
// the text itself where it names no group that is translated. All are needed, but those of a content that is never passed.
type Texts struct {
	// RootVersion is for the apiVersion of an object itself. Its error is passed on as it is.
	RootVersion func(string) (string, error)
	// GroupVersion is for "group/version".
	GroupVersion func(string) string
	// Group is for "group", where by mistake there may also be a "group/version".
	Group func(string) string
	// Name is for "<plural>.<group>", the name of a CustomResourceDefinition.
	Name func(string) string
	// Prose is for messages that people read.
	Prose func(string) string
	// Path is for paths of URLs in OpenAPI, Definition for the names of definitions there, Kind for the groups of kinds. What
	// is not to be seen is left out, with all that it names.
	Path, Definition, Kind func(string) (seen string, ok bool)
	// Reference is for references to definitions.
	Reference func(string) string
	// OfDefinitions says that the request is about CustomResourceDefinitions, so that the name of whatever object is one
	// of a definition: PartialObjectMetadata does not tell.
	OfDefinitions bool
}

// MalformedError says that content is not what its type says.
type MalformedError struct{ Cause string }

func (e *MalformedError) Error() string { return "malformed protobuf: " + e.Cause }

func malformed(format string, args ...any) error {
	return &MalformedError{Cause: fmt.Sprintf(format, args...)}
}

// walk appends the message to dst, its texts translated.
func (t *Texts) walk(dst, src []byte, m *message, depth int) ([]byte, error) {
	if depth > maxDepth {
		return dst, malformed("messages are nested more than %d deep", maxDepth)
	}
	for len(src) > 0 {
		number, wire, head := protowire.ConsumeTag(src)
		if head < 0 {
			return dst, malformed("%v", protowire.ParseError(head))
		}
		length := protowire.ConsumeFieldValue(number, wire, src[head:])
		if length < 0 {
			return dst, malformed("field %d: %v", number, protowire.ParseError(length))
		}
		whole := src[:head+length]
		src = src[head+length:]
		known := m.field(number)
		var err error
		switch {
		case known == nil || wire != protowire.BytesType:
			dst = append(dst, whole...)
		case t.hides(known.role, whole[head:]):
		default:
			dst, err = t.translate(dst, whole, head, known, depth)
		}
		if err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// hides says whether a field of OpenAPI is not to be seen.
func (t *Texts) hides(role role, field []byte) bool {
	ok := true
	switch role {
	case namedPath:
		value, _ := protowire.ConsumeBytes(field)
		_, ok = t.Path(nameOf(value))
	case namedDefinition:
		value, _ := protowire.ConsumeBytes(field)
		_, ok = t.Definition(nameOf(value))
	}
	return !ok
}

// translate appends one field, given as a whole and the length of its tag.
func (t *Texts) translate(dst, whole []byte, head int, known *field, depth int) ([]byte, error) {
	value, _ := protowire.ConsumeBytes(whole[head:])
	start := len(dst)
	dst = append(dst, whole[:head]...)
	lengthAt := len(dst)
	dst = protowire.AppendVarint(dst, uint64(len(value)))
	bodyAt := len(dst)
	dst, err := t.content(dst, value, known, depth)
	if err != nil {
		return dst, err
	}
	if bytes.Equal(dst[bodyAt:], value) {
		return append(dst[:start], whole...), nil
	}
	return setLength(dst, lengthAt, bodyAt), nil
}

func (t *Texts) content(dst, value []byte, known *field, depth int) ([]byte, error) {
	switch known.role {
	case nested, namedPath, namedDefinition:
		return t.walk(dst, value, known.of, depth+1)
	case embedded:
		return t.object(dst, value, depth+1)
	case attributes:
		return t.walk(dst, value, attributesOf(value), depth+1)
	case allowed:
		return t.walk(dst, value, allowedOf(value), depth+1)
	case extension:
		if nameOf(value) != kindExtension {
			return append(dst, value...), nil
		}
		return t.walk(dst, value, known.of, depth+1)
	case rootVersion:
		version, err := t.RootVersion(string(value))
		return append(dst, version...), err
	default:
		return append(dst, t.text(known.role, string(value))...), nil
	}
}

func (t *Texts) text(role role, text string) string {
	switch role {
	case groupVersion:
		return t.GroupVersion(text)
	case group:
		return t.Group(text)
	case crdName:
		return t.Name(text)
	case definedName:
		if t.OfDefinitions {
			return t.Name(text)
		}
		return text
	case prose:
		return t.Prose(text)
	case path:
		seen, _ := t.Path(text)
		return seen
	case definition:
		seen, _ := t.Definition(text)
		return seen
	case reference:
		return t.Reference(text)
	default:
		return t.yamlGroups(text)
	}
}

// setLength writes the length of what follows bodyAt to lengthAt, moving the content where the length takes more or less room.
func setLength(dst []byte, lengthAt, bodyAt int) []byte {
	length := uint64(len(dst) - bodyAt)
	room := lengthAt + protowire.SizeVarint(length)
	switch {
	case room > bodyAt:
		end := len(dst)
		dst = append(dst, make([]byte, room-bodyAt)...)
		copy(dst[room:], dst[bodyAt:end])
	case room < bodyAt:
		copy(dst[room:], dst[bodyAt:])
		dst = dst[:len(dst)-(bodyAt-room)]
	}
	protowire.AppendVarint(dst[:lengthAt], length)
	return dst
}
