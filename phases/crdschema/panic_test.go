package crdschema_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

func TestDecode_tells_a_panic_of_a_library_from_what_is_wrong_with_the_data(t *testing.T) {
	need, err := crdschema.Decode(nil)
	var of *crdschema.PanicError
	if !errors.As(err, &of) || need != nil || !strings.Contains(string(of.Stack), "crdschema.Read") {
		t.Errorf("%v, %v", need, err)
	}
	if _, problems := crdschema.Problems(nil); len(problems) != 1 || !strings.Contains(problems[0].Error(), "customResourceDefinition.data: Invalid value: reading it: it has ended in a panic") {
		t.Errorf("the problems are %v", problems)
	}
}
