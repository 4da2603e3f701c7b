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
func Keep(live *apiextensionsv1.CustomResourceDefinition, version string) (kept *Kept, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			kept, err = nil, fmt.Errorf("reading the schema of version %s has ended in a panic: %v", version, cause)
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
	schema  *structuralschema.Structural             // nil where nothing is known
	demands []structuralschema.NestedValueValidation // what holds there, for clauses of allOf further up
}

func (k *Kept) whole() part {
	if k == nil {
		return part{}
	}
	return part{schema: k.root}
}

// all are the demands on a part, those of its own schema among them.
func (p part) all() (demands []structuralschema.NestedValueValidation) {
	if p.schema != nil && p.schema.ValueValidation != nil {
		demands = append(demands, structuralschema.NestedValueValidation{ValueValidation: *p.schema.ValueValidation})
	}
	demands = append(demands, p.demands...)
	for i := 0; i < len(demands); i++ {
		demands = append(demands, demands[i].AllOf...)
	}
	return demands
}

// keeps says whether a field of a part may not go.
func (p part) keeps(name string, value any) bool {
	if p.schema == nil {
		return false
	}
	if slices.ContainsFunc(p.all(), func(d structuralschema.NestedValueValidation) bool { return slices.Contains(d.Required, name) }) {
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

func (p part) field(name string) (inner part) {
	if p.schema != nil {
		if property, ok := p.schema.Properties[name]; ok {
			inner.schema = &property
		} else {
			inner.schema = valuesOf(p.schema)
		}
	}
	for _, demand := range p.all() {
		if of, ok := demand.Properties[name]; ok {
			inner.demands = append(inner.demands, of)
		} else if demand.AdditionalProperties != nil {
			inner.demands = append(inner.demands, *demand.AdditionalProperties)
		}
	}
	return inner
}

func (p part) items() (inner part) {
	if p.schema != nil {
		inner.schema = p.schema.Items
	}
	for _, demand := range p.all() {
		if demand.Items != nil {
			inner.demands = append(inner.demands, *demand.Items)
		}
	}
	return inner
}

// keys are the names by which the items of a list are told apart, if it is a map.
func (p part) keys() []string {
	if p.schema == nil || p.schema.XListType == nil || *p.schema.XListType != "map" {
		return nil
	}
	return p.schema.XListMapKeys
}
