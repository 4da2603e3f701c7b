package packaging

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

var pools = []schema.GroupResource{{Group: "x.io", Resource: "pools"}}

const poolCRD = `
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: pools.x.io}, spec: {group: x.io, names: {kind: Pool, plural: pools}}}
---`

var exclusionRows = map[string]struct{ in, want string }{
	"the CRD and its instances go, others of the same kind or plural stay": {
		in: poolCRD + `
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: pools.y.io}, spec: {group: y.io, names: {kind: Pool, plural: pools}}}
---
{apiVersion: x.io/v1, kind: Pool, metadata: {name: a}}
---
{apiVersion: y.io/v1, kind: Pool, metadata: {name: a}}`,
		want: `
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: pools.y.io}, spec: {group: y.io, names: {kind: Pool, plural: pools}}}
---
{apiVersion: y.io/v1, kind: Pool, metadata: {name: a}}`,
	},
	"rules of webhooks go, and webhooks and configurations that have none left": {
		in: poolCRD + `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: some}
webhooks:
- {name: pool.x.io, rules: [{apiGroups: [x.io], resources: [pools]}, {apiGroups: [x.io], resources: [pools/status]}]}
- {name: both.x.io, rules: [{apiGroups: [x.io], operations: [CREATE], resources: [machines, pools]}]}
- {name: all.x.io, rules: [{apiGroups: ["*"], resources: ["*"]}]}
- {name: none.x.io}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: only}
webhooks: [{name: pool.x.io, rules: [{apiGroups: [x.io], resources: [pools]}]}]`,
		want: `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: some}
webhooks:
- {name: both.x.io, rules: [{apiGroups: [x.io], operations: [CREATE], resources: [machines]}]}
- {name: all.x.io, rules: [{apiGroups: ["*"], resources: ["*"]}]}
- {name: none.x.io}`,
	},
	"rules of roles lose the resource in its group only": {
		in: poolCRD + `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: manager}
rules:
- {apiGroups: [y.io, x.io, z.io], resources: [machines, pools, pools/finalizers], verbs: [get]}
- {apiGroups: [x.io], resources: [pools/status], verbs: [patch]}
- {apiGroups: [x.io], resources: ["*"], verbs: [list]}
- {apiGroups: ["*"], resources: [pools, nodes], verbs: [watch]}
- {nonResourceURLs: [/metrics], verbs: [get]}`,
		want: `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: manager}
rules:
- {apiGroups: [y.io], resources: [machines, pools, pools/finalizers], verbs: [get]}
- {apiGroups: [x.io], resources: [machines], verbs: [get]}
- {apiGroups: [z.io], resources: [machines, pools, pools/finalizers], verbs: [get]}
- {apiGroups: [x.io], resources: ["*"], verbs: [list]}
- {apiGroups: ["*"], resources: [nodes], verbs: [watch]}
- {nonResourceURLs: [/metrics], verbs: [get]}`,
	},
	"the name of the CRD goes from resourceNames, and never leaves a rule for all": {
		in: poolCRD + `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: manager}
rules:
- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], resourceNames: [machines.x.io, pools.x.io], verbs: [patch]}
- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions/status], resourceNames: [pools.x.io], verbs: [patch]}`,
		want: `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: manager}
rules:
- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], resourceNames: [machines.x.io], verbs: [patch]}`,
	},
	"a role of the same name in another namespace stays with its bindings": {
		in: poolCRD + `
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, namespace: a}, rules: [{apiGroups: [x.io], resources: [pools], verbs: ["*"]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b, namespace: a}, roleRef: {kind: Role, name: r}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, namespace: b}, rules: [{apiGroups: [x.io], resources: [machines], verbs: ["*"]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b, namespace: b}, roleRef: {kind: Role, name: r}}`,
		want: `
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, namespace: b}, rules: [{apiGroups: [x.io], resources: [machines], verbs: ["*"]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b, namespace: b}, roleRef: {kind: Role, name: r}}`,
	},
	"a role that is left empty goes with its bindings, one that was empty before stays": {
		in: poolCRD + `
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: pool-editor}, rules: [{apiGroups: [x.io], resources: [pools], verbs: ["*"]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: pool-editors}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: pool-editor}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: other}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: pool-editor}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: aggregated}, rules: []}`,
		want: `
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: other}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: pool-editor}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: aggregated}, rules: []}`,
	},
}

func TestExclude(t *testing.T) {
	for name, row := range exclusionRows {
		t.Run(name, func(t *testing.T) {
			left, _, err := exclude(parse(t, row.in), pools)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := render(t, left), render(t, parse(t, row.want)); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestExclude_of_nothing_changes_nothing(t *testing.T) {
	for name, row := range exclusionRows {
		left, _, err := exclude(parse(t, row.in), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := render(t, left), render(t, parse(t, row.in)); got != want {
			t.Errorf("%s: got:\n%s\nwant:\n%s", name, got, want)
		}
	}
}

func TestExclude_refuses_what_is_not_there(t *testing.T) {
	_, _, err := exclude(parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"), pools)
	if err == nil || !strings.Contains(err.Error(), "pools.x.io is neither in the kustomization nor named by a webhook or role") {
		t.Errorf("got %v", err)
	}
}

func TestExclude_is_content_with_a_rule_when_the_CRD_comes_from_elsewhere(t *testing.T) {
	role := "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, rules: [{apiGroups: [x.io], resources: [pools, a]}]}"
	if _, e, err := exclude(parse(t, role), pools); err != nil || e.rules != 1 {
		t.Errorf("got %+v, %v", e, err)
	}
}
