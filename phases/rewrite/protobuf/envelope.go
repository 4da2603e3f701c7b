package protobuf

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
)

// magic begins every object.
var magic = []byte("k8s\x00")

// The fields of an envelope, runtime.Unknown, and of the TypeMeta in it.
const (
	unknownTypeMeta        = 1
	unknownRaw             = 2
	unknownContentEncoding = 3
	unknownContentType     = 4

	typeMetaAPIVersion = 1
	typeMetaKind       = 2
)

// ContentType is the media type of an enveloped object, and with a parameter of a stream of watch frames.
const ContentType = "application/vnd.kubernetes.protobuf"

// Object appends to dst the enveloped object in src, translated. An error is a MalformedError, or one of Texts.RootVersion.
func Object(dst, src []byte, texts *Texts) ([]byte, error) {
	return texts.object(dst, src, 0)
}

// Event appends to dst the watch event in src, which is one frame without its length, translated.
func Event(dst, src []byte, texts *Texts) ([]byte, error) {
	return texts.walk(dst, src, watchEvent, 0)
}

func (t *Texts) object(dst, src []byte, depth int) ([]byte, error) {
	if !bytes.HasPrefix(src, magic) {
		return dst, malformed("it does not begin with the mark of a Kubernetes object")
	}
	src = src[len(magic):]
	apiVersion, name, err := typeOf(src)
	if err != nil {
		return dst, err
	}
	envelope := fields(sub(unknownTypeMeta, "typeMeta", typeMeta))
	if schema := schemaOf(apiVersion, name); schema != nil {
		envelope.fields = append(envelope.fields, sub(unknownRaw, "raw", schema))
	}
	return t.walk(append(dst, magic...), src, envelope, depth)
}

// typeOf reads apiVersion and kind out of an envelope, wherever in it they stand. Content that is encoded once more, or of
// another type, is refused: nothing in it could be translated.
func typeOf(envelope []byte) (apiVersion, name string, err error) {
	err = each(envelope, func(number protowire.Number, value []byte) error {
		switch number {
		case unknownTypeMeta:
			return each(value, func(number protowire.Number, value []byte) error {
				switch number {
				case typeMetaAPIVersion:
					apiVersion = string(value)
				case typeMetaKind:
					name = string(value)
				}
				return nil
			})
		case unknownContentEncoding:
			if len(value) > 0 {
				return malformed("an envelope has the content encoding %.40q", value)
			}
		case unknownContentType:
			if len(value) > 0 && string(value) != ContentType {
				return malformed("an envelope has the content type %.40q", value)
			}
		}
		return nil
	})
	return apiVersion, name, err
}

// each gives the fields of a message that have a length.
func each(src []byte, give func(protowire.Number, []byte) error) error {
	for len(src) > 0 {
		number, wire, head := protowire.ConsumeTag(src)
		if head < 0 {
			return malformed("%v", protowire.ParseError(head))
		}
		length := protowire.ConsumeFieldValue(number, wire, src[head:])
		if length < 0 {
			return malformed("field %d: %v", number, protowire.ParseError(length))
		}
		if wire == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(src[head:])
			if err := give(number, value); err != nil {
				return err
			}
		}
		src = src[head+length:]
	}
	return nil
}
