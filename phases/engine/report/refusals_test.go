package report

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func refusedFor(causes ...*field.Error) error {
	return apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "a-x7f2a", causes)
}

func overQuota(requested, used, limited string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "a",
		fmt.Errorf("exceeded quota: tiny, requested: %s, used: %s, limited: %s", requested, used, limited))
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
		"a port":                {refusedFor(port), false},
		"a quota":               {overQuota("services=1", "services=1", "services=1"), true},
		"a quota of two":        {overQuota("count/services=1,services=1", "count/services=3,services=3", "count/services=3,services=3"), true},
		"one of both only":      {overQuota("count/services=1,services=1", "count/services=3,services=3", "count/services=3,services=2"), false},
		"a quota of nothing":    {overQuota("services=1", "services=1", "services=0"), false},
		"a quota overrun":       {overQuota("services=1", "services=5", "services=3"), false},
		"more than it frees":    {overQuota("services.nodeports=3", "services.nodeports=2", "services.nodeports=2"), false},
		"as much as it frees":   {overQuota("services.nodeports=2", "services.nodeports=2", "services.nodeports=2"), true},
		"room besides":          {overQuota("services.nodeports=3", "services.nodeports=1k", "services.nodeports=1001"), true},
		"what nobody knows":     {overQuota("services.loadbalancers=1", "services.loadbalancers=1", "services.loadbalancers=1"), false},
		"a quota unused":        {overQuota("services=1", "", "services=1"), false},
		"a quota without limit": {overQuota("services=1", "services=1", "secrets=1"), false},
		"no number":             {overQuota("services=one", "services=1", "services=1"), false},
		"other words":           {apierrors.NewForbidden(services, "a", errors.New("exceeded quota: tiny")), false},
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
		frees := map[string]int64{"services": 1, "count/services": 1, "services.nodeports": 2}
		if got := OnlyTaken(row.err, func(resource string) int64 { return frees[resource] }); got != row.want {
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
