package render

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/capstan-capi/capstan/message"
)

// maxAliased bounds the values that the aliases of one document may stand for:
// a few lines of aliases of aliases can stand for billions.
const maxAliased = 100_000

// longestNumber is how many bytes a boolean or a number has in JSON at most.
const longestNumber = 25

// decoder turns a YAML document into the values that unstructured objects are
// made of: map[string]any, []any, string, int64, float64, bool and nil. Scalars
// are read as kubectl reads them (yes and off are booleans, timestamps are
// strings, a whole float is an integer); keys are always strings. Numbers that
// JSON cannot express, tags of other types and duplicate keys are problems.
type decoder struct {
	report func(line int, path, cause string)
	// self is replaced by image in every string value.
	self, image string
	path        path
	aliases     []*yaml.Node // being expanded
	aliased     int
	bytes       int  // as JSON, of what is decoded
	nulls       bool // a mapping had a null value
}

func (d *decoder) fail(node *yaml.Node, format string, args ...any) any {
	d.report(node.Line, d.path.String(), fmt.Sprintf(format, args...))
	return nil
}

// path leads to a value: names of fields, and indexes where the name is empty.
type path []step

type step struct {
	name  string
	index int
}

// String writes a path such as spec.versions[0].name.
func (p path) String() string {
	var text strings.Builder
	for i, s := range p {
		switch {
		case s.name == "":
			fmt.Fprintf(&text, "[%d]", s.index)
		case i == 0:
			text.WriteString(s.name)
		default:
			text.WriteString("." + s.name)
		}
	}
	return text.String()
}

func (d *decoder) value(node *yaml.Node) any {
	if len(d.aliases) > 0 && d.aliased <= maxAliased {
		if d.aliased++; d.aliased > maxAliased {
			d.fail(node, "the aliases of this document stand for more than %d values", maxAliased)
		}
	}
	switch {
	case d.aliased > maxAliased || !d.room(node, 1):
		return nil
	case node.Kind == yaml.ScalarNode:
		return d.scalar(node)
	case node.Kind == yaml.MappingNode && node.Tag == "!!map":
		return d.mapping(node)
	case node.Kind == yaml.SequenceNode && node.Tag == "!!seq":
		return d.sequence(node)
	case node.Kind == yaml.AliasNode:
		return d.alias(node)
	}
	return d.fail(node, "the tag %s is not supported", message.Shorten(node.Tag, 100))
}

// room counts bytes of the result, and says whether there is room for them.
func (d *decoder) room(node *yaml.Node, bytes int) bool {
	if d.bytes > maxObject {
		return false
	}
	if d.bytes += bytes; d.bytes > maxObject {
		d.fail(node, "the object has more than the %d bytes that a cluster can store", maxObject)
		return false
	}
	return true
}

func (d *decoder) alias(node *yaml.Node) any {
	if slices.Contains(d.aliases, node.Alias) {
		return d.fail(node, "the alias *%s stands for a value that contains it", message.Shorten(node.Value, 100))
	}
	d.aliases = append(d.aliases, node.Alias)
	value := d.value(node.Alias)
	d.aliases = d.aliases[:len(d.aliases)-1]
	return value
}

func (d *decoder) sequence(node *yaml.Node) any {
	items := make([]any, len(node.Content))
	for i, item := range node.Content {
		d.path = append(d.path, step{index: i})
		items[i] = d.value(item)
		d.path = d.path[:len(d.path)-1]
	}
	return items
}

func (d *decoder) mapping(node *yaml.Node) any {
	fields := make(map[string]any, len(node.Content)/2)
	var merged []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Tag == "!!merge" {
			merged = append(merged, value)
			continue
		}
		name, ok := d.key(key)
		if !ok || !d.room(key, jsonSize(name)+1) {
			continue
		}
		d.path = append(d.path, step{name: name})
		if _, twice := fields[name]; twice {
			d.fail(key, "the field is given twice in one mapping")
		} else {
			decoded := d.value(value)
			d.nulls = d.nulls || decoded == nil
			fields[name] = decoded
		}
		d.path = d.path[:len(d.path)-1]
	}
	for _, source := range merged {
		d.merge(fields, source)
	}
	return fields
}

func (d *decoder) key(key *yaml.Node) (string, bool) {
	if key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	if key.Kind != yaml.ScalarNode || key.Tag == "!!null" {
		d.fail(key, "a key of a mapping must be a string")
		return "", false
	}
	return key.Value, true
}

// merge adds the fields of a mapping, or of each of a sequence of mappings,
// that are not given already.
func (d *decoder) merge(fields map[string]any, source *yaml.Node) {
	sources := []any{}
	switch value := d.value(source).(type) {
	case map[string]any:
		sources = append(sources, value)
	case []any:
		sources = value
	}
	for _, source := range sources {
		more, ok := source.(map[string]any)
		if !ok {
			sources = nil
			break
		}
		for name, value := range more {
			if _, given := fields[name]; !given {
				fields[name] = value
			}
		}
	}
	if len(sources) == 0 {
		d.fail(source, "a merge (<<) needs a mapping or a list of mappings")
	}
}

func (d *decoder) scalar(node *yaml.Node) any {
	switch node.Tag {
	case "!!str":
		if value, ok := yaml11Boolean(node); ok {
			return value
		}
		times := 0
		if d.self != "" {
			times = strings.Count(node.Value, d.self)
		}
		if !d.room(node, jsonSize(node.Value)+times*(len(d.image)-len(d.self))) {
			return nil
		}
		if times > 0 {
			return strings.ReplaceAll(node.Value, d.self, d.image)
		}
		return node.Value
	case "!!timestamp":
		if !d.room(node, jsonSize(node.Value)) {
			return nil
		}
		return node.Value
	case "!!null":
		return nil
	}
	if !d.room(node, longestNumber) {
		return nil
	}
	switch node.Tag {
	case "!!int":
		if value, err := strconv.ParseInt(node.Value, 10, 64); err == nil && node.Value[0] != '0' {
			return value
		}
		return d.number(node)
	case "!!bool", "!!float":
		return d.number(node)
	}
	return d.fail(node, "the tag %s is not supported", message.Shorten(node.Tag, 100))
}

// number decodes a boolean or a number with the YAML library. Whole numbers
// become int64 where they fit, as in answers of the API server.
func (d *decoder) number(node *yaml.Node) any {
	var value any
	if err := node.Decode(&value); err != nil {
		return d.fail(node, "%s is not a value of type %s", message.Shorten(node.Value, 100), strings.TrimPrefix(node.Tag, "!!"))
	}
	switch v := value.(type) {
	case bool:
		return v
	case int:
		return int64(v)
	case int64:
		return v
	case uint64:
		return float64(v)
	case float64:
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return d.fail(node, "%s has no form in JSON", node.Value)
		case v == math.Trunc(v) && v >= math.MinInt64 && v < math.MaxInt64:
			return int64(v)
		}
		return v
	}
	return d.fail(node, "%s is not a number", message.Shorten(node.Value, 100))
}

// yaml11Boolean returns the value of a plain scalar that YAML 1.1, and so
// kubectl, reads as a boolean; the library decodes YAML 1.2.
func yaml11Boolean(node *yaml.Node) (value, ok bool) {
	if len(node.Value) > 3 || node.Style != 0 {
		return false, false
	}
	switch node.Value {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
		return true, true
	case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}
