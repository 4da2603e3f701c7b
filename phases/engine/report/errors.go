package report

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// ObjectError is what went wrong with one object.
type ObjectError struct {
	Key       decide.Key
	Component string
	Verb      string // gerund: "creating", "updating", "checking"
	Err       error
}

func (e *ObjectError) Error() string {
	return fmt.Sprintf("%s %s of %s: %v%s", e.Verb, e.Key, e.Component, e.Err, advice[e.Reason()])
}

func (e *ObjectError) Unwrap() error { return e.Err }

// Reason says who has to do something about it.
func (e *ObjectError) Reason() Reason { return reasonOf(e.Err) }

// Terminal says that the API server is expected to refuse the object until its manifest changes.
func (e *ObjectError) Terminal() bool { return IsTerminal(e.Err) }

// Reason is why the API server did not do what it was asked to, by who can change that.
type Reason string

// The reasons of an ObjectError. The first two are terminal; all others are tried again soon.
const (
	ReasonInvalid   Reason = "Invalid"   // the manifest is wrong
	ReasonImmutable Reason = "Immutable" // the manifest wants what no update can bring
	ReasonDenied    Reason = "Denied"    // a webhook or an admission policy does not want it
	ReasonQuota     Reason = "Quota"     // a quota of the namespace has no room, or asks for what the manifest does not say
	ReasonForbidden Reason = "Forbidden" // permissions are missing
	ReasonMissing   Reason = "Missing"   // its namespace or its kind is not there, or the schema of that is not served yet
	ReasonBusy      Reason = "Busy"      // the API server, or something that it has to ask, does not answer in time
	ReasonConflict  Reason = "Conflict"  // others change the object faster than it can be written
	ReasonOther     Reason = "Other"     // anything else, such as a broken connection
)

// advice is the next step, for the reasons that do not say it themselves.
var advice = map[Reason]string{
	ReasonInvalid:   "; repair its manifest in the provider image",
	ReasonDenied:    "; whoever runs that webhook or policy can let it through, and it is tried again",
	ReasonQuota:     "; make room in that ResourceQuota, or let the manifest say what it asks for, and it is tried again",
	ReasonForbidden: "; give the operator that permission, and it is tried again",
}

func reasonOf(err error) Reason {
	var fixed *ImmutableError
	var kind *NoKindError
	var stale *StaleSchemaError
	switch {
	case errors.As(err, &stale):
		return ReasonMissing
	case errors.As(err, &fixed):
		return ReasonImmutable
	case IsTerminal(err):
		return ReasonInvalid
	case denied(err):
		return ReasonDenied
	case apierrors.IsForbidden(err) && quota(err):
		return ReasonQuota
	case apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err):
		return ReasonForbidden
	case apierrors.IsNotFound(err) || errors.As(err, &kind):
		return ReasonMissing
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err):
		return ReasonConflict
	case apierrors.IsTooManyRequests(err), apierrors.IsServiceUnavailable(err), apierrors.IsTimeout(err),
		apierrors.IsServerTimeout(err), apierrors.IsInternalError(err), errors.Is(err, context.DeadlineExceeded):
		return ReasonBusy
	}
	return ReasonOther
}

// IsRefusal says that a request was refused for what it asks for, and is expected to be as long as that and the rules stay
// the same.
func IsRefusal(err error) bool {
	switch reasonOf(err) {
	case ReasonInvalid, ReasonImmutable, ReasonDenied, ReasonQuota, ReasonForbidden:
		return true
	}
	return false
}

// quota says that it was a ResourceQuota that refused a write. Only the text tells that from missing permissions.
func quota(err error) bool {
	text := err.Error()
	return strings.Contains(text, "exceeded quota: ") || strings.Contains(text, "failed quota: ")
}

// denied says that a webhook or an admission policy refused a write. They choose the code of the refusal themselves, so
// that only the text tells them from the API server.
func denied(err error) bool {
	text := err.Error()
	return strings.Contains(text, "denied the request") || strings.Contains(text, "denied request")
}

// Errors are the failures of several objects.
type Errors []error

func (e Errors) Error() string {
	texts := make([]string, 0, len(e))
	for _, err := range e {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "; ")
}

func (e Errors) Unwrap() []error { return e }

// Terminal says that all of the failures are terminal. As long as one of them may heal, trying again soon is worth it.
func (e Errors) Terminal() bool {
	for _, err := range e {
		var t interface{ Terminal() bool }
		if !errors.As(err, &t) || !t.Terminal() {
			return false
		}
	}
	return len(e) > 0
}

func joined(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	return Errors(errs)
}

// IsTerminal tells "the manifest is wrong" from everything that may heal by itself: permissions that are still being
// aggregated, namespaces that come later, webhooks that are starting, an API server that is busy.
func IsTerminal(err error) bool {
	var scope *decide.ScopeError
	var stale *StaleSchemaError
	switch {
	case errors.As(err, &scope):
		return true
	case errors.As(err, &stale):
		return false
	}
	// A webhook or a policy may say "invalid" because of the state of the cluster, and can be changed without the manifest.
	if denied(err) {
		return false
	}
	switch apierrors.ReasonForError(err) {
	case metav1.StatusReasonInvalid, metav1.StatusReasonBadRequest, metav1.StatusReasonMethodNotAllowed,
		metav1.StatusReasonNotAcceptable, metav1.StatusReasonUnsupportedMediaType, metav1.StatusReasonRequestEntityTooLarge:
		return true
	}
	// Fields that the schema does not know come as an internal error, without a reason of their own.
	return strings.Contains(err.Error(), "failed to create typed patch object")
}

// IsSchemaRefusal says that an object was refused as its manifest has it, which another schema of its kind may change.
func IsSchemaRefusal(err error) bool {
	var scope *decide.ScopeError
	var fixed *ImmutableError
	return IsTerminal(err) && !errors.As(err, &scope) && !errors.As(err, &fixed)
}

// StaleSchemaError says that an object was refused right after a change of its CRD, maybe by the schema before. It is not
// terminal.
type StaleSchemaError struct{ Err error }

func (e *StaleSchemaError) Error() string {
	return fmt.Sprintf("%v (its CustomResourceDefinition has just changed, so that this may be about the schema before; it is tried again)", e.Err)
}

func (e *StaleSchemaError) Unwrap() error { return e.Err }

// NoKindError says that the API server does not serve a kind. It heals when the kind's CRD arrives.
type NoKindError struct {
	GroupVersion, Kind string
	Why                string
}

func (e *NoKindError) Error() string {
	return fmt.Sprintf("the API server does not serve %s of %s (%s)", e.Kind, e.GroupVersion, e.Why)
}

// UnexplainedError says that an object carries a number that is higher than the newest revision's, and that no inventory
// is of: what content it has is not known.
type UnexplainedError struct {
	Number int64
	Proved bool // this installation wrote the number, and no tenant can have
}

func (e *UnexplainedError) Error() string {
	next := "take its annotation " + decide.RevisionAnnotation + " away, and it is written as it should be"
	if e.Proved {
		next = "the operator lists a revision with a higher number by itself, and then it is written as it should be"
	}
	return fmt.Sprintf("it carries revision number %d, of which no inventory tells, so that it may have any content: %s", e.Number, next)
}
