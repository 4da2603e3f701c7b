package judge

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

// Kept is what a live definition has its objects keep in a version: what it requires, and what it would put back as a default at
// once. A nil one keeps nothing.
type Kept struct{ root *structuralschema.Structural }

// Keep makes it of a live definition. Of a version that the definition does not have, or has without a schema, nothing is kept.
// A panic of a library is a [crdschema.PanicError].
func Keep(live *apiextensionsv1.CustomResourceDefinition, version string) (kept *Kept, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			kept, err = nil, fmt.Errorf("reading the schema of version %s: %w", version, crdschema.Panicked(cause))
		}
	}()
	for i := range live.Spec.Versions {
		of := &live.Spec.Versions[i]
		if of.Name != version || of.Schema == nil || of.Schema.OpenAPIV3Schema == nil {
			continue
		}
		root, err := crdschema.Structural(of.Schema)
		if err != nil {
			return nil, err
		}
		return &Kept{root: root}, nil
	}
	return nil, nil //nolint:nilnil // a nil one is a valid one, which keeps nothing
}

// part is what is kept of a part of an object.
type part struct {
	schema *structuralschema.Structural // nil where nothing is known
	// What the schema itself asks for, and clauses of allOf here and further up, demand of each field, of items, and of the
	// values of a map.
	fields map[string][]structuralschema.NestedValueValidation
	each   []structuralschema.NestedValueValidation
	values []structuralschema.NestedValueValidation
	// required are the fields that may not go.
	required map[string]bool
}

func (k *Kept) whole() part {
	if k == nil {
		return part{}
	}
	return newPart(k.root, nil)
}

// newPart looks through all clauses once: there may be thousands beside thousands of fields.
func newPart(schema *structuralschema.Structural, above []structuralschema.NestedValueValidation) part {
	p := part{schema: schema, fields: map[string][]structuralschema.NestedValueValidation{}, required: map[string]bool{}}
	if schema != nil && schema.ValueValidation != nil {
		p.add(structuralschema.NestedValueValidation{ValueValidation: *schema.ValueValidation})
	}
	for _, demand := range above {
		p.add(demand)
	}
	return p
}

func (p *part) add(demand structuralschema.NestedValueValidation) {
	for _, name := range demand.Required {
		p.required[name] = true
	}
	for name, of := range demand.Properties {
		p.fields[name] = append(p.fields[name], of)
	}
	if demand.Items != nil {
		p.each = append(p.each, *demand.Items)
	}
	if demand.AdditionalProperties != nil {
		p.values = append(p.values, demand)
	}
	for _, clause := range demand.AllOf {
		p.add(clause)
	}
}

// keeps says whether a field of a part may not go.
func (p part) keeps(name string, value any) bool {
	if p.schema == nil {
		return false
	}
	if p.required[name] {
		return true
	}
	property, ok := p.schema.Properties[name]
	if !ok || property.Default.Object == nil {
		return false
	}
	put := runtime.DeepCopyJSONValue(property.Default.Object)
	structuraldefaulting.Default(put, &property)
	return equality.Semantic.DeepEqual(put, value)
}

func (p part) field(name string) part {
	var schema *structuralschema.Structural
	if p.schema != nil {
		if property, ok := p.schema.Properties[name]; ok {
			schema = &property
		} else {
			schema = valuesOf(p.schema)
		}
	}
	demands := slices.Clone(p.fields[name])
	for _, demand := range p.values {
		if _, has := demand.Properties[name]; !has {
			demands = append(demands, *demand.AdditionalProperties)
		}
	}
	if schema == nil && len(demands) == 0 {
		return part{}
	}
	return newPart(schema, demands)
}

func (p part) items() part {
	var schema *structuralschema.Structural
	if p.schema != nil {
		schema = p.schema.Items
	}
	return newPart(schema, p.each)
}

// keys are the names by which the items of a list are told apart, if it is a map.
func (p part) keys() []string {
	if p.schema == nil || p.schema.XListType == nil || *p.schema.XListType != "map" {
		return nil
	}
	return p.schema.XListMapKeys
}
