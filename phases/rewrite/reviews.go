package rewrite

import "slices"

// What a name is depends on what it is the name of, which may be said after it.
var (
	attributes            = object(in("group", aGroup))
	definitionsAttributes = object(in("group", aGroup), in("name", aName))
	allowed               = object(in("apiGroups", someGroups))
	definitionsAllowed    = object(in("apiGroups", someGroups), in("resourceNames", someNames))
)

const (
	definitionsGroup    = "apiextensions.k8s.io"
	definitionsResource = "customresourcedefinitions"
)

// lookAtAttributes sees the attributes of a resource in an access review.
func lookAtAttributes(_ Direction, b []byte) (*place, verdict, error) {
	var group, resource string
	closed := members(b, func(key, value []byte) {
		switch string(key) {
		case "group":
			group = text(value)
		case "resource":
			resource = text(value)
		}
	})
	switch {
	case !closed:
		return nil, undecided, nil
	case group == definitionsGroup && resource == definitionsResource:
		return definitionsAttributes, keep, nil
	}
	return attributes, keep, nil
}

// lookAtAllowed sees a rule in a rules review.
func lookAtAllowed(_ Direction, b []byte) (*place, verdict, error) {
	var groups, resources []string
	closed := members(b, func(key, value []byte) {
		switch string(key) {
		case "apiGroups":
			groups = texts(value)
		case "resources":
			resources = texts(value)
		}
	})
	switch {
	case !closed:
		return nil, undecided, nil
	case slices.Contains(groups, definitionsGroup) && slices.Contains(resources, definitionsResource):
		return definitionsAllowed, keep, nil
	}
	return allowed, keep, nil
}

// texts are the strings of an array.
func texts(array []byte) []string {
	var all []string
	if len(array) > 0 && array[0] == '[' {
		elements(array, func(value []byte) { all = append(all, text(value)) })
	}
	return all
}
