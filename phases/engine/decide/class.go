package decide

import "strings"

// Class is the part of a component's rollout that a kind belongs to; classes are applied in the order of their values.
type Class int

// The classes of a component, in the order of their installation.
const (
	ClassCompatibility Class = iota
	ClassNamespaces
	ClassCRDs
	ClassConfig
	ClassWorkloads
	ClassWebhooks
	ClassBindings
	ClassOthers
)

var classNames = [...]string{"compatibility", "namespaces", "crds", "config", "workloads", "webhooks", "bindings", "rest"}

func (c Class) String() string { return classNames[c] }

// ClassOf sorts a kind into its class. Config holds what pods need before they can start, so that no workload waits
// for an object of a later wave.
func ClassOf(k Key) Class {
	switch k.Group {
	case "":
		switch k.Kind {
		case "Namespace":
			return ClassNamespaces
		case "ServiceAccount", "ConfigMap", "Secret", "Service":
			return ClassConfig
		case "PersistentVolumeClaim": // it may not be bound before a pod wants it
			return ClassWorkloads
		}
	case "rbac.authorization.k8s.io", "scheduling.k8s.io":
		return ClassConfig
	case "security.openshift.io":
		if k.Kind == "SecurityContextConstraints" {
			return ClassConfig
		}
	case "apiextensions.k8s.io":
		return ClassCRDs
	case "apiextensions.openshift.io":
		if k.Kind == "CompatibilityRequirement" {
			return ClassCompatibility
		}
	case "apps":
		switch k.Kind {
		case "Deployment", "DaemonSet", "StatefulSet":
			return ClassWorkloads
		}
	case "batch":
		if k.Kind == "Job" {
			return ClassWorkloads
		}
	case "admissionregistration.k8s.io":
		// Whoever binds a policy that is not there is asked for the right to read everything.
		if strings.HasSuffix(k.Kind, "Binding") {
			return ClassBindings
		}
		return ClassWebhooks
	}
	return ClassOthers
}
