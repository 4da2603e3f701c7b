package judge_test

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/crdschema"
	"github.com/capstan-capi/capstan/phases/crdschema/judge"
)

func TestJudge_tells_a_panic_of_a_library_from_what_is_wrong_with_a_definition(t *testing.T) {
	for name, err := range map[string]error{
		"compiled": second(judge.Compile(nil, "v1")),
		"kept":     second(judge.Keep(nil, "v1")),
	} {
		var of *crdschema.PanicError
		if !errors.As(err, &of) || !strings.Contains(string(of.Stack), "judge.") || !strings.Contains(err.Error(), "version v1: it has ended in a panic") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestValidate_makes_no_problem_of_an_object_of_a_panic(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("nobody hears of it")
		}
	}()
	var none *judge.Judge
	t.Errorf("it says %v", none.Validate(t.Context(), &unstructured.Unstructured{Object: map[string]any{}}, nil, ""))
}
