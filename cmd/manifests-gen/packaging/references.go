package packaging

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// reference is a place in an object that names another object.
type reference struct {
	// path leads to the mappings that contain the name, see node.each.
	path string
	// field of the mapping is the name.
	field string
	// to is the kind that is named; empty when the mapping itself states it.
	to schema.GroupKind
}

var (
	service        = schema.GroupKind{Kind: "Service"}
	serviceAccount = schema.GroupKind{Kind: "ServiceAccount"}
	configMap      = schema.GroupKind{Kind: "ConfigMap"}
	volumeClaim    = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	priorityClass  = schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}
)

// podReferences are those of a pod's spec.
var podReferences = []reference{
	{"", "serviceAccountName", serviceAccount},
	{"", "serviceAccount", serviceAccount},
	{"", "priorityClassName", priorityClass},
	{"volumes[].configMap", "name", configMap},
	{"volumes[].projected.sources[].configMap", "name", configMap},
	{"volumes[].persistentVolumeClaim", "claimName", volumeClaim},
	{"initContainers[].envFrom[].configMapRef", "name", configMap},
	{"initContainers[].env[].valueFrom.configMapKeyRef", "name", configMap},
	{"containers[].envFrom[].configMapRef", "name", configMap},
	{"containers[].env[].valueFrom.configMapKeyRef", "name", configMap},
}

var (
	bindingReferences = []reference{{path: "roleRef", field: "name"}, {path: "subjects[]", field: "name"}}
	webhookReferences = []reference{{"webhooks[].clientConfig.service", "name", service}}
)

// references are those of whole objects, by kind.
var references = map[schema.GroupKind][]reference{
	{Group: rbac, Kind: "RoleBinding"}:                           bindingReferences,
	{Group: rbac, Kind: "ClusterRoleBinding"}:                    bindingReferences,
	{Group: admission, Kind: "MutatingWebhookConfiguration"}:     webhookReferences,
	{Group: admission, Kind: "ValidatingWebhookConfiguration"}:   webhookReferences,
	{Group: apiextensions, Kind: "CustomResourceDefinition"}:     {{"spec.conversion.webhook.clientConfig.service", "name", service}},
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:        {{"spec.service", "name", service}},
	{Group: "apps", Kind: "StatefulSet"}:                         {{"spec", "serviceName", service}},
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:      {{path: "spec.scaleTargetRef", field: "name"}},
	{Group: "route.openshift.io", Kind: "Route"}:                 {{path: "spec.to", field: "name"}},
	{Group: admission, Kind: "ValidatingAdmissionPolicyBinding"}: {{"spec", "policyName", schema.GroupKind{Group: admission, Kind: "ValidatingAdmissionPolicy"}}},
	{Group: admission, Kind: "MutatingAdmissionPolicyBinding"}:   {{"spec", "policyName", schema.GroupKind{Group: admission, Kind: "MutatingAdmissionPolicy"}}},
	{Group: "networking.k8s.io", Kind: "Ingress"}: {
		{"spec.defaultBackend.service", "name", service},
		{"spec.rules[].http.paths[].backend.service", "name", service},
	},
}

// typed reads the group and kind that a reference states: as apiGroup, or as the group of apiVersion.
func typed(holder node) schema.GroupKind {
	kind, _ := holder.fields["kind"].(string)
	if group, ok := holder.fields["apiGroup"].(string); ok {
		return schema.GroupKind{Group: group, Kind: kind}
	}
	version, _ := holder.fields["apiVersion"].(string)
	gv, err := schema.ParseGroupVersion(version)
	if err != nil {
		return schema.GroupKind{Kind: kind}
	}
	return schema.GroupKind{Group: gv.Group, Kind: kind}
}
