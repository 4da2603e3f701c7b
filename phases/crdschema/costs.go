package crdschema

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Bounds of what costs more than its bytes: a rule takes some 50 KiB once it is compiled, and a clause is looked at for each
// field beside it. All versions count together. The largest definitions that are known, OpenShift's and Cluster API's, have 139 rules and 38 clauses.
const (
	maxRules       = 1000
	maxExpressions = 256 << 10 // bytes of all rules, messages and paths with them
	maxClauses     = 10_000
)

// cost is what schemas have of them.
type cost struct{ rules, expressions, clauses int }

// beyond says which bound it is beyond, "" for none.
func (c cost) beyond() string {
	switch {
	case c.rules > maxRules:
		return fmt.Sprintf("%d rules in x-kubernetes-validations, and may have %d", c.rules, maxRules)
	case c.expressions > maxExpressions:
		return fmt.Sprintf("%d bytes in x-kubernetes-validations, and may have %d", c.expressions, maxExpressions)
	case c.clauses > maxClauses:
		return fmt.Sprintf("%d clauses in allOf, anyOf, oneOf and not, and may have %d", c.clauses, maxClauses)
	}
	return ""
}

func costOf(version *apiextensionsv1.CustomResourceDefinitionVersion) (c cost) {
	c.addVersion(version)
	return c
}

func (c *cost) addVersion(version *apiextensionsv1.CustomResourceDefinitionVersion) {
	if version.Schema != nil {
		c.add(version.Schema.OpenAPIV3Schema)
	}
}

func (c *cost) add(schema *apiextensionsv1.JSONSchemaProps) {
	if schema == nil {
		return
	}
	c.rules += len(schema.XValidations)
	for i := range schema.XValidations {
		rule := &schema.XValidations[i]
		c.expressions += len(rule.Rule) + len(rule.Message) + len(rule.MessageExpression) + len(rule.FieldPath)
	}
	for _, clauses := range [][]apiextensionsv1.JSONSchemaProps{schema.AllOf, schema.AnyOf, schema.OneOf} {
		c.clauses += len(clauses)
		for i := range clauses {
			c.add(&clauses[i])
		}
	}
	if schema.Not != nil {
		c.clauses++
		c.add(schema.Not)
	}
	for name := range schema.Properties {
		property := schema.Properties[name]
		c.add(&property)
	}
	if schema.Items != nil {
		c.add(schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil {
		c.add(schema.AdditionalProperties.Schema)
	}
}
