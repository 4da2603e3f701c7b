package rewrite

import (
	"strings"

	"k8s.io/apiserver/pkg/endpoints/request"
)

// Class is what a path leads to. It decides where in bodies groups are.
type Class int

const (
	// Opaque passes as it is: streams, logs, what is behind a proxy subresource,
	// and paths of the server itself.
	Opaque Class = iota
	// Discovery lists groups, versions and resources.
	Discovery
	// OpenAPI describes them.
	OpenAPI
	// MappedKinds are the kinds of the groups that are mapped: a group is
	// wherever a key says apiVersion or apiGroup.
	MappedKinds
	// OtherKinds have groups in owner references and managed fields only.
	OtherKinds
	// Definitions are CRDs: their name and spec.group.
	Definitions
	// AccessReviews ask whether somebody may do something.
	AccessReviews
	// RulesReviews ask what somebody may do.
	RulesReviews
	// WebhookConfigurations say in rules which groups they are about.
	WebhookConfigurations
	// AdmissionPolicies and their bindings do so, and name the kind of their
	// parameters.
	AdmissionPolicies
	// Events refer to objects; so do EventsV1, with other keys.
	Events
	// EventsV1 are those of events.k8s.io.
	EventsV1
	// Autoscalers refer to what they scale.
	Autoscalers

	classes
)

var classNames = [classes]string{
	"opaque", "discovery", "openapi", "mapped", "other", "definition", "access review", "rules review",
	"webhook configuration", "admission policy", "event", "event v1", "autoscaler",
}

func (c Class) String() string {
	return classNames[c]
}

// Classes are all of them.
func Classes() []Class {
	all := make([]Class, classes)
	for i := range all {
		all[i] = Class(i)
	}
	return all
}

// IsObjects says whether bodies of the class are objects of the API.
func (c Class) IsObjects() bool {
	return c >= MappedKinds
}

// The kinds of the server's own groups that have more places than others.
var sideTable = map[string]Class{
	"apiextensions.k8s.io/customresourcedefinitions":                 Definitions,
	"authorization.k8s.io/localsubjectaccessreviews":                 AccessReviews,
	"authorization.k8s.io/selfsubjectaccessreviews":                  AccessReviews,
	"authorization.k8s.io/selfsubjectrulesreviews":                   RulesReviews,
	"authorization.k8s.io/subjectaccessreviews":                      AccessReviews,
	"admissionregistration.k8s.io/mutatingwebhookconfigurations":     WebhookConfigurations,
	"admissionregistration.k8s.io/validatingwebhookconfigurations":   WebhookConfigurations,
	"admissionregistration.k8s.io/mutatingadmissionpolicies":         AdmissionPolicies,
	"admissionregistration.k8s.io/mutatingadmissionpolicybindings":   AdmissionPolicies,
	"admissionregistration.k8s.io/validatingadmissionpolicies":       AdmissionPolicies,
	"admissionregistration.k8s.io/validatingadmissionpolicybindings": AdmissionPolicies,
	"/events":                              Events,
	"events.k8s.io/events":                 EventsV1,
	"autoscaling/horizontalpodautoscalers": Autoscalers,
}

// Subresources whose bytes are nobody's business.
var opaqueSubresources = map[string]bool{"attach": true, "exec": true, "log": true, "portforward": true, "proxy": true}

// classOf is the class of a request.
func classOf(info *request.RequestInfo) Class {
	if !info.IsResourceRequest {
		return classOfPath(info.Path)
	}
	if info.Verb == "proxy" || opaqueSubresources[info.Subresource] {
		return Opaque
	}
	if _, match := ToServer.Group(info.APIGroup); match == Mapped {
		return MappedKinds
	}
	if class, found := sideTable[info.APIGroup+"/"+info.Resource]; found {
		return class
	}
	return OtherKinds
}

// classOfPath is the class of what is no resource.
func classOfPath(path string) Class {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch first {
	case "api", "apis":
		return Discovery
	case "openapi":
		return OpenAPI
	}
	return Opaque
}
