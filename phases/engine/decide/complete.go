package decide

import (
	"errors"
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/cel/library"
)

// celCostLimit bounds one evaluation; as much as kube-apiserver gives one call of a validation rule.
const celCostLimit = 1_000_000

// celEnv is what an expression can use: the object as self, and the libraries that the rules of CRDs have too.
var celEnv = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(cel.Variable("self", cel.DynType), ext.Strings(), library.URLs(), library.Regex(), library.Lists(), library.Quantity())
})

// completeWhen compiles a manifest's own condition. What it says of an object for which it cannot be evaluated, such as
// one without the status that it reads, is that more has to be seen.
func completeWhen(expression string) (rule, error) {
	env, err := celEnv()
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		return nil, fmt.Errorf("compiling %q: %w", expression, issues.Err())
	}
	if ast.OutputType() != cel.BoolType {
		return nil, errors.New("the expression " + expression + " gives " + ast.OutputType().String() + ", not bool; compare it with something")
	}
	program, err := env.Program(ast, cel.CostLimit(celCostLimit))
	if err != nil {
		return nil, fmt.Errorf("compiling %q: %w", expression, err)
	}
	return func(obj *unstructured.Unstructured) Probe {
		result, _, err := program.Eval(map[string]any{"self": obj.Object})
		switch {
		case err != nil:
			return unknown("%s cannot be told yet: %v", expression, err)
		case result.Value() == true:
			return passed
		}
		return failing("%s is not true", expression)
	}, nil
}
