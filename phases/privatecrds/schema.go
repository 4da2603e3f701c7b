package privatecrds

import (
	"fmt"
	"maps"
	"slices"
)

// advice is what to do about a literal.
const advice = "the shim and the proxy translate objects, and no text in a schema; ask the provider to compare the kind only, or leave the definition out"

// inSchema are the standard groups that a schema compares values with, or puts into objects: in defaults, enums, patterns and
// rules. Descriptions say what they like. A property may have any name, such as default, so that the walk knows where it is.
func inSchema(schema any, path string) (problems ProblemsError) {
	fields, is := schema.(map[string]any)
	if !is {
		return nil // true or false, or one of a list
	}
	problems = append(problems, inValue(fields["default"], path+".default")...)
	problems = append(problems, inValue(fields["enum"], path+".enum")...)
	problems = append(problems, inValue(fields["pattern"], path+".pattern")...)
	rules, _ := fields["x-kubernetes-validations"].([]any)
	for i, r := range rules {
		rule, _ := r.(map[string]any)
		for _, cel := range []string{"rule", "messageExpression"} {
			problems = append(problems, inValue(rule[cel], fmt.Sprintf("%s.x-kubernetes-validations[%d].%s", path, i, cel))...)
		}
	}
	for _, key := range []string{"items", "additionalProperties", "additionalItems", "not"} {
		problems = append(problems, inSchema(fields[key], path+"."+key)...)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf", "items"} {
		list, _ := fields[key].([]any)
		for i, member := range list {
			problems = append(problems, inSchema(member, fmt.Sprintf("%s.%s[%d]", path, key, i))...)
		}
	}
	for _, key := range []string{"properties", "patternProperties", "definitions", "dependencies"} {
		named, _ := fields[key].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(named)) {
			below := path + "." + key + "." + name
			if key == "patternProperties" {
				problems = append(problems, inValue(name, below)...)
			}
			problems = append(problems, inSchema(named[name], below)...)
		}
	}
	return problems
}

// inValue are the standard groups in the texts of a value, keys of maps among them.
func inValue(value any, path string) (problems ProblemsError) {
	switch value := value.(type) {
	case string:
		if group, found := standardIn(value); found {
			problems = append(problems, wrong(path, "%q names the standard group %s: %s", value, group, advice))
		}
	case []any:
		for i, member := range value {
			problems = append(problems, inValue(member, fmt.Sprintf("%s[%d]", path, i))...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			problems = append(problems, inValue(key, path)...)
			problems = append(problems, inValue(value[key], path+"."+key)...)
		}
	}
	return problems
}
