package harness

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// syntheticKinds are the kinds of the suites' own providers, of which no release
// knows: somebody has to let the operator read and write them.
var syntheticKinds = rbacv1.PolicyRule{
	APIGroups: []string{"test.cluster.x-k8s.io", "elsewhere.cluster.x-k8s.io", "faults.cluster.x-k8s.io", "silent.faults.cluster.x-k8s.io", "synthetic.cluster.x-k8s.io"},
	Resources: []string{"*"},
	Verbs:     []string{"create", "delete", "get", "list", "patch", "watch"},
}

// Allow lets the operator do more, as an administrator would, until the cluster
// is emptied.
func (e *Environment) Allow(ctx context.Context, name string, rules ...rbacv1.PolicyRule) error {
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	if err := e.Client.Create(ctx, role); err != nil {
		return fmt.Errorf("creating ClusterRole %s: %w", name, err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: OperatorNamespace, Name: ServiceAccount}},
	}
	if err := e.Client.Create(ctx, binding); err != nil {
		return fmt.Errorf("creating ClusterRoleBinding %s: %w", name, err)
	}
	return nil
}
