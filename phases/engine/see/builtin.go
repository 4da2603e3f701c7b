package see

import "k8s.io/apimachinery/pkg/runtime/schema"

// CRDKind is the kind of CustomResourceDefinitions.
var CRDKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// CommonKinds are kinds of which nearly every revision has objects: those that every image of a provider brings.
var CommonKinds = func() map[schema.GroupVersionKind]bool {
	some := map[schema.GroupVersionKind]bool{CRDKind: true}
	add := func(group string, kinds ...string) {
		for _, kind := range kinds {
			some[schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}] = true
		}
	}
	add("", "Service", "ServiceAccount")
	add("apps", "Deployment")
	add("rbac.authorization.k8s.io", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
	add("admissionregistration.k8s.io", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
	return some
}()

// Builtin are kinds that every API server serves in this way, so that nobody needs to ask how. One that does not after
// all answers a watch with "not found", and is asked about then.
var Builtin = func() map[schema.GroupVersionKind]Resource {
	all := map[schema.GroupVersionKind]Resource{}
	add := func(group string, namespaced bool, resources map[string]string) {
		for kind, plural := range resources {
			gv := schema.GroupVersion{Group: group, Version: "v1"}
			all[gv.WithKind(kind)] = Resource{GVR: gv.WithResource(plural), Namespaced: namespaced, Lists: true}
		}
	}
	add("", true, map[string]string{
		"ConfigMap": "configmaps", "Secret": "secrets", "Service": "services", "ServiceAccount": "serviceaccounts",
		"PersistentVolumeClaim": "persistentvolumeclaims",
	})
	add("", false, map[string]string{"Namespace": "namespaces", "PersistentVolume": "persistentvolumes"})
	add("apps", true, map[string]string{"Deployment": "deployments", "DaemonSet": "daemonsets", "StatefulSet": "statefulsets"})
	add("batch", true, map[string]string{"Job": "jobs", "CronJob": "cronjobs"})
	add("policy", true, map[string]string{"PodDisruptionBudget": "poddisruptionbudgets"})
	add("discovery.k8s.io", true, map[string]string{"EndpointSlice": "endpointslices"})
	add("networking.k8s.io", true, map[string]string{"NetworkPolicy": "networkpolicies"})
	add("rbac.authorization.k8s.io", true, map[string]string{"Role": "roles", "RoleBinding": "rolebindings"})
	add("rbac.authorization.k8s.io", false, map[string]string{"ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings"})
	add("scheduling.k8s.io", false, map[string]string{"PriorityClass": "priorityclasses"})
	add("apiextensions.k8s.io", false, map[string]string{"CustomResourceDefinition": "customresourcedefinitions"})
	add("apiregistration.k8s.io", false, map[string]string{"APIService": "apiservices"})
	add("admissionregistration.k8s.io", false, map[string]string{
		"MutatingWebhookConfiguration": "mutatingwebhookconfigurations", "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
		"ValidatingAdmissionPolicy": "validatingadmissionpolicies", "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
	})
	return all
}()
