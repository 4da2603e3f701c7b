package report

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func refusedFor(causes ...*field.Error) error {
	return apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "a-x7f2a", causes)
}

func TestOnlyTaken_is_a_refusal_for_what_the_object_that_is_there_has(t *testing.T) {
	port := field.Invalid(field.NewPath("spec", "ports").Index(0).Child("nodePort"), 30080, "provided port is already allocated")
	services := schema.GroupResource{Resource: "services"}
	for name, row := range map[string]struct {
		err  error
		want bool
	}{
		"accepted":              {nil, false},
		"the name":              {apierrors.NewAlreadyExists(services, "a"), true},
		"a port":                {refusedFor(port), true},
		"a quota":               {apierrors.NewForbidden(services, "a", errors.New("exceeded quota: tiny, requested: services=1, used: services=1, limited: services=1")), true},
		"what a quota asks for": {apierrors.NewForbidden(services, "a", errors.New("failed quota: tiny: must specify limits.memory")), false},
		"rights":                {apierrors.NewForbidden(services, "a", nil), false},
		"the form of the name":  {refusedFor(field.Invalid(field.NewPath("metadata", "name"), "a", "must be version.group")), false},
		"a rule about the name": {refusedFor(field.Invalid(field.NewPath("spec"), "a", "its name must be cluster")), false},
		"something else":        {refusedFor(field.Required(field.NewPath("spec", "image"), "")), false},
		"something else too":    {refusedFor(port, field.Required(field.NewPath("spec", "image"), "")), false},
		"a policy about quotas": {apierrors.NewForbidden(services, "a", errors.New(`admission webhook "x" denied the request: exceeded quota: mine`)), false},
		"a policy about names":  {refusedFor(field.Forbidden(nil, `admission webhook "x" denied the request: a bad name`)), false},
		"a version that is old": {apierrors.NewConflict(services, "a", nil), false},
	} {
		if got := OnlyTaken(row.err); got != row.want {
			t.Errorf("%s: %t (%v)", name, got, row.err)
		}
	}
}

func TestStaleSchemaError_is_not_terminal_whatever_it_wraps(t *testing.T) {
	refused := refusedFor(field.NotSupported(field.NewPath("spec", "mode"), "new", []string{"old"}))
	if !IsSchemaRefusal(refused) || IsSchemaRefusal(&ImmutableError{Err: refused}) {
		t.Error("which refusals a schema may be the reason of")
	}
	err := &ObjectError{Verb: "updating", Err: &StaleSchemaError{Err: refused}}
	if err.Terminal() || err.Reason() != ReasonMissing {
		t.Errorf("%s is terminal, for %s", err, err.Reason())
	}
}

func TestErrors_are_terminal_only_if_each_is(t *testing.T) {
	terminal := &ObjectError{Err: refusedFor(field.Required(field.NewPath("spec"), ""))}
	heals := &ObjectError{Err: apierrors.NewForbidden(schema.GroupResource{}, "a", nil)}
	for _, row := range []struct {
		all  Errors
		want bool
	}{{nil, false}, {Errors{terminal}, true}, {Errors{terminal, terminal}, true}, {Errors{terminal, heals}, false}} {
		if row.all.Terminal() != row.want {
			t.Errorf("%v: %t, want %t", row.all, row.all.Terminal(), row.want)
		}
	}
}
