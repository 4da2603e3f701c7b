package golden

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Operation is one of a JSON Patch (RFC 6902).
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// Patch is the edit of a target. It tests all that it relies on and names no resourceVersion, so that only those who change the
// same fields conflict with it.
type Patch []Operation

// JSON is the patch as it is sent.
func (p Patch) JSON() ([]byte, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encoding the patch: %w", err)
	}
	return text, nil
}

func test(path string, value any) Operation {
	return Operation{Op: "test", Path: path, Value: value}
}

// set writes a field of an object, whether it was there or not.
func set(path string, value any) Operation {
	return Operation{Op: "add", Path: path, Value: value}
}

// escaped writes a key as a part of a JSON pointer.
var escaped = strings.NewReplacer("~", "~0", "/", "~1")

// pointer is the path of a field, as JSON pointers write it (RFC 6901).
func pointer(keys ...string) string {
	var path strings.Builder
	for _, key := range keys {
		path.WriteString("/" + escaped.Replace(key))
	}
	return path.String()
}
