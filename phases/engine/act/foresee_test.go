package act

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestForesee_knows_a_webhook_that_takes_no_dry_run(t *testing.T) {
	// As k8s.io/apiserver/pkg/admission/plugin/webhook/errors has it.
	refused := apierrors.NewBadRequest(`admission webhook "old.example.com" does not support dry run`)
	if got := withoutDryRun(refused); got != "webhook old.example.com" {
		t.Errorf("it is taken for %q", got)
	}
	for _, err := range []error{nil, errors.New(refused.Error()), apierrors.NewBadRequest("spec is wrong")} {
		if got := withoutDryRun(err); got != "" {
			t.Errorf("%v is taken for %q", err, got)
		}
	}
}

func TestForesee_tells_a_right_to_read_from_one_to_write(t *testing.T) {
	forbidden := func(verb string) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "a", errors.New(`User "x" cannot `+verb+` resource "secrets" in API group "" in the namespace "n"`))
	}
	for verb, reads := range map[string]bool{"get": true, "list": true, "patch": false, "create": false} {
		if isReading(forbidden(verb)) != reads {
			t.Errorf("%s is taken wrongly", verb)
		}
	}
}
