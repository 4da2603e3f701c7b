package protobuf

import "strings"

var (
	ownerReference = fields(text(5, "apiVersion", groupVersion))
	managedFields  = fields(text(3, "apiVersion", groupVersion))

	objectMeta = fields(
		text(1, "name", definedName),
		sub(13, "ownerReferences", ownerReference),
		sub(17, "managedFields", managedFields),
	)
	definitionMeta = fields(
		text(1, "name", crdName),
		sub(13, "ownerReferences", ownerReference),
		sub(17, "managedFields", managedFields),
	)
	anyObject = fields(sub(1, "metadata", objectMeta))

	statusCause   = fields(text(2, "message", prose))
	statusDetails = fields(text(1, "name", definedName), text(2, "group", group), sub(4, "causes", statusCause))
	status        = fields(text(3, "message", prose), sub(5, "details", statusDetails))

	rawExtension = fields(field{number: 1, name: "raw", role: embedded})
	watchEvent   = fields(sub(2, "object", rawExtension))

	typeMeta = fields(text(1, "apiVersion", rootVersion))
)

// The places of kinds whose texts name a group beside their metadata.
var (
	reviewed        = field{number: 1, name: "resourceAttributes", role: attributes, of: definitionsAttributes}
	allowedRules    = field{number: 1, name: "resourceRules", role: allowed, of: definitionsAllowed}
	rules           = fields(text(1, "apiGroups", group))
	ruleOperations  = fields(sub(2, "rule", rules))
	webhook         = fields(sub(3, "rules", ruleOperations))
	namedRule       = fields(sub(2, "ruleWithOperations", ruleOperations))
	matchResources  = fields(sub(3, "resourceRules", namedRule), sub(4, "excludeResourceRules", namedRule))
	paramKind       = fields(text(1, "apiVersion", groupVersion))
	objectReference = fields(text(5, "apiVersion", groupVersion))
	crossVersion    = fields(text(3, "apiVersion", groupVersion))

	customResourceDefinition = fields(
		sub(1, "metadata", definitionMeta),
		sub(2, "spec", fields(text(1, "group", group))),
	)
	accessReview         = object(sub(2, "spec", fields(reviewed)))
	rulesReview          = object(sub(3, "status", fields(allowedRules)))
	webhookConfiguration = object(sub(2, "webhooks", webhook))
	admissionPolicy      = object(sub(2, "spec", fields(sub(1, "paramKind", paramKind), sub(2, "matchConstraints", matchResources))))
	policyBinding        = object(sub(2, "spec", fields(sub(3, "matchResources", matchResources))))
	coreEvent            = object(sub(2, "involvedObject", objectReference), sub(13, "related", objectReference))
	newEvent             = object(sub(8, "regarding", objectReference), sub(9, "related", objectReference))
	autoscaler           = object(sub(2, "spec", fields(sub(1, "scaleTargetRef", crossVersion))))
)

func object(list ...field) *message {
	return fields(append([]field{sub(1, "metadata", objectMeta)}, list...)...)
}

// kind is a kind of a group, in all of its versions.
type kind struct{ group, kind string }

var sideTable = map[kind]*message{
	{"apiextensions.k8s.io", "CustomResourceDefinition"}:                 customResourceDefinition,
	{"authorization.k8s.io", "SelfSubjectAccessReview"}:                  accessReview,
	{"authorization.k8s.io", "SubjectAccessReview"}:                      accessReview,
	{"authorization.k8s.io", "LocalSubjectAccessReview"}:                 accessReview,
	{"authorization.k8s.io", "SelfSubjectRulesReview"}:                   rulesReview,
	{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"}:   webhookConfiguration,
	{"admissionregistration.k8s.io", "MutatingWebhookConfiguration"}:     webhookConfiguration,
	{"admissionregistration.k8s.io", "ValidatingAdmissionPolicy"}:        admissionPolicy,
	{"admissionregistration.k8s.io", "MutatingAdmissionPolicy"}:          admissionPolicy,
	{"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"}: policyBinding,
	{"admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"}:   policyBinding,
	{"", "Event"}:                              coreEvent,
	{"events.k8s.io", "Event"}:                 newEvent,
	{"autoscaling", "HorizontalPodAutoscaler"}: autoscaler,
}

// noObject are the kinds that have something else where objects have their metadata: of those the envelope alone is looked at.
var noObject = map[string]bool{
	"APIGroup": true, "APIGroupList": true, "APIResourceList": true, "APIVersions": true, "APIGroupDiscoveryList": true,
}

// schemaOf is where texts stand in an object of the kind; nil is nowhere. The items of a list are objects of the kind that its
// name begins with.
func schemaOf(apiVersion, name string) *message {
	group, _, named := strings.Cut(apiVersion, "/")
	if !named {
		group = ""
	}
	switch {
	case name == "Status" && apiVersion == "v1":
		return status
	case noObject[name], strings.HasSuffix(name, "Options"):
		return nil
	}
	if item, list := strings.CutSuffix(name, "List"); list {
		return fields(sub(2, "items", schemaOfObject(group, item)))
	}
	return schemaOfObject(group, name)
}

func schemaOfObject(group, name string) *message {
	if known := sideTable[kind{group, name}]; known != nil {
		return known
	}
	return anyObject
}
