package privatecrds

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

// gathering is the key of the label by which private roles are gathered into one, for that by which upstream ones are: with the same
// label the platform's controllers would gather rights on private objects, and those of hosted clusters rights on the platform's.
func gathering(key string) (string, bool) {
	domain, name, _ := strings.Cut(key, "/")
	if !strings.HasPrefix(name, "aggregate-to-") || domain != rewrite.Standard && !strings.HasSuffix(domain, "."+rewrite.Standard) {
		return key, false
	}
	return strings.TrimSuffix(domain, rewrite.Standard) + rewrite.Private + "/" + name, true
}

// gathered moves the keys of labels by which roles are gathered.
func gathered(labels map[string]string) (moved bool) {
	for key, value := range labels {
		if to, is := gathering(key); is {
			delete(labels, key)
			labels[to] = value
			moved = true
		}
	}
	return moved
}

// makeRole moves the rules of a role. One that names no group of Cluster API, gathers none that does, and is not gathered with them, is
// not about it: the upstream one serves as it is.
func makeRole(role *unstructured.Unstructured, _ Options) (about bool, problems ProblemsError) {
	rules, _, err := unstructured.NestedSlice(role.Object, "rules")
	if err != nil {
		return true, ProblemsError{wrong("rules", "it is no list")}
	}
	for i, r := range rules {
		at := fmt.Sprintf("rules[%d]", i)
		rule, is := r.(map[string]any)
		if !is {
			return true, ProblemsError{wrong(at, "it is no map")}
		}
		if has(rule, "apiGroups", "*") {
			problems = append(problems, wrong(at+".apiGroups", "it is about every group, so that the private role would have rights on the platform's objects; name the groups of the provider"))
		}
		about = moveRule(rule) || about
	}
	if len(rules) > 0 {
		if err := unstructured.SetNestedSlice(role.Object, rules, "rules"); err != nil {
			return true, ProblemsError{wrong("rules", "%v", err)}
		}
	}
	gathers, err := moveAggregation(role)
	if err != nil {
		return true, ProblemsError{wrong("aggregationRule", "%v", err)}
	}
	labels := role.GetLabels()
	if about = gathered(labels) || gathers || about; !about {
		return false, nil
	}
	role.SetLabels(labels)
	clean(role)
	role.SetName(prefix + role.GetName())
	return true, problems
}

// has says that a field of a rule lists a text.
func has(rule map[string]any, field, text string) bool {
	list, _ := rule[field].([]any)
	return slices.Contains(list, any(text))
}

// moveRule moves the groups of a rule, and the names of definitions that it is held to: other names, such as that of a Lease, are what
// the provider's own code says.
func moveRule(rule map[string]any) (moved bool) {
	names := map[string]func(string) (string, bool){"apiGroups": private}
	if has(rule, "apiGroups", "apiextensions.k8s.io") {
		names["resourceNames"] = privateName
	}
	for field, name := range names {
		list, _ := rule[field].([]any)
		for i, text := range list {
			if text, is := text.(string); is {
				to, standard := name(text)
				list[i] = to
				moved = moved || standard
			}
		}
	}
	return moved
}

// moveAggregation has a role gather the private ones.
func moveAggregation(role *unstructured.Unstructured) (moved bool, err error) {
	selectors, found, err := unstructured.NestedSlice(role.Object, "aggregationRule", "clusterRoleSelectors")
	if err != nil || !found {
		return false, err
	}
	for i, s := range selectors {
		selector, _ := s.(map[string]any)
		labels, _, err := unstructured.NestedStringMap(selector, "matchLabels")
		if err != nil {
			return false, fmt.Errorf("clusterRoleSelectors[%d].matchLabels: %w", i, err)
		}
		moved = gathered(labels) || moved
		if len(labels) > 0 {
			if err := unstructured.SetNestedStringMap(selector, labels, "matchLabels"); err != nil {
				return false, err
			}
		}
		expressions, _ := selector["matchExpressions"].([]any)
		for _, e := range expressions {
			expression, _ := e.(map[string]any)
			key, _ := expression["key"].(string)
			if to, is := gathering(key); is {
				expression["key"], moved = to, true
			}
		}
	}
	return moved, unstructured.SetNestedSlice(role.Object, selectors, "aggregationRule", "clusterRoleSelectors")
}
