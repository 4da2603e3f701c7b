package decide

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// LeftAlone is the action of what people ask to leave as it is: it is not written, created or deleted.
const LeftAlone Action = "LeftAlone"

// LeftWhy says in words that something is left alone: who asks, and until when, and how it differs from what is desired, empty
// if it does not.
func LeftWhy(asked, differs string) string {
	if differs == "" {
		return "is left alone " + asked
	}
	return "is left alone " + asked + "; " + differs
}

// fieldsNamed is how many fields a difference names.
const fieldsNamed = 3

// Unlike is how an object that nobody writes is not as desired, the revision's number apart; empty if it is. Of fields only the
// names are told.
func (v Verdict) Unlike(t Desired, actual *unstructured.Unstructured, us Identity) string {
	switch {
	case actual == nil:
		return "it is not there, or has lost its label " + ManagedByLabel
	case v.Action == Idle, v.Action == Progressed, v.OnlyNumber, v.Deferrable():
		return ""
	case !v.Writes() || !v.Ours:
		return "it " + v.Why
	}
	var fields []string
	changes := Changes(actual, Foretold(t, actual, us), us)
	for _, c := range changes[:min(len(changes), fieldsNamed)] {
		text := c.Path
		if len(c.Managers) > 0 {
			text += " (held by " + strings.Join(c.Managers, " and ") + ")"
		}
		fields = append(fields, text)
	}
	if more := len(changes) - len(fields); more > 0 {
		fields = append(fields, fmt.Sprintf("%d more", more))
	}
	if len(fields) == 0 {
		return "it is to be written: " + v.Why
	}
	return "it differs in " + strings.Join(fields, ", ")
}
