package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

var deployments = schema.GroupResource{Group: "apps", Resource: "deployments"}

func unacceptable(errs ...*field.Error) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "a", errs)
}

// typed is how an API server begins its answer to fields that it does not know.
const typed = "failed to create typed patch object (a): field not declared"

func TestObjectError(t *testing.T) {
	path := field.NewPath("spec", "replicas")
	rows := []struct {
		name   string
		err    error
		reason Reason
		final  bool
		says   string
	}{
		{"a wrong value", unacceptable(field.Invalid(path, -1, "must be positive")), ReasonInvalid, true, "repair its manifest"},
		{"an unknown field", apierrors.NewInternalError(fmt.Errorf("%s", typed)), ReasonInvalid, true, "repair its manifest"},
		{"a body that is no object", apierrors.NewBadRequest("no"), ReasonInvalid, true, "repair its manifest"},
		{"too large", apierrors.NewRequestEntityTooLargeError("no"), ReasonInvalid, true, "repair its manifest"},
		{"a wrong scope", &decide.ScopeError{}, ReasonInvalid, true, "cluster-scoped"},
		{"a field that never changes", &ImmutableError{Fields: []string{"spec.selector"}, Err: unacceptable(field.Invalid(path, 1, "field is immutable"))}, ReasonImmutable, true, "spec.selector cannot be changed"},
		{"a webhook that says no", apierrors.NewForbidden(deployments, "a", errors.New(`admission webhook "x" denied the request: no`)), ReasonDenied, false, "webhook or policy"},
		{"a webhook that says invalid", &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonInvalid, Message: `admission webhook "x" denied the request`}}, ReasonDenied, false, "webhook or policy"},
		{"an admission policy that says no", &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonInvalid, Message: `ValidatingAdmissionPolicy 'x' with binding 'x' denied request: no`}}, ReasonDenied, false, "webhook or policy"},
		{"a quota without room", apierrors.NewForbidden(deployments, "a", errors.New("exceeded quota: tiny, requested: pods=1, used: pods=1, limited: pods=1")), ReasonQuota, false, "ResourceQuota"},
		{"a quota that asks for more", apierrors.NewForbidden(deployments, "a", errors.New("failed quota: tiny: must specify limits.memory")), ReasonQuota, false, "ResourceQuota"},
		{"no permission", apierrors.NewForbidden(deployments, "a", errors.New("no")), ReasonForbidden, false, "that permission"},
		{"no credentials", apierrors.NewUnauthorized("no"), ReasonForbidden, false, "that permission"},
		{"no namespace", apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "n"), ReasonMissing, false, `namespaces "n" not found`},
		{"no such kind", &NoKindError{Kind: "A", GroupVersion: "g/v1", Why: "yet"}, ReasonMissing, false, "does not serve"},
		{"others are faster", apierrors.NewConflict(deployments, "a", errors.New("changed")), ReasonConflict, false, "changed"},
		{"too many requests", apierrors.NewTooManyRequests("busy", 3), ReasonBusy, false, "busy"},
		{"a webhook that does not answer", apierrors.NewInternalError(errors.New("failed calling webhook")), ReasonBusy, false, "calling webhook"},
		{"a time that is over", fmt.Errorf("asking: %w", context.DeadlineExceeded), ReasonBusy, false, "deadline"},
		{"a broken connection", errors.New("connection refused"), ReasonOther, false, "refused"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			err := &ObjectError{Key: decide.Key{Kind: "Deployment", Namespace: "n", Name: "a"}, Component: "core", Verb: "updating", Err: row.err}
			if err.Reason() != row.reason || err.Terminal() != row.final {
				t.Errorf("got %s, terminal %t", err.Reason(), err.Terminal())
			}
			if text := err.Error(); !strings.HasPrefix(text, "updating Deployment n/a of core: ") || !strings.Contains(text, row.says) {
				t.Errorf("got %q", text)
			}
			if !errors.Is(err, row.err) {
				t.Error("the cause is lost")
			}
		})
	}
}

func TestImmutable(t *testing.T) {
	selector, replicas := field.NewPath("spec", "selector"), field.NewPath("spec", "replicas")
	fixed := field.Invalid(selector, "x", "field is immutable")
	rows := []struct {
		name   string
		err    error
		fields []string
	}{
		{"the selector of a Deployment", unacceptable(fixed), []string{"spec.selector"}},
		{"two of them", unacceptable(fixed, field.Invalid(field.NewPath("spec", "template"), "x", "field is immutable")), []string{"spec.selector", "spec.template"}},
		{"the address of a Service", unacceptable(field.Invalid(field.NewPath("spec", "clusterIPs").Index(0), "x", "may not change once set")), []string{"spec.clusterIPs[0]"}},
		{"the role of a binding", unacceptable(field.Invalid(field.NewPath("roleRef"), "x", "cannot change roleRef")), []string{"roleRef"}},
		{"the spec of a StatefulSet", unacceptable(field.Forbidden(field.NewPath("spec"), "updates to statefulset spec for fields other than 'replicas' are forbidden")), []string{"spec"}},
		{"the value of a PriorityClass", unacceptable(field.Forbidden(field.NewPath("value"), "may not be changed in an update.")), []string{"value"}},
		{"a rule of a CRD", unacceptable(field.Invalid(field.NewPath("spec", "region"), "x", "region is immutable")), []string{"spec.region"}},
		{"something else too", unacceptable(fixed, field.Invalid(replicas, -1, "must be positive")), nil},
		{"only something else", unacceptable(field.Invalid(replicas, -1, "must be positive")), nil},
		{"the words of a webhook", &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonInvalid, Message: `admission webhook "x" denied the request: immutable`}}, nil},
		{"another kind of answer", apierrors.NewConflict(deployments, "a", errors.New("field is immutable")), nil},
		{"no answer", errors.New("field is immutable"), nil},
	}
	for _, row := range rows {
		if got := ImmutableFields(row.err); !slices.Equal(got, row.fields) {
			t.Errorf("%s: got %v, want %v", row.name, got, row.fields)
		}
	}
}
