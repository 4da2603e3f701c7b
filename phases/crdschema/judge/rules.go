package judge

import (
	"errors"
	"fmt"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

// maxRulesTold is how many rules are told that do not compile.
const maxRulesTold = 4

// CompileRules says which rules of a selected version do not compile: a judge would refuse every object for one. It keeps nothing
// of them. A panic of a library is a [crdschema.PanicError].
func CompileRules(n *crdschema.Need, version string) (err error) {
	if n.Rules(version) == 0 {
		return nil
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("compiling the rules of version %s: %w", version, crdschema.Panicked(cause))
		}
	}()
	crd := n.CRD()
	var problems []string
	for i := range crd.Spec.Versions {
		if crd.Spec.Versions[i].Name != version {
			continue
		}
		structural, err := crdschema.Structural(crd.Spec.Versions[i].Schema)
		if err != nil {
			return err
		}
		c := compiler{environment: environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())}
		c.compile(structural, true)
		problems = c.problems
	}
	if len(problems) == 0 {
		return nil
	}
	slices.Sort(problems)
	errs := make([]error, 0, maxRulesTold)
	for _, problem := range problems[:min(len(problems), maxRulesTold)] {
		errs = append(errs, fmt.Errorf("version %s: %s", version, problem))
	}
	return errors.Join(errs...)
}

// compiler compiles the rules of a schema and of all below it.
type compiler struct {
	environment *environment.EnvSet
	problems    []string
}

func (c *compiler) compile(schema *structuralschema.Structural, root bool) {
	c.rules(schema, root)
	for name := range schema.Properties {
		property := schema.Properties[name]
		c.compile(&property, property.XEmbeddedResource)
	}
	for _, inner := range []*structuralschema.Structural{schema.Items, valuesOf(schema)} {
		if inner != nil {
			c.compile(inner, inner.XEmbeddedResource)
		}
	}
}

// rules of what has no type are asked of no object.
func (c *compiler) rules(schema *structuralschema.Structural, root bool) {
	if len(schema.XValidations) == 0 {
		return
	}
	about := model.SchemaDeclType(schema, root)
	if about == nil {
		return
	}
	results, err := cel.Compile(schema, about, celconfig.PerCallLimit, c.environment, cel.StoredExpressionsEnvLoader())
	if err != nil {
		c.problems = append(c.problems, err.Error())
	}
	for i := range results {
		if results[i].Error != nil {
			c.problems = append(c.problems, fmt.Sprintf("x-kubernetes-validations: rule %.200q: %s", schema.XValidations[i].Rule, results[i].Error.Detail))
		}
	}
}
