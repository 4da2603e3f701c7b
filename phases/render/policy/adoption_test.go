package policy_test

import "testing"

func TestCheck_adoption(t *testing.T) {
	adopting := func(apiVersion, kind, namespace, name, value string) string {
		if namespace != "" {
			namespace = "namespace: " + namespace + ", "
		}
		return "{apiVersion: " + apiVersion + ", kind: " + kind + ", metadata: {" + namespace + "name: " + name +
			", annotations: {capi-operator.openshift.io/adopt-existing: " + value + "}}, spec: {group: cluster.x-k8s.io}}"
	}
	const refused = "adoption metadata.annotations.capi-operator.openshift.io/adopt-existing"
	judge(t, []row{
		{"an object of the providers", adopting("v1", "Service", "capi", "a", "always"), nil},
		{"a definition of Cluster API", adopting("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "clusters.cluster.x-k8s.io", "always"), []string{refused}},
		{"the providers' Namespace", adopting("v1", "Namespace", "", "capi", "always"), nil},
		{"from its controller", adopting("v1", "Service", "capi", "a", "force"), []string{refused}},
		{"a definition of others", adopting("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "configs.config.gatekeeper.sh", "always"), []string{refused}},
		{"a Namespace of others", adopting("v1", "Namespace", "", "argocd", "always"), []string{refused}},
		{"an object in a Namespace that is brought", adopting("v1", "Secret", "argocd", "a", "always") + "\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: argocd}}", []string{refused}},
		{"a ClusterRole", adopting("rbac.authorization.k8s.io/v1", "ClusterRole", "", "cluster-admin", "always"), []string{refused}},
		{"the webhooks of others", adopting("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "gatekeeper", "always"), []string{refused}},
		{"a cluster-wide resource of Cluster API", adopting("cluster.x-k8s.io/v1", "Pool", "", "a", "always"), []string{refused}},
		{"a value that nobody knows", adopting("rbac.authorization.k8s.io/v1", "ClusterRole", "", "a", "maybe"), []string{refused}},
	})
}
