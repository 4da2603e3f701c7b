package crdschema

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Bounds of what costs more than its bytes: a rule takes some 50 KiB once it is compiled, and a clause is looked at for each
// field beside it. All versions count together. The largest definitions that are known, OpenShift's and Cluster API's, have 139 rules and 38 clauses.
const (
	maxRules       = 1000
	maxExpressions = 256 << 10 // bytes of all rules, messages and paths with them
	maxClauses     = 10_000
)

// cost is what schemas have of them.
type cost struct {
	rules, expressions, clauses int
	regexps                     regexps
	// problems are the patterns that are no regular expressions.
	problems []error
}

// beyond says which bound it is beyond, "" for none.
func (c *cost) beyond() string {
	switch {
	case c.rules > maxRules:
		return fmt.Sprintf("%d rules in x-kubernetes-validations, and may have %d", c.rules, maxRules)
	case c.expressions > maxExpressions:
		return fmt.Sprintf("%d bytes in x-kubernetes-validations, and may have %d", c.expressions, maxExpressions)
	case c.clauses > maxClauses:
		return fmt.Sprintf("%d clauses in allOf, anyOf, oneOf and not, and may have %d", c.clauses, maxClauses)
	case c.regexps.beyond():
		return fmt.Sprintf("regular expressions of more than %d instructions, or %d with those that are there twice: repeats such as {1000} count as what they stand for", MaxRegexps, maxCompiled)
	}
	return ""
}

func costOf(version *apiextensionsv1.CustomResourceDefinitionVersion) (c cost) {
	c.addVersion(version, nil)
	return c
}

func (c *cost) addVersion(version *apiextensionsv1.CustomResourceDefinitionVersion, at *field.Path) {
	if version.Schema != nil {
		c.add(version.Schema.OpenAPIV3Schema, at.Child("schema", "openAPIV3Schema"))
	}
}

// add counts a schema and all below it. No more regular expressions are read once there is too much.
func (c *cost) add(schema *apiextensionsv1.JSONSchemaProps, at *field.Path) {
	if schema == nil {
		return
	}
	c.addRules(schema.XValidations)
	if schema.Pattern != "" && c.beyond() == "" {
		if err := c.regexps.add(schema.Pattern); err != nil && len(c.problems) < maxProblems {
			c.problems = append(c.problems, fmt.Errorf("%s: %w", at.Child("pattern"), err))
		}
	}
	for name, clauses := range map[string][]apiextensionsv1.JSONSchemaProps{"allOf": schema.AllOf, "anyOf": schema.AnyOf, "oneOf": schema.OneOf} {
		c.clauses += len(clauses)
		for i := range clauses {
			c.add(&clauses[i], at.Child(name).Index(i))
		}
	}
	if schema.Not != nil {
		c.clauses++
		c.add(schema.Not, at.Child("not"))
	}
	for name := range schema.Properties {
		property := schema.Properties[name]
		c.add(&property, at.Child("properties").Key(name))
	}
	if schema.Items != nil {
		c.add(schema.Items.Schema, at.Child("items"))
	}
	if schema.AdditionalProperties != nil {
		c.add(schema.AdditionalProperties.Schema, at.Child("additionalProperties"))
	}
}

func (c *cost) addRules(rules []apiextensionsv1.ValidationRule) {
	c.rules += len(rules)
	for i := range rules {
		rule := &rules[i]
		c.expressions += len(rule.Rule) + len(rule.Message) + len(rule.MessageExpression) + len(rule.FieldPath)
	}
	for i := range rules {
		if c.beyond() == "" {
			c.regexps.addCEL(rules[i].Rule)
			c.regexps.addCEL(rules[i].MessageExpression)
		}
	}
}
