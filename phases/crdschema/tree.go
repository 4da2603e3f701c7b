package crdschema

import (
	"cmp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// node is what a comparison asks of a structural schema. It is made of the API's types rather than of the library's structural
// schema: that would copy the definition twice for each verdict on a write, and holds many times as much.
type node struct {
	name      string
	kind      kind
	preserves bool // unknown fields
	embedded  bool // apiVersion, kind and metadata are there without saying so
	topology  string
	fields    []node // sorted by name
	inner     *node  // items of a list, values of a map
	required  []string
}

// kind is the type of a node.
type kind uint8

const (
	anything kind = iota
	object
	list
	text
	integer
	number
	boolean
	intOrString
)

var kinds = map[string]kind{"object": object, "array": list, "string": text, "integer": integer, "number": number, "boolean": boolean}

// tree is the schema of a version. What a live definition requires counts, too. Without a schema nothing is known.
func tree(schema *apiextensionsv1.CustomResourceValidation, live bool) *node {
	if schema == nil || schema.OpenAPIV3Schema == nil {
		return &node{kind: object, embedded: true}
	}
	var demands []*apiextensionsv1.JSONSchemaProps
	if live {
		demands = []*apiextensionsv1.JSONSchemaProps{schema.OpenAPIV3Schema}
	}
	root := newNode("", schema.OpenAPIV3Schema, demands)
	root.embedded = true
	return &root
}

// newNode is the node of a schema. The demands are what says which of its fields are required: itself, and what stands in allOf
// here and above; none, if nobody asks.
func newNode(name string, schema *apiextensionsv1.JSONSchemaProps, demands []*apiextensionsv1.JSONSchemaProps) node {
	n := node{
		name: name, kind: kinds[schema.Type], embedded: schema.XEmbeddedResource,
		preserves: schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields,
	}
	if schema.XIntOrString {
		n.kind = intOrString
	}
	n.topology = topology(n.kind, schema)
	demands = withAllOf(demands)
	for _, demand := range demands {
		for _, field := range demand.Required {
			if schema.Properties[field].Default == nil {
				n.required = append(n.required, field)
			}
		}
	}
	if len(schema.Properties) > 0 {
		n.fields = make([]node, 0, len(schema.Properties))
	}
	of := byProperty(demands)
	for name := range schema.Properties {
		property := schema.Properties[name]
		n.fields = append(n.fields, newNode(name, &property, of[name]))
	}
	slices.SortFunc(n.fields, func(a, b node) int { return cmp.Compare(a.name, b.name) })
	if inner := innerOf(schema); inner != nil {
		of := newNode("", inner, below(demands))
		n.inner = &of
	}
	return n
}

// byProperty are the demands on each field. They are looked through once: a definition may have thousands of clauses beside
// thousands of fields.
func byProperty(demands []*apiextensionsv1.JSONSchemaProps) map[string][]*apiextensionsv1.JSONSchemaProps {
	of := map[string][]*apiextensionsv1.JSONSchemaProps{}
	for _, demand := range demands {
		for name := range demand.Properties {
			property := demand.Properties[name]
			of[name] = append(of[name], &property)
		}
	}
	return of
}

// innerOf is the schema of the items of a list or of the values of a map, and nil of anything else. A map of anything has values
// of which nothing is known.
func innerOf(schema *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	switch {
	case schema.Items != nil && schema.Items.Schema != nil:
		return schema.Items.Schema
	case schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
		return schema.AdditionalProperties.Schema
	case schema.AdditionalProperties != nil && schema.AdditionalProperties.Allows:
		return &apiextensionsv1.JSONSchemaProps{}
	}
	return nil
}

// withAllOf adds what stands in allOf: it holds as well. Clauses that ask for no field are left out.
func withAllOf(demands []*apiextensionsv1.JSONSchemaProps) (all []*apiextensionsv1.JSONSchemaProps) {
	for _, demand := range demands {
		if len(demand.Required) > 0 || len(demand.Properties) > 0 || demand.Items != nil || demand.AdditionalProperties != nil {
			all = append(all, demand)
		}
		clauses := make([]*apiextensionsv1.JSONSchemaProps, 0, len(demand.AllOf))
		for i := range demand.AllOf {
			clauses = append(clauses, &demand.AllOf[i])
		}
		all = append(all, withAllOf(clauses)...)
	}
	return all
}

// below are the demands on items or values.
func below(demands []*apiextensionsv1.JSONSchemaProps) (inner []*apiextensionsv1.JSONSchemaProps) {
	for _, demand := range demands {
		if of := innerOf(demand); of != nil {
			inner = append(inner, of)
		}
	}
	return inner
}

// topology is what a list or an object is when it is applied: the defaults are what the API server takes them for.
func topology(k kind, schema *apiextensionsv1.JSONSchemaProps) string {
	switch k {
	case list:
		if schema.XListType == nil {
			return "atomic"
		}
		if *schema.XListType == "map" {
			return "map by " + strings.Join(slices.Sorted(slices.Values(schema.XListMapKeys)), ", ")
		}
		return *schema.XListType
	case object:
		if schema.XMapType == nil {
			return "granular"
		}
		return *schema.XMapType
	default:
		return ""
	}
}

// field is nil if there is none of that name.
func (n *node) field(name string) *node {
	i, ok := slices.BinarySearchFunc(n.fields, name, func(f node, name string) int { return cmp.Compare(f.name, name) })
	if !ok {
		return nil
	}
	return &n.fields[i]
}

// isMap says whether an object has values under any name.
func (n *node) isMap() bool { return n.kind == object && n.inner != nil }

// String is the type in the words of schemas.
func (n *node) String() string {
	switch n.kind {
	case object:
		if n.isMap() {
			return "map"
		}
		return "object"
	case intOrString:
		return "int-or-string"
	case anything:
		return "anything"
	}
	for name, k := range kinds {
		if k == n.kind {
			return name
		}
	}
	return ""
}
