package policy_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// many is a list with one value 25,000 times, as a few lines of aliases can make it.
func many(value any) []any { return slices.Repeat([]any{value}, 25_000) }

// checked are the breaches of the first of some documents, whose field has another value.
func checked(t *testing.T, text, field string, value any) []string {
	t.Helper()
	objects := parse(t, text)
	objects[0].Object[field] = value
	var found []string
	for _, b := range providers.Check(image, []*unstructured.Unstructured{objects[0], objects[len(objects)-1]})[0].Breaches {
		found = append(found, b.Rule+" "+b.Path+": "+b.Why)
	}
	return found
}

func TestCheck_tells_no_more_of_an_object_than_can_be_read(t *testing.T) {
	for rule, found := range map[string][]string{
		"subject":    checked(t, binding+ref+"---\n"+cluster, "subjects", many(map[string]any{"kind": "User", "name": "eve"})),
		"permission": checked(t, cluster, "rules", many(map[string]any{"verbs": []any{"bind"}})),
	} {
		if len(found) != 21 || found[20] != rule+" : it breaks this rule 24980 times more" {
			t.Errorf("rule %s: %d breaches are told, the last is %q", rule, len(found), found[len(found)-1])
		}
	}
}

func TestCheck_does_not_judge_each_group_with_each_resource_without_end(t *testing.T) {
	rule := func(groups, resources []any) any {
		return map[string]any{"apiGroups": groups, "resources": resources, "verbs": []any{"get"}}
	}
	for at, rules := range map[string][]any{
		"rules[0]":     {rule(many("a"), many("a"))},
		"rules[10000]": many(rule([]any{"a"}, []any{"a"})),
	} {
		if found := checked(t, cluster, "rules", rules); len(found) != 1 || !strings.HasPrefix(found[0], "permission "+at+": no more than 10000 pairs") {
			t.Errorf("%s: %q", at, found)
		}
	}
}
