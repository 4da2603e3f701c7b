package rewrite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Media types of bodies.
const (
	mediaJSON      = "application/json"
	mediaYAML      = "application/yaml"
	mediaApply     = "application/apply-patch+yaml"
	mediaMerge     = "application/merge-patch+json"
	mediaStrategic = "application/strategic-merge-patch+json"
	mediaJSONPatch = "application/json-patch+json"
)

// commonSize is more than most objects have.
const commonSize = 8 << 10

// What documents are, by class.
var (
	sentObjects = ofObjects(anObject)
	sentPatches = ofObjects(func(class Class) *place { return aPatch(anObject(class)) })
	answers     = withOthers(ofObjects(func(class Class) *place { return anAnswer(class, false) }))
	lists       = withOthers(ofObjects(func(class Class) *place { return anAnswer(class, true) }))
	watches     = ofObjects(func(class Class) *place { return object(in("object", anAnswer(class, false))) })
)

type documents [classes]*place

func ofObjects(f func(Class) *place) *documents {
	var each documents
	for class := MappedKinds; class < classes; class++ {
		each[class] = f(class)
	}
	return &each
}

func withOthers(each *documents) *documents {
	each[Discovery], each[OpenAPI] = aDiscovery(), anOpenAPI()
	return each
}

// Body rewrites the body of a request on its way to the server, and returns the
// media type that it then has. body tells OtherPrefixes as a Reader does, unless
// it passes as it is. Protobuf is not for it. What is malformed is an
// *Error of the body's Read, so that what was read before is not acted upon; a
// media type that cannot be rewritten is an *Error with code 415 at once. YAML asks
// for room, whose error is Read's.
func (r *Request) Body(contentType string, src io.Reader, room Room) (media string, body io.Reader, err error) {
	if !r.Class.IsObjects() {
		return contentType, src, nil
	}
	root := sentObjects[r.Class]
	switch media, _ := mediaType(contentType); media {
	case "", mediaJSON, mediaMerge, mediaStrategic:
		return contentType, newReader(src, ToServer, root, false), nil
	case mediaJSONPatch:
		return contentType, newReader(src, ToServer, sentPatches[r.Class], false), nil
	case mediaApply:
		return contentType, &applyReader{src: src, root: root, room: room}, nil
	case mediaYAML:
		return mediaJSON, newReader(&yamlReader{src: src, room: room}, ToServer, root, false), nil
	}
	return "", nil, &Error{
		Code: http.StatusUnsupportedMediaType, Offset: -1,
		Text: fmt.Sprintf("a body of type %q cannot be rewritten: send %s", contentType, mediaJSON),
	}
}

// Answer rewrites the body of the server's answer on its way to the client, by a
// Reader. Protobuf is not for it, and what is neither that nor JSON passes as it is. What is
// malformed, or is cut off, is an *Error with code 502 of the body's Read.
func (r *Request) Answer(code int, contentType string, src io.Reader) io.Reader {
	media, _ := mediaType(contentType)
	if media != mediaJSON || r.Class == Opaque {
		return src
	}
	switch {
	case code >= http.StatusBadRequest || !r.Class.IsObjects():
		return newReader(src, ToClient, answers[r.Class], false)
	case r.Info.Verb == "watch":
		return newReader(src, ToClient, watches[r.Class], true)
	case r.Info.Verb == "list" || r.Info.Verb == "deletecollection":
		return newReader(src, ToClient, lists[r.Class], false)
	}
	return newReader(src, ToClient, answers[r.Class], false)
}

// applyReader reads what is applied, which is YAML by its name and mostly JSON.
type applyReader struct {
	src  io.Reader
	root *place
	room Room
	// from is read once it is known what the text is, and counts tells of it.
	from   io.Reader
	counts *Reader
	err    error
}

func (a *applyReader) Read(p []byte) (n int, err error) {
	if a.from == nil && a.err == nil {
		a.from, a.err = a.begin()
	}
	if a.err == nil {
		n, a.err = a.from.Read(p)
	}
	return n, a.err
}

// OtherPrefixes is what Reader's is.
func (a *applyReader) OtherPrefixes() int {
	if a.counts == nil {
		return 0
	}
	return a.counts.OtherPrefixes()
}

// begin tells JSON and YAML apart: by trying, if all fits into what may be held; else
// by how it begins.
func (a *applyReader) begin() (io.Reader, error) {
	text, err := beginning(a.src)
	if err != nil {
		return nil, err
	}
	start := skipSpace(text, 0)
	looksLikeJSON := start < len(text) && text[start] == '{'
	if len(text) == maxHeld {
		whole := io.MultiReader(bytes.NewReader(text), a.src)
		next := skipSpace(text, start+1)
		if looksLikeJSON && next < len(text) && text[next] == '"' {
			return a.read(whole), nil
		}
		return a.read(&yamlReader{src: whole, room: a.room}), nil
	}
	if looksLikeJSON {
		made := bytes.NewBuffer(make([]byte, 0, len(text)+bytes.MinRead))
		// What can be rewritten is JSON. What cannot may be YAML for all that is known.
		if _, err := made.ReadFrom(a.read(bytes.NewReader(text))); err == nil || json.Valid(text) {
			return made, err
		}
	}
	return a.read(&yamlReader{src: bytes.NewReader(text), room: a.room}), nil
}

func (a *applyReader) read(from io.Reader) *Reader {
	a.counts = newReader(from, ToServer, a.root, false)
	return a.counts
}

// beginning reads all that may be held, or less if there is no more.
func beginning(src io.Reader) ([]byte, error) {
	text := make([]byte, 0, commonSize)
	for len(text) < maxHeld {
		if len(text) == cap(text) {
			text = append(make([]byte, 0, min(maxHeld, 2*cap(text))), text...)
		}
		n, err := src.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return text, nil
}
