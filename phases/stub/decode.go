package stub

import (
	gojson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	old "github.com/coreos/ignition/config/v2_4/types"
	oldvalidate "github.com/coreos/ignition/config/validate"
	"github.com/coreos/ignition/config/validate/report"
	"sigs.k8s.io/json"
)

const (
	// maxValues is how many items and fields a config may have that is to be converted: what is decoded of few bytes is large, and
	// links are compared with all files. The configs of whole pools have some two thousand.
	maxValues = 10_000
	// maxDepth is how many objects and lists may be inside each other; spec 2 has ten.
	maxDepth = 64
)

// decode reads a config of spec 2. The types of 2.4 know all fields of the versions before it, with the same meaning; a field
// that is younger than the config's version is taken at its word.
func decode(userData []byte) (old.Config, error) {
	var config old.Config
	if err := bounded(userData); err != nil {
		return config, err
	}
	problems, err := json.UnmarshalStrict(userData, &config)
	if err != nil {
		return config, undecodable(err)
	}
	if len(problems) > 0 {
		return config, unfamiliar(problems[0])
	}
	if oldvalidate.ValidateWithoutSource(reflect.ValueOf(config)).IsFatal() {
		at, reason := culprit(reflect.ValueOf(config), "")
		return config, unconvertible(at, sentence("2", reason))
	}
	return config, nil
}

// bounded refuses what would cost too much to look at. Of what is in quotes, only quotes that are escaped have a meaning.
func bounded(userData []byte) error {
	depth, values, quoted := 0, 0, false
	for i := 0; i < len(userData); i++ {
		switch c := userData[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && (c == '{' || c == '['):
			depth++
			values++
		case !quoted && (c == '}' || c == ']'):
			depth--
		case !quoted && c == ',':
			values++
		}
		if depth > maxDepth {
			return unconvertible("", fmt.Sprintf("more than %d objects and lists are inside each other", maxDepth))
		}
		if values > maxValues {
			return unconvertible("", fmt.Sprintf("it has more than %d fields and items", maxValues))
		}
	}
	return nil
}

// undecodable tells where JSON cannot be read, and of a wrong kind which field. The library's error would quote the value.
func undecodable(err error) error {
	if syntax, offset := json.SyntaxErrorOffset(err); syntax {
		return unconvertible("", fmt.Sprintf("it is no JSON at byte %d", offset))
	}
	var kind *gojson.UnmarshalTypeError
	if errors.As(err, &kind) {
		return unconvertible(known(reflect.TypeFor[old.Config](), kind.Field), "its value is of a wrong kind")
	}
	return unconvertible("", "it cannot be read as JSON")
}

// unfamiliar tells the object that has a field which spec 2 does not know, or one twice. The field's own name is of the user.
func unfamiliar(problem error) error {
	const why = "it has a field twice, or one that spec 2 does not know"
	var field json.FieldError
	if !errors.As(problem, &field) {
		return unconvertible("", why)
	}
	return unconvertible(known(reflect.TypeFor[old.Config](), field.FieldPath()), why)
}

var step = regexp.MustCompile(`^\.?([^.\[]+)((?:\[\d+\])*)`)

// known is as much of a path as there are fields of a type. Structs that are part of others have no name in JSON.
func known(of reflect.Type, path string) string {
	sofar := ""
	for {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		found := step.FindStringSubmatch(path)
		if found == nil || of.Kind() != reflect.Struct {
			return sofar
		}
		path = path[len(found[0]):]
		if part, ok := of.FieldByName(found[1]); ok && part.Anonymous {
			of = part.Type
			continue
		}
		field := named(of, found[1])
		if field == nil {
			return sofar
		}
		sofar, of = strings.TrimPrefix(sofar+"."+found[1], ".")+found[2], field
	}
}

// named is the type of a field by its name in JSON; nil if there is none.
func named(of reflect.Type, name string) reflect.Type {
	for _, field := range reflect.VisibleFields(of) {
		if !field.Anonymous && jsonName(field) == name {
			return field.Type
		}
	}
	return nil
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// culprit is the innermost value that spec 2 refuses, and the first reason.
func culprit(value reflect.Value, at string) (place, reason string) {
	for value.Kind() == reflect.Pointer && !value.IsNil() {
		value = value.Elem()
	}
	refuses := func(inner reflect.Value) bool {
		return inner.CanInterface() && oldvalidate.ValidateWithoutSource(inner).IsFatal()
	}
	switch value.Kind() {
	case reflect.Struct:
		for _, field := range reflect.VisibleFields(value.Type()) {
			if inner := value.FieldByIndex(field.Index); !field.Anonymous && refuses(inner) {
				return culprit(inner, strings.TrimPrefix(at+"."+jsonName(field), "."))
			}
		}
	case reflect.Slice:
		for i := range value.Len() {
			if refuses(value.Index(i)) {
				return culprit(value.Index(i), item(at, i))
			}
		}
	}
	for _, entry := range oldvalidate.ValidateWithoutSource(value).Entries {
		if entry.Kind == report.EntryError {
			return at, entry.Message
		}
	}
	return at, ""
}
