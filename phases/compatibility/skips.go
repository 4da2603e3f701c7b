package compatibility

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

// What the API server itself leaves out, so that it holds in an outage. A condition that errs refuses the request, so
// that none takes a field for granted: object is null in a deletion, oldObject in a creation.
const (
	newSpec = "object == null || oldObject == null || !has(object.spec) || !has(oldObject.spec) || object.spec != oldObject.spec"
	// identity is the name that the object itself has, whatever the verb or route.
	identity = "(object != null && has(object.metadata) && has(object.metadata.name) ? object.metadata.name : " +
		"oldObject != null && has(oldObject.metadata) && has(oldObject.metadata.name) ? oldObject.metadata.name : " +
		"has(request.name) ? request.name : '')"
)

const (
	// maxConditions is how many matchConditions the API allows for a webhook.
	maxConditions = 64
	// maxNames bounds the names in one condition, in bytes: an expression may have 100,000 characters.
	maxNames = 64 << 10
	// The names of our conditions.
	terminatingSkip = "not-terminating.capstan.openshift.io"
	specSkip        = "new-spec.capstan.openshift.io"
	namesSkip       = "names.capstan.openshift.io"
	schemaSkip      = "schema.capstan.openshift.io"
)

// newSchema lets through only writes of definitions that change what a comparison looks at.
func newSchema() string {
	text := "object == null || oldObject == null || !has(object.spec) || !has(oldObject.spec)"
	for _, field := range []string{"names", "scope", "preserveUnknownFields", "versions"} {
		now, before := "has(object.spec."+field+")", "has(oldObject.spec."+field+")"
		text += fmt.Sprintf(" || %[1]s != %[2]s || %[1]s && object.spec.%[3]s != oldObject.spec.%[3]s", now, before, field)
	}
	return text
}

// named lets through only writes of definitions of these names.
func named(names []string) string {
	list, _ := json.Marshal(names) // names can always be encoded, and JSON of them is CEL
	return identity + " in " + string(list)
}

// listed finds the names at the end of a condition that named has made.
var listed = regexp.MustCompile(` in (\[[^\[\]]*\])$`)

// namesIn are the names of an entry, nil if it is none of ours.
func namesIn(conditions []admissionregistrationv1.MatchCondition) []string {
	for _, c := range conditions {
		found := listed.FindStringSubmatch(c.Expression)
		var names []string
		if c.Name == namesSkip && found != nil && json.Unmarshal([]byte(found[1]), &names) == nil {
			return names
		}
	}
	return nil
}

// withTheirs are our condition and those of a requirement. An API server evaluates every condition before it looks for one that
// is false, and refuses when all of them together cost too much: each of theirs begins with ours. The API allows no more
// conditions than a requirement may have, and each name once: ours stands for itself too where there is room.
func withTheirs(theirs []admissionregistrationv1.MatchCondition) []admissionregistrationv1.MatchCondition {
	name := terminatingSkip
	taken := func(c admissionregistrationv1.MatchCondition) bool { return c.Name == name }
	for i := 2; slices.ContainsFunc(theirs, taken); i++ {
		name = fmt.Sprintf("%s-%d", terminatingSkip, i)
	}
	var all []admissionregistrationv1.MatchCondition
	if len(theirs) < maxConditions {
		all = append(all, admissionregistrationv1.MatchCondition{Name: name, Expression: crdschema.NotTerminating})
	}
	for _, c := range theirs {
		c.Expression = crdschema.Skipping(c.Expression)
		all = append(all, c)
	}
	return all
}
