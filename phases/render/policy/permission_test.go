package policy_test

import (
	"fmt"
	"testing"
)

func TestCheck_permission_toWrite(t *testing.T) {
	may := func(group, resource, verb, names string) string {
		return cluster + fmt.Sprintf("rules: [{apiGroups: [%q], resources: [%q], verbs: [%q], resourceNames: [%s]}]", group, resource, verb, names)
	}
	const refused = "permission rules[0].resources"
	var rows []row
	for _, needed := range []struct{ group, resource string }{
		{"", "configmaps"},
		{"", "secrets"},
		{"", "serviceaccounts"},
		{"", "nodes"},
		{"", "events"},
		{"", "persistentvolumeclaims"},
		{"", "persistentvolumeclaims/status"},
		{"authentication.k8s.io", "tokenreviews"},
		{"authorization.k8s.io", "subjectaccessreviews"},
		{"coordination.k8s.io", "leases"},
		{"rbac.authorization.k8s.io", "roles"},
		{"network.azure.com", "natgateways"},
		{"vmware.com", "virtualnetworks"},
		{"vmoperator.vmware.com", "virtualmachines"},
		{"metal3.io", "baremetalhosts"},
		{"cluster.openshift.io", "openshiftcontrolplanes/status"},
	} {
		rows = append(rows, row{needed.group + " " + needed.resource, may(needed.group, needed.resource, "patch", ""), nil})
	}
	for _, other := range []struct{ group, resource string }{
		{"", "pods"},
		{"", "namespaces"},
		{"", "persistentvolumes"},
		{"", "nodes/status"},
		{"", "replicationcontrollers"},
		{"", "services"},
		{"apps", "deployments"},
		{"apps", "daemonsets"},
		{"batch", "jobs"},
		{"apiextensions.k8s.io", "other"},
		{"machineconfiguration.openshift.io", "machineconfigs"},
		{"config.openshift.io", "oauths"},
		{"oauth.openshift.io", "oauthclients"},
		{"user.openshift.io", "groups"},
		{"authorization.openshift.io", "clusterrolebindings"},
		{"operators.coreos.com", "subscriptions"},
		{"cloudcredential.openshift.io", "credentialsrequests"},
		{"argoproj.io", "applications"},
		{"evilvmware.com", "a"},
		{"rbac.authorization.k8s.io", "clusterrolebindings"},
		{"apiregistration.k8s.io", "apiservices"},
		{"operator.openshift.io", "clusterapis"},
	} {
		rows = append(rows,
			row{other.group + " " + other.resource, may(other.group, other.resource, "create", ""), []string{refused}},
			row{other.group + " " + other.resource + ", to read", may(other.group, other.resource, "list", ""), nil})
	}
	judge(t, append(rows,
		row{"definitions by name", may("apiextensions.k8s.io", "customresourcedefinitions/status", "patch", "clusters.cluster.x-k8s.io, as.network.azure.com"), nil},
		row{"definitions of whatever name", may("apiextensions.k8s.io", "customresourcedefinitions", "patch", ""), []string{"permission rules[0].resourceNames"}},
		row{"a definition of others by name", may("apiextensions.k8s.io", "customresourcedefinitions", "patch", "clusters.cluster.x-k8s.io, users.example.org"), []string{"permission rules[0].resourceNames"}},
		row{"one writable group among others", cluster + `rules: [{apiGroups: [cluster.x-k8s.io, apps], resources: [deployments], verbs: [update]}]`, []string{refused}},
	))
}

func TestCheck_permission_onSubresources(t *testing.T) {
	may := func(group, resource, verb string) string {
		return cluster + fmt.Sprintf("rules: [{apiGroups: [%q], resources: [%q], verbs: [%q]}]", group, resource, verb)
	}
	var rows []row
	for _, needed := range []struct{ group, resource, verb string }{
		{"", "services/status", "get"},
		{"apps", "deployments/scale", "get"},
		{"metal3.io", "baremetalhosts/finalizers", "update"},
		{"network.azure.com", "natgateways/status", "watch"},
		{"cluster.x-k8s.io", "clusters/anything", "update"},
	} {
		rows = append(rows, row{needed.verb + " " + needed.resource, may(needed.group, needed.resource, needed.verb), nil})
	}
	for _, other := range []struct{ group, resource, verb string }{
		{"", "nodes/log", "get"},
		{"", "nodes/proxy", "get"},
		{"", "pods/log", "get"},
		{"", "pods/exec", "create"},
		{"", "pods/status/exec", "get"},
		{"", "serviceaccounts/token", "create"},
		{"certificates.k8s.io", "certificatesigningrequests/approval", "update"},
		{"subresources.kubevirt.io", "virtualmachineinstances/console", "get"},
		{"subresources.kubevirt.io", "virtualmachineinstances/vnc", "get"},
		{"proxy.open-cluster-management.io", "clusterstatuses/aggregator", "get"},
		{"vmware.com", "virtualmachines/console", "get"},
	} {
		rows = append(rows, row{other.verb + " " + other.resource, may(other.group, other.resource, other.verb), []string{"permission rules[0].resources"}})
	}
	judge(t, append(rows, row{
		"for Cluster API's groups and another", cluster + `rules: [{apiGroups: [cluster.x-k8s.io, ""], resources: [pods/log], verbs: [get]}]`, []string{"permission rules[0].resources"},
	}))
}
