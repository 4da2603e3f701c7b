package report

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// ImmutableError says that an object has to differ from its manifest for ever, because the API server lets nobody
// change the fields. It is permanent, unless the manifest lets the object be created again.
type ImmutableError struct {
	Fields  []string // as the API server spells them, such as "spec.selector"
	Err     error
	Holds   string // what would go with the object, for which it is not created again although its manifest lets it
	Address string // that the new object would need and the old one does not have, for which neither
}

func (e *ImmutableError) Error() string {
	next := fmt.Sprintf("; let its manifest say %s: %s", decide.ImmutableAnnotation, decide.OnImmutableRecreate)
	switch {
	case e.Holds != "":
		next = fmt.Sprintf(", and it is not deleted to be created again, because %s would go with it: let its spec.persistentVolumeClaimRetentionPolicy.whenDeleted be Retain", e.Holds)
	case e.Address != "":
		next = fmt.Sprintf(", and it is not deleted to be created again, because another Service may have the address %s: let its manifest leave the address to the API server", e.Address)
	}
	return fmt.Sprintf("%s cannot be changed on an object that exists%s, or give the object another name: %v", strings.Join(e.Fields, " and "), next, e.Err)
}

func (e *ImmutableError) Unwrap() error { return e.Err }

// unchangeable are the words of API servers for "this field never changes": of field.FieldImmutableErrorMsg in
// apimachinery, of Services and PriorityClasses, of role bindings, of StatefulSets and StorageClasses, and what
// transition rules of CRDs usually say.
var unchangeable = regexp.MustCompile(`(?i)immutable|may not (be )?changed?|can ?not (be )?(changed?|updated?|unset)|updates to .* are forbidden`)

// exceeded are the words of kube-apiserver for a quota that has no room left.
var exceeded = regexp.MustCompile(`exceeded quota: [^,]+, requested: (\S+), used: (\S+), limited: (\S+)$`)

// OnlyTaken says that a creation was refused for nothing but what the object that is there has: its name, which an API
// server looks at last, or its share of a quota, which comes after all other admission. Frees says how much of what a
// quota counts is free again when that object is gone.
func OnlyTaken(err error, frees func(counted string) int64) bool {
	var status apierrors.APIStatus
	switch {
	case err == nil || denied(err):
		return false
	case apierrors.IsAlreadyExists(err):
		return true
	}
	return apierrors.IsForbidden(err) && errors.As(err, &status) && hasRoom(status.Status().Message, frees)
}

// hasRoom reads the refusal of a quota: it has room for what was requested when what goes is not used any more. A refusal
// that cannot be read is one for good.
func hasRoom(refusal string, frees func(counted string) int64) bool {
	said := exceeded.FindStringSubmatch(refusal)
	if said == nil {
		return false
	}
	requested, used, limited := quantities(said[1]), quantities(said[2]), quantities(said[3])
	for counted, sum := range requested {
		uses, isUsed := used[counted]
		limit, isLimited := limited[counted]
		sum.Add(uses)
		sum.Sub(*resource.NewQuantity(frees(counted), resource.DecimalSI))
		if !isUsed || !isLimited || sum.Cmp(limit) > 0 {
			return false
		}
	}
	return len(requested) > 0
}

// quantities reads "services=1,services.nodeports=2"; it gives nothing if there is anything else.
func quantities(text string) map[string]resource.Quantity {
	found := map[string]resource.Quantity{}
	for _, one := range strings.Split(text, ",") {
		counted, number, _ := strings.Cut(one, "=")
		quantity, err := resource.ParseQuantity(number)
		if err != nil {
			return nil
		}
		found[counted] = quantity
	}
	return found
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
