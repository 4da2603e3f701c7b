package engine

// class is the part of a component's rollout that a kind belongs to; classes are applied in the order of their values.
type class int

const (
	compatibility class = iota
	namespaces
	crds
	config
	workloads
	webhooks
	others
)

var classNames = [...]string{"compatibility", "namespaces", "crds", "config", "workloads", "webhooks", "rest"}

func (c class) String() string { return classNames[c] }

// classOf sorts a kind into its class. Config holds what pods need before they can start, so that no workload waits
// for an object of a later wave.
func classOf(k Key) class {
	switch k.Group {
	case "":
		switch k.Kind {
		case "Namespace":
			return namespaces
		case "ServiceAccount", "ConfigMap", "Secret", "Service":
			return config
		case "PersistentVolumeClaim": // it may not be bound before a pod wants it
			return workloads
		}
	case "rbac.authorization.k8s.io", "scheduling.k8s.io":
		return config
	case "security.openshift.io":
		if k.Kind == "SecurityContextConstraints" {
			return config
		}
	case "apiextensions.k8s.io":
		return crds
	case "apiextensions.openshift.io":
		if k.Kind == "CompatibilityRequirement" {
			return compatibility
		}
	case "apps":
		switch k.Kind {
		case "Deployment", "DaemonSet", "StatefulSet":
			return workloads
		}
	case "batch":
		if k.Kind == "Job" {
			return workloads
		}
	case "admissionregistration.k8s.io":
		return webhooks
	}
	return others
}

// wave is the unit of gating: the objects of one class of one component. It starts when the wave before it is applied
// and its probes pass; inside it objects have no order.
type wave struct {
	number    int // counts from 1 over the revision; empty waves are not counted
	component string
	class     class
	targets   []*target
}
