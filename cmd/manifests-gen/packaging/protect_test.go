package packaging

import (
	"strings"
	"testing"
)

const clusterCRDs = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: fooclusters.infrastructure.cluster.x-k8s.io}
spec: {group: infrastructure.cluster.x-k8s.io, scope: Namespaced, names: {kind: FooCluster, plural: fooclusters, singular: foocluster}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: barclusters.infrastructure.cluster.x-k8s.io}
spec: {group: infrastructure.cluster.x-k8s.io, scope: Namespaced, names: {kind: BarCluster, plural: barclusters}}`

func TestProtect_makes_a_policy_and_its_binding(t *testing.T) {
	p, err := protect(parse(t, clusterCRDs), "foocluster")
	if err != nil {
		t.Fatal(err)
	}
	want := `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: openshift-cluster-api-protect-foocluster}
spec:
  failurePolicy: Fail
  paramKind: {apiVersion: config.openshift.io/v1, kind: Infrastructure}
  matchConstraints:
    resourceRules:
    - {apiGroups: [infrastructure.cluster.x-k8s.io], apiVersions: ["*"], operations: [DELETE], resources: [fooclusters]}
  validations:
  - expression: oldObject.metadata.name != params.status.infrastructureName
    message: "this is the infrastructure of the cluster itself (its name is status.infrastructureName of Infrastructure cluster): it must not be deleted"
    reason: Forbidden
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: openshift-cluster-api-protect-foocluster}
spec:
  policyName: openshift-cluster-api-protect-foocluster
  validationActions: [Deny]
  paramRef: {name: cluster, parameterNotFoundAction: Deny}
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: openshift-cluster-api}}}`
	if got, want := render(t, p.objects), render(t, parse(t, want)); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestProtect_knows_a_CRD_without_a_singular_name_by_its_kind(t *testing.T) {
	if p, err := protect(parse(t, clusterCRDs), "barcluster"); err != nil || p.crd != "barclusters.infrastructure.cluster.x-k8s.io" {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestProtect_without_a_name_makes_nothing_and_names_what_is_not_protected(t *testing.T) {
	if p, err := protect(parse(t, clusterCRDs), ""); err != nil || len(p.objects) != 0 || strings.Join(p.open, " ") != "foocluster barcluster" {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestCommand_names_the_clusters_that_are_not_protected(t *testing.T) {
	out, err := run("--manifests-path", t.TempDir(), "--kustomize-dir", write(t, clusterCRDs), "--name", "foo")
	if err != nil || !strings.Contains(out, "not protected from deletion: barcluster, foocluster (see --protect-cluster-resource)") {
		t.Errorf("got %v and\n%s", err, out)
	}
}

func TestProtect_refuses_a_name_that_is_not_there_or_not_clear(t *testing.T) {
	twice := clusterCRDs + "\n---\n" + strings.ReplaceAll(clusterCRDs, "infrastructure.", "other.")
	for name, row := range map[string]struct{ in, singular, want string }{
		"absent":    {clusterCRDs, "fooclusters", "no CustomResourceDefinition has this singular name; those of clusters are: barcluster, foocluster"},
		"ambiguous": {twice, "foocluster", "is ambiguous: it is the singular name of fooclusters.infrastructure.cluster.x-k8s.io and of fooclusters.other.cluster.x-k8s.io"},
	} {
		if _, err := protect(parse(t, row.in), row.singular); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want ...%s...", name, err, row.want)
		}
	}
}
