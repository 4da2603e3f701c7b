package main

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// right is one verb on one resource that a rule gives.
type right struct {
	account                          string // whose it is
	role                             string // where the rule stands
	namespace, group, resource, verb string
	names                            []string // all if empty
}

func (r right) String() string {
	text := strings.TrimSuffix(fmt.Sprintf("%s: %s %s.%s", r.role, r.verb, r.resource, r.group), ".")
	if len(r.names) > 0 {
		text += " " + strings.Join(r.names, ", ")
	}
	if r.namespace != "" {
		text += " in " + r.namespace
	}
	return text
}

// isUsedBy says that a request needed the right. Who may watch has to be able to list as well, and the other way round:
// client-go falls back from one to the other. Who may patch has to be able to get: what is written is read only where a
// watch has not shown it yet, so that it is a matter of moments whether a run does; of a status, the whole object is read. Who may make Events has to be able to
// patch them: that the same is told again within minutes is a matter of chance.
func (r right) isUsedBy(u use) bool {
	reads := []string{"list", "watch"}
	before := r.verb == "get" && u.Verb == "patch"
	again := r.verb == "patch" && u.Verb == "create" && r.group == "events.k8s.io"
	return !u.Refused && r.account == u.Account &&
		(r.verb == u.Verb || slices.Contains(reads, r.verb) && slices.Contains(reads, u.Verb) || before || again) &&
		r.group == u.Group && (r.resource == u.Resource || r.resource == "*" || before && r.resource+"/status" == u.Resource) &&
		(r.namespace == "" || r.namespace == u.Namespace) &&
		(len(r.names) == 0 || slices.Contains(r.names, u.Name))
}

// leavesNoTrace says that no audit log tells whether a right was used: the API server looks for it while it writes a role,
// a binding, or a policy that has Infrastructures as parameters. Specs of their own take these rights away.
func (r right) leavesNoTrace() bool {
	return r.verb == "bind" || r.verb == "escalate" || r.verb == "get" && r.group == "config.openshift.io" && r.resource == "infrastructures"
}

// rightsOf are the rights that a ServiceAccount gets from the bindings and roles among objects.
func rightsOf(objects []*unstructured.Unstructured, account string) ([]right, error) {
	var found []right
	for _, object := range objects {
		if kind := object.GetKind(); kind != "ClusterRoleBinding" && kind != "RoleBinding" {
			continue
		}
		binding := &rbacv1.RoleBinding{} // a ClusterRoleBinding has the same fields
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, binding); err != nil {
			return nil, fmt.Errorf("reading %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		if !slices.ContainsFunc(binding.Subjects, func(s rbacv1.Subject) bool { return s.Name == account }) {
			continue
		}
		for _, role := range objects {
			if role.GetKind() != binding.RoleRef.Kind || role.GetName() != binding.RoleRef.Name || role.GetKind() == "Role" && role.GetNamespace() != binding.Namespace {
				continue
			}
			rules := &rbacv1.ClusterRole{} // a Role has the same fields
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(role.Object, rules); err != nil {
				return nil, fmt.Errorf("reading %s %s: %w", role.GetKind(), role.GetName(), err)
			}
			for _, rule := range rules.Rules {
				found = append(found, rightsIn(account, role.GetKind()+" "+role.GetName(), binding.Namespace, rule)...)
			}
		}
	}
	return found, nil
}

func rightsIn(account, role, namespace string, rule rbacv1.PolicyRule) (found []right) {
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				found = append(found, right{account, role, namespace, group, resource, verb, rule.ResourceNames})
			}
		}
	}
	return found
}
