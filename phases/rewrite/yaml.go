package rewrite

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"sigs.k8s.io/yaml"
)

// MaxYAML is how long a YAML document may be: as long as the server takes one.
const MaxYAML = 3 << 20

// fromYAML reads a YAML document whole and returns it as JSON. It refuses a key
// that is there twice.
func fromYAML(src io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(src, MaxYAML+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxYAML {
		return nil, &Error{
			Code: http.StatusRequestEntityTooLarge, Offset: -1,
			Text: fmt.Sprintf("the YAML document is longer than %d bytes: send it as JSON", MaxYAML),
		}
	}
	json, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, &Error{Code: http.StatusBadRequest, Text: fmt.Sprintf("the body is not the YAML that it should be: %v", err), Offset: -1}
	}
	return json, nil
}

// yamlReader reads YAML and becomes JSON at the first read.
type yamlReader struct {
	src  io.Reader
	json *bytes.Reader
}

func (y *yamlReader) Read(p []byte) (int, error) {
	if y.json == nil {
		json, err := fromYAML(y.src)
		if err != nil {
			return 0, err
		}
		y.json = bytes.NewReader(json)
	}
	return y.json.Read(p)
}
