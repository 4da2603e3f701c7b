package rewrite

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"unicode/utf8"

	goyaml "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// MaxYAML is how long a YAML document may be, in bytes: all that it becomes is held.
const MaxYAML = 512 << 10

// What a YAML document becomes on its way to JSON takes so many bytes for each byte
// of it, and for each mark that may begin a value.
const (
	madeOfByte = 8
	madeOfMark = 420
)

// weight is how many bytes what is read of a YAML document may become.
func weight(text []byte) int {
	marks := 0
	for _, c := range text {
		switch c {
		case '{', '[', ',', ':', '\n', '\r':
			marks++
		}
	}
	return madeOfByte*len(text) + madeOfMark*marks
}

// tagDirective is what makes a long tag of a short one.
var tagDirective = regexp.MustCompile(`(?:^|[\n\r\x{85}\x{2028}\x{2029}\x{feff}])%TAG`)

// grows says why a YAML document may become far more than it is, or "".
func grows(text []byte) string {
	switch {
	case !utf8.Valid(text):
		return "it is not in UTF-8"
	case tagDirective.Match(text):
		return "it has a directive %TAG"
	case bytes.IndexByte(text, '&') < 0 || bytes.IndexByte(text, '*') < 0:
		return ""
	}
	var node goyaml.Node
	if err := goyaml.Unmarshal(text, &node); err != nil {
		return err.Error()
	}
	if hasAlias(&node) {
		return "it has an alias: write out what it stands for"
	}
	return ""
}

func hasAlias(node *goyaml.Node) bool {
	if node.Kind == goyaml.AliasNode {
		return true
	}
	for _, below := range node.Content {
		if hasAlias(below) {
			return true
		}
	}
	return false
}

// fromYAML reads a YAML document whole and returns it as JSON. It refuses a key
// that is there twice, and aliases, by which it could become any length.
func fromYAML(src io.Reader, room Room) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(&weighed{src, room}, MaxYAML+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxYAML {
		return nil, &Error{
			Code: http.StatusRequestEntityTooLarge, Offset: -1,
			Text: fmt.Sprintf("the YAML document is longer than %d bytes: send it as JSON", MaxYAML),
		}
	}
	if wrong := grows(text); wrong != "" {
		return nil, &Error{Code: http.StatusBadRequest, Text: "the body is not the YAML that it should be: " + wrong, Offset: -1}
	}
	json, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, &Error{Code: http.StatusBadRequest, Text: fmt.Sprintf("the body is not the YAML that it should be: %v", err), Offset: -1}
	}
	return json, nil
}

// Room asks for room for so many more bytes of what is held as a whole, or says why
// there is none.
type Room func(bytes int) error

// weighed asks for room for what is made of what it reads.
type weighed struct {
	io.Reader
	room Room
}

func (w *weighed) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if full := w.room(weight(p[:n])); full != nil {
		return 0, full
	}
	return n, err
}

// yamlReader reads YAML and becomes JSON at the first read.
type yamlReader struct {
	src  io.Reader
	room Room
	json *bytes.Reader
}

func (y *yamlReader) Read(p []byte) (int, error) {
	if y.json == nil {
		json, err := fromYAML(y.src, y.room)
		if err != nil {
			return 0, err
		}
		y.json = bytes.NewReader(json)
	}
	return y.json.Read(p)
}
