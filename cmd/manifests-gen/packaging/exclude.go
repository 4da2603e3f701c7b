package packaging

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// exclusion removes CRDs and everything that names them.
type exclusion struct {
	// hits counts the places where each excluded resource was found.
	hits map[schema.GroupResource]int
	// gone are the objects that are removed as a whole.
	gone map[*unstructured.Unstructured]bool
	// webhooks and rules count what was removed from objects that stay.
	webhooks, rules int
}

// exclude removes the listed CRDs with their instances, the rules of webhooks
// and roles that name them, and what is left empty by that: webhooks, webhook
// configurations, roles and the bindings of such roles. A rule for "*" names no
// CRD and stays. Objects are changed in place.
func exclude(objects []*unstructured.Unstructured, names []schema.GroupResource) ([]*unstructured.Unstructured, *exclusion, error) {
	e := &exclusion{hits: map[schema.GroupResource]int{}, gone: map[*unstructured.Unstructured]bool{}}
	for _, name := range names {
		e.hits[name] = 0
	}
	kinds := e.kinds(objects)
	for _, object := range objects {
		var err error
		switch {
		case isCRD(object) && e.names(object):
			e.gone[object] = true
		case kinds[object.GroupVersionKind().GroupKind()]:
			e.gone[object] = true
		case isWebhookConfiguration(object):
			err = e.fromWebhooks(object)
		case isKind(object, rbac, "ClusterRole"), isKind(object, rbac, "Role"):
			err = e.fromRole(object)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if err := e.dropBindings(objects); err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		if e.hits[name] == 0 {
			return nil, nil, fmt.Errorf("ConfigMap %s: %s is neither in the kustomization nor named by a webhook or role in it: correct the line or remove it", excludeSettings, name)
		}
	}
	return slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool { return e.gone[o] }), e, nil
}

func (e *exclusion) names(crd *unstructured.Unstructured) bool {
	_, excluded := e.hits[schema.ParseGroupResource(crd.GetName())]
	return excluded
}

// kinds returns the kinds that the excluded CRDs define.
func (e *exclusion) kinds(objects []*unstructured.Unstructured) map[schema.GroupKind]bool {
	kinds := map[schema.GroupKind]bool{}
	for _, object := range objects {
		if !isCRD(object) || !e.names(object) {
			continue
		}
		name := schema.ParseGroupResource(object.GetName())
		e.hits[name]++
		kind, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
		kinds[schema.GroupKind{Group: name.Group, Kind: kind}] = true
	}
	return kinds
}

func (e *exclusion) fromWebhooks(object *unstructured.Unstructured) error {
	webhooks, err := root(object).children("webhooks")
	if err != nil {
		return err
	}
	var kept []any
	for _, webhook := range webhooks {
		before, _ := webhook.fields["rules"].([]any)
		rules, err := e.filter(webhook)
		if err != nil {
			return err
		}
		if len(before) > 0 && len(rules) == 0 {
			e.webhooks++
			continue
		}
		kept = append(kept, webhook.fields)
	}
	if len(webhooks) > 0 && len(kept) == 0 {
		e.gone[object] = true
		return nil
	}
	if len(kept) < len(webhooks) {
		object.Object["webhooks"] = kept
	}
	return nil
}

func (e *exclusion) fromRole(object *unstructured.Unstructured) error {
	before, err := root(object).list("rules")
	if err != nil {
		return err
	}
	rules, err := e.filter(root(object))
	if err != nil {
		return err
	}
	if len(before) > 0 && len(rules) == 0 {
		e.gone[object] = true
	}
	return nil
}

// filter rewrites the rules in a webhook or role and returns those that are left.
func (e *exclusion) filter(holder node) ([]any, error) {
	rules, err := holder.children("rules")
	if err != nil {
		return nil, err
	}
	var left []any
	changed := false
	for _, rule := range rules {
		parts, err := e.without(rule)
		if err != nil {
			return nil, err
		}
		if parts == nil {
			left = append(left, rule.fields)
			continue
		}
		changed = true
		e.rules++
		for _, part := range parts {
			left = append(left, part)
		}
	}
	if changed {
		holder.fields["rules"] = left
	}
	return left, nil
}

// without returns what is left of a rule, or nil when it names nothing excluded.
// A rule for several groups can become two: a plural that is excluded in one
// group may stay in another.
func (e *exclusion) without(rule node) ([]map[string]any, error) {
	names, err := rule.texts("resourceNames")
	if err != nil {
		return nil, err
	}
	if left := slices.DeleteFunc(slices.Clone(names), e.isNamed); len(left) < len(names) {
		if len(left) == 0 { // a rule without names would apply to all
			return []map[string]any{}, nil
		}
		copied := maps.Clone(rule.fields)
		copied["resourceNames"] = anys(left)
		return []map[string]any{copied}, nil
	}
	groups, err := rule.texts("apiGroups")
	if err != nil {
		return nil, err
	}
	resources, err := rule.texts("resources")
	if err != nil {
		return nil, err
	}
	type part struct{ groups, resources []string }
	var parts []part
	for _, group := range groups {
		left := slices.DeleteFunc(slices.Clone(resources), func(resource string) bool { return e.covers(group, resource) })
		if n := len(parts); n > 0 && slices.Equal(parts[n-1].resources, left) {
			parts[n-1].groups = append(parts[n-1].groups, group)
			continue
		}
		parts = append(parts, part{groups: []string{group}, resources: left})
	}
	if len(parts) == 0 || len(parts) == 1 && len(parts[0].resources) == len(resources) {
		return nil, nil
	}
	out := []map[string]any{}
	for _, p := range parts {
		if len(p.resources) == 0 {
			continue
		}
		copied := maps.Clone(rule.fields)
		copied["apiGroups"], copied["resources"] = anys(p.groups), anys(p.resources)
		out = append(out, copied)
	}
	return out, nil
}

// isNamed reports whether the name of an object is that of an excluded CRD.
func (e *exclusion) isNamed(name string) bool {
	resource := schema.ParseGroupResource(name)
	_, excluded := e.hits[resource]
	if excluded {
		e.hits[resource]++
	}
	return excluded
}

// covers reports whether a resource of a rule, such as machinepools/status, is an excluded one.
func (e *exclusion) covers(group, resource string) bool {
	plural, _, _ := strings.Cut(resource, "/")
	covered := false
	for name := range e.hits {
		if name.Resource == plural && (group == "*" || group == name.Group) {
			e.hits[name]++
			covered = true
		}
	}
	return covered
}

// dropBindings removes the bindings of roles that were removed.
func (e *exclusion) dropBindings(objects []*unstructured.Unstructured) error {
	type role struct{ kind, namespace, name string }
	roles := map[role]bool{}
	for object := range e.gone {
		roles[role{object.GetKind(), object.GetNamespace(), object.GetName()}] = true
	}
	for _, object := range objects {
		if !isBinding(object) {
			continue
		}
		err := root(object).each("roleRef", func(ref node) error {
			kind, err := ref.text("kind")
			if err != nil {
				return err
			}
			name, err := ref.text("name")
			if err != nil {
				return err
			}
			namespace := object.GetNamespace()
			if kind == "ClusterRole" {
				namespace = ""
			}
			if roles[role{kind, namespace, name}] {
				e.gone[object] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func anys(texts []string) []any {
	out := make([]any, len(texts))
	for i, text := range texts {
		out[i] = text
	}
	return out
}
