package crdschema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	yamlv3 "go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Bounds of what a document may come to: a parser makes of each two bytes some hundred, and aliases stand for gigabytes.
const (
	// maxCharacters is how long the API lets a document be.
	maxCharacters = 1572864
	// maxIndicators is how many characters with which YAML begins a value it may have. The largest definition that is known has
	// 94,000.
	maxIndicators = 500_000
	// maxDepth is how many maps and lists may be inside each other. A field of a schema is two deeper than its parent.
	maxDepth = 200
	// maxExpansion is how many bytes aliases may stand for, together.
	maxExpansion = maxCharacters
)

// parse reads a definition out of exactly one YAML document, as strictly as the API server reads what asks for strict
// validation, and below items and additionalProperties too. The error names the field.
func parse(text string) (*apiextensionsv1.CustomResourceDefinition, error) {
	if err := sized(text); err != nil {
		return nil, err
	}
	asJSON, err := toJSON(text)
	if err != nil {
		return nil, err
	}
	var document any
	if twice, err := kjson.UnmarshalStrict(asJSON, &document); err != nil || len(twice) > 0 {
		return nil, cmp.Or(err, errors.Join(twice...))
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	problems, err := kjson.UnmarshalStrict(asJSON, crd)
	if err != nil {
		return nil, fmt.Errorf("decoding the definition: %w", err)
	}
	if problems = append(problems, hiddenUnknown(document)...); len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return crd, nil
}

// toJSON makes JSON of the document, within bounds. What is JSON already is taken as it is: reading it as YAML takes as long as
// all else.
func toJSON(text string) (asJSON []byte, err error) {
	if asJSON = []byte(text); !json.Valid(asJSON) {
		if err := bounded(text); err != nil {
			return nil, err
		}
		if asJSON, err = yaml.YAMLToJSONStrict([]byte(text)); err != nil {
			return nil, fmt.Errorf("reading YAML: %w", err)
		}
	}
	_, err = sizeOf(asJSON, maxDepth, maxName)
	return asJSON, err
}

// sized refuses a document that would cost too much to look at.
func sized(text string) error {
	if n := utf8.RuneCountInString(text); n > maxCharacters {
		return fmt.Errorf("the document has %d characters, and may have %d", n, maxCharacters)
	}
	indicators := 0
	for _, indicator := range ",:[{-?" {
		indicators += strings.Count(text, string(indicator))
	}
	if indicators > maxIndicators {
		return fmt.Errorf("the document has %d characters of %q, and may have %d", indicators, ",:[{-?", maxIndicators)
	}
	return nil
}

// bounded refuses YAML that would cost too much to read, and a second document.
func bounded(text string) error {
	decoder := yamlv3.NewDecoder(strings.NewReader(text))
	var document yamlv3.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return errors.New("there is no document")
	} else if err != nil {
		return fmt.Errorf("reading YAML: %w", err)
	}
	var second yamlv3.Node
	if err := decoder.Decode(&second); err == nil {
		return errors.New("there is more than one document")
	} else if !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading YAML after the first document: %w", err)
	}
	m := measure{anchored: map[*yamlv3.Node]extent{}}
	_, err := m.extent(&document, 0)
	return err
}

// measure finds out what a document comes to without expanding it.
type measure struct {
	anchored  map[*yamlv3.Node]extent
	expansion int
}

// extent is how many bytes a node comes to with its aliases, and how many maps and lists are inside each other in it.
type extent struct{ bytes, height int }

func (m *measure) extent(node *yamlv3.Node, depth int) (extent, error) {
	var e extent
	switch node.Kind {
	case yamlv3.AliasNode:
		var known bool
		if e, known = m.anchored[node.Alias]; !known {
			return e, fmt.Errorf("line %d: alias %q stands for what it is in", node.Line, node.Value)
		}
		if m.expansion += e.bytes; m.expansion > maxExpansion {
			return e, fmt.Errorf("line %d: aliases stand for more than %d bytes", node.Line, maxExpansion)
		}
	case yamlv3.ScalarNode:
		e.bytes = len(node.Value) + 1
	default:
		e.height = 1
		for _, child := range node.Content {
			inner, err := m.extent(child, depth+1)
			if err != nil {
				return e, err
			}
			e = extent{bytes: e.bytes + inner.bytes, height: max(e.height, inner.height+1)}
		}
	}
	if depth+e.height > maxDepth {
		return e, fmt.Errorf("line %d: more than %d maps and lists are inside each other", node.Line, maxDepth)
	}
	if node.Anchor != "" {
		m.anchored[node] = e
	}
	return e, nil
}
