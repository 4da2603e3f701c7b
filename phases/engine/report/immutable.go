package report

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// ImmutableError says that an object has to differ from its manifest for ever, because the API server lets nobody
// change the fields. It is permanent, unless the manifest lets the object be created again.
type ImmutableError struct {
	Fields []string // as the API server spells them, such as "spec.selector"
	Err    error
	Holds  string // what would go with the object, for which it is not created again although its manifest lets it
}

func (e *ImmutableError) Error() string {
	if e.Holds != "" {
		return fmt.Sprintf("%s cannot be changed on an object that exists, and it is not deleted to be created again, because %s would go with it: let its spec.persistentVolumeClaimRetentionPolicy.whenDeleted be Retain, or give the object another name: %v",
			strings.Join(e.Fields, " and "), e.Holds, e.Err)
	}
	return fmt.Sprintf("%s cannot be changed on an object that exists; let its manifest say %s: %s, or give the object another name: %v",
		strings.Join(e.Fields, " and "), decide.ImmutableAnnotation, decide.OnImmutableRecreate, e.Err)
}

func (e *ImmutableError) Unwrap() error { return e.Err }

// unchangeable are the words of API servers for "this field never changes": of field.FieldImmutableErrorMsg in
// apimachinery, of Services and PriorityClasses, of role bindings, of StatefulSets and StorageClasses, and what
// transition rules of CRDs usually say.
var unchangeable = regexp.MustCompile(`(?i)immutable|may not (be )?changed?|can ?not (be )?(changed?|updated?|unset)|updates to .* are forbidden`)

// OnlyTaken says that a creation was refused for nothing but what the object that is there has: its name, which an API
// server looks at last, a share of a quota, which comes after all other admission, or an address or port. None of it is
// left when that object goes.
func OnlyTaken(err error) bool {
	var status apierrors.APIStatus
	if err == nil || denied(err) || !errors.As(err, &status) {
		return false
	}
	if apierrors.IsAlreadyExists(err) {
		return true
	}
	if apierrors.IsForbidden(err) {
		return strings.Contains(err.Error(), "exceeded quota:")
	}
	if !apierrors.IsInvalid(err) || status.Status().Details == nil {
		return false
	}
	for _, cause := range status.Status().Details.Causes {
		if !strings.Contains(cause.Message, "already allocated") {
			return false
		}
	}
	return len(status.Status().Details.Causes) > 0
}

// ImmutableFields are the fields that a write was refused for only because they never change; none when it was refused for
// anything else, or for anything else too: such an object could be deleted, but not be created again.
func ImmutableFields(err error) []string {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !IsTerminal(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var fields []string
	for _, cause := range status.Status().Details.Causes {
		if !unchangeable.MatchString(cause.Message) {
			return nil
		}
		fields = append(fields, cause.Field)
	}
	return fields
}
