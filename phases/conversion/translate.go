package conversion

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

// What is below these keys is the user's own text.
var kept = []string{"labels", "annotations", "fieldsV1"}

// Groups stand at these keys, at any depth.
var places = []string{"apiVersion", "apiGroup"}

// translate turns an object of a mapped kind.
func translate(d rewrite.Direction, object []byte) ([]byte, error) {
	value, err := decode(object)
	if err != nil {
		return nil, err
	}
	if _, is := value.(map[string]any); !is {
		return nil, fmt.Errorf("it is no object")
	}
	return encode(turned(d, value))
}

// turned turns all groups in a value.
func turned(d rewrite.Direction, value any) any {
	switch value := value.(type) {
	case []any:
		for i, member := range value {
			value[i] = turned(d, member)
		}
	case map[string]any:
		for key, member := range value {
			value[key] = turnedAt(d, key, member)
		}
	}
	return value
}

func turnedAt(d rewrite.Direction, key string, value any) any {
	text, is := value.(string)
	switch {
	case slices.Contains(kept, key):
		return value
	case is && slices.Contains(places, key):
		mapped, _ := d.GroupVersion(text)
		return mapped
	}
	return turned(d, value)
}

// translatePatch turns the values of a JSON Patch on an object of a mapped kind, each at the place that its path leads to.
func translatePatch(d rewrite.Direction, patch []byte) ([]byte, error) {
	value, err := decode(patch)
	if err != nil {
		return nil, err
	}
	operations, is := value.([]any)
	if !is {
		return nil, fmt.Errorf("it is no list")
	}
	for i, o := range operations {
		operation, is := o.(map[string]any)
		if !is {
			return nil, fmt.Errorf("its operation %d is no object", i+1)
		}
		path, _ := operation["path"].(string)
		from, moves := operation["from"].(string)
		if moves && (isKept(from) != isKept(path) || isPlace(from) != isPlace(path)) {
			return nil, fmt.Errorf("its operation %d takes what is at %s to %s, where groups are something else", i+1, from, path)
		}
		if value, has := operation["value"]; has && !isKept(path) {
			operation["value"] = turnedAt(d, lastOf(path), value)
		}
	}
	return encode(operations)
}

// isKept says that a path leads to the user's own text, or below.
func isKept(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(key string) bool { return slices.Contains(kept, key) })
}

// isPlace says that a path leads to a group.
func isPlace(path string) bool { return slices.Contains(places, lastOf(path)) }

func lastOf(path string) string { return path[strings.LastIndex(path, "/")+1:] }

func decode(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	return value, nil
}

func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(text.Bytes()), nil
}
