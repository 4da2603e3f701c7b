package protobuf

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// What a name is in a review depends on what it is the name of, which may be said after it.
var (
	resourceAttributes    = fields(text(3, "group", group))
	definitionsAttributes = fields(text(3, "group", group), text(7, "name", crdName))
	resourceRules         = fields(text(2, "apiGroups", group))
	definitionsAllowed    = fields(text(2, "apiGroups", group), text(4, "resourceNames", crdName))
)

const (
	definitionsGroup    = "apiextensions.k8s.io"
	definitionsResource = "customresourcedefinitions"
)

// attributesOf are the places of the attributes of an access review.
func attributesOf(src []byte) *message {
	if has(src, 3, definitionsGroup) && has(src, 5, definitionsResource) {
		return definitionsAttributes
	}
	return resourceAttributes
}

// allowedOf are those of a rule of a rules review.
func allowedOf(src []byte) *message {
	if has(src, 2, definitionsGroup) && has(src, 3, definitionsResource) {
		return definitionsAllowed
	}
	return resourceRules
}

// has says whether a field of a message, or one of several, has a text.
func has(src []byte, number protowire.Number, text string) bool {
	var all []string
	err := each(src, func(found protowire.Number, value []byte) error {
		if found == number {
			all = append(all, string(value))
		}
		return nil
	})
	return err == nil && slices.Contains(all, text)
}
