package judge

import (
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

// exclude makes a schema accept anything, and nothing, in excluded fields. What says something of an excluded field and of
// others at once, such as a oneOf, goes as a whole: it cannot be half asked.
func exclude(schema *apiextensions.JSONSchemaProps, excluded crdschema.Exclusions) {
	if len(excluded) == 0 {
		return
	}
	loosen(schema, excluded)
	if schema.Items != nil && schema.Items.Schema != nil {
		if slices.ContainsFunc(schema.XListMapKeys, excluded.Has) {
			schema.XListType, schema.XListMapKeys = nil, nil
		}
		exclude(schema.Items.Schema, excluded)
		return
	}
	for name, field := range excluded {
		property := schema.Properties[name]
		if field.Whole {
			preserve := true
			property = apiextensions.JSONSchemaProps{XPreserveUnknownFields: &preserve, Nullable: true}
		} else {
			exclude(&property, field.Below)
		}
		schema.Properties[name] = property
	}
}

// loosen takes out of the value validation of a schema what it says of excluded fields.
func loosen(schema *apiextensions.JSONSchemaProps, excluded crdschema.Exclusions) {
	schema.Required = slices.DeleteFunc(slices.Clone(schema.Required), excluded.Has)
	about := func(clause apiextensions.JSONSchemaProps) bool { return mentions(&clause, excluded) }
	if slices.ContainsFunc(schema.AnyOf, about) {
		schema.AnyOf = nil
	}
	if slices.ContainsFunc(schema.OneOf, about) {
		schema.OneOf = nil
	}
	if schema.Not != nil && about(*schema.Not) {
		schema.Not = nil
	}
	for i := range schema.AllOf {
		loosenNested(&schema.AllOf[i], excluded)
	}
}

// loosenNested is loosen for a clause of allOf, which has the same fields as the schema that it is in, or fewer.
func loosenNested(clause *apiextensions.JSONSchemaProps, excluded crdschema.Exclusions) {
	loosen(clause, excluded)
	if clause.Items != nil && clause.Items.Schema != nil {
		loosenNested(clause.Items.Schema, excluded)
	}
	for name, field := range excluded {
		property, ok := clause.Properties[name]
		switch {
		case !ok:
		case field.Whole:
			delete(clause.Properties, name)
		default:
			loosenNested(&property, field.Below)
			clause.Properties[name] = property
		}
	}
}

// mentions says whether a clause says anything of an excluded field.
func mentions(clause *apiextensions.JSONSchemaProps, excluded crdschema.Exclusions) bool {
	if slices.ContainsFunc(clause.Required, excluded.Has) {
		return true
	}
	for name, field := range excluded {
		if property, ok := clause.Properties[name]; ok && (field.Whole || mentions(&property, field.Below)) {
			return true
		}
	}
	if clause.Items != nil && clause.Items.Schema != nil && mentions(clause.Items.Schema, excluded) {
		return true
	}
	about := func(inner apiextensions.JSONSchemaProps) bool { return mentions(&inner, excluded) }
	return clause.Not != nil && about(*clause.Not) ||
		slices.ContainsFunc(slices.Concat(clause.AllOf, clause.AnyOf, clause.OneOf), about)
}

// dropRules takes out the rules that do not compile without the excluded fields: they are about them.
func dropRules(schema *structuralschema.Structural) error {
	return dropper{environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())}.drop(schema, true)
}

type dropper struct{ environment *environment.EnvSet }

func (d dropper) drop(schema *structuralschema.Structural, root bool) error {
	if err := d.keepCompiled(schema, &schema.ValidationExtensions, root); err != nil {
		return err
	}
	if schema.ValueValidation != nil {
		for i := range schema.ValueValidation.AllOf {
			if err := d.dropNested(&schema.ValueValidation.AllOf[i], schema, root); err != nil {
				return err
			}
		}
	}
	for name, property := range schema.Properties {
		if err := d.drop(&property, property.XEmbeddedResource); err != nil {
			return err
		}
		schema.Properties[name] = property
	}
	for _, inner := range []*structuralschema.Structural{schema.Items, valuesOf(schema)} {
		if inner == nil {
			continue
		}
		if err := d.drop(inner, inner.XEmbeddedResource); err != nil {
			return err
		}
	}
	return nil
}

// dropNested is drop for a clause of allOf about the values of a schema.
func (d dropper) dropNested(clause *structuralschema.NestedValueValidation, schema *structuralschema.Structural, root bool) error {
	if err := d.keepCompiled(schema, &clause.ValidationExtensions, root); err != nil {
		return err
	}
	for i := range clause.AllOf {
		if err := d.dropNested(&clause.AllOf[i], schema, root); err != nil {
			return err
		}
	}
	for name, inner := range clause.Properties {
		property, ok := schema.Properties[name]
		if !ok {
			continue
		}
		if err := d.dropNested(&inner, &property, property.XEmbeddedResource); err != nil {
			return err
		}
		clause.Properties[name] = inner
	}
	if clause.Items != nil && schema.Items != nil {
		if err := d.dropNested(clause.Items, schema.Items, schema.Items.XEmbeddedResource); err != nil {
			return err
		}
	}
	if values := valuesOf(schema); clause.AdditionalProperties != nil && values != nil {
		return d.dropNested(clause.AdditionalProperties, values, values.XEmbeddedResource)
	}
	return nil
}

// keepCompiled keeps the rules that compile for values of a schema.
func (d dropper) keepCompiled(schema *structuralschema.Structural, rules *structuralschema.ValidationExtensions, root bool) error {
	if len(rules.XValidations) == 0 {
		return nil
	}
	about := *schema
	about.XValidations = rules.XValidations
	results, err := cel.Compile(&about, model.SchemaDeclType(schema, root), celconfig.PerCallLimit, d.environment, cel.StoredExpressionsEnvLoader())
	if err != nil {
		return fmt.Errorf("compiling the rules of a schema: %w", err)
	}
	kept := rules.XValidations[:0:0]
	for i, rule := range rules.XValidations {
		if results[i].Error == nil {
			kept = append(kept, rule)
		}
	}
	rules.XValidations = kept
	return nil
}

// valuesOf is the schema of the values of a map, and nil of anything else.
func valuesOf(schema *structuralschema.Structural) *structuralschema.Structural {
	if schema.AdditionalProperties == nil {
		return nil
	}
	return schema.AdditionalProperties.Structural
}
