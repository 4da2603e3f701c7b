package payload

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// deployment is nil for other kinds, and for what is taken away.
func (d *document) deployment() *appsv1.Deployment {
	if d.GetKind() != "Deployment" || d.isTombstone() {
		return nil
	}
	return decode[appsv1.Deployment](d)
}

func (d *document) containers() []corev1.Container {
	deployment := d.deployment()
	if deployment == nil {
		return nil
	}
	return slices.Concat(deployment.Spec.Template.Spec.InitContainers, deployment.Spec.Template.Spec.Containers)
}

// checkReplicas wants one: the cluster-version operator puts every other number
// back, also on clusters of one node.
func (p *payload) checkReplicas() []Problem {
	var problems []Problem
	for _, d := range p.documents {
		if deployment := d.deployment(); deployment != nil && ptr.Deref(deployment.Spec.Replicas, 1) != 1 {
			problems = append(problems, d.problem(replicas, "spec.replicas", "is %d: a cluster of one node must have one, and gets the same payload", *deployment.Spec.Replicas))
		}
	}
	return problems
}

// checkResources wants requests without limits, and a bound on memory that the
// process keeps by itself.
func (p *payload) checkResources() []Problem {
	const path = "spec.template.spec.containers"
	var problems []Problem
	for _, d := range p.documents {
		for _, container := range d.containers() {
			if len(container.Resources.Limits) > 0 {
				problems = append(problems, d.problem(limits, path, "container %s has limits, which a component of the control plane must not be stopped by", container.Name))
			}
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				if _, is := container.Resources.Requests[name]; !is {
					problems = append(problems, d.problem(limits, path, "container %s requests no %s", container.Name, name))
				}
			}
			if environment(container, "GOMEMLIMIT") == "" {
				problems = append(problems, d.problem(limits, path, "container %s has no GOMEMLIMIT, so nothing bounds its memory", container.Name))
			}
		}
	}
	return problems
}

func (p *payload) checkPriority() []Problem {
	var problems []Problem
	for _, d := range p.documents {
		if deployment := d.deployment(); deployment != nil && deployment.Spec.Template.Spec.PriorityClassName != "system-cluster-critical" {
			problems = append(problems, d.problem(priority, "spec.template.spec.priorityClassName", "is %q, not system-cluster-critical", deployment.Spec.Template.Spec.PriorityClassName))
		}
	}
	return problems
}

// checkRestricted wants pods that the restricted-v2 constraint and the restricted
// Pod Security standard admit as they are.
func (p *payload) checkRestricted() []Problem {
	var problems []Problem
	for _, d := range p.documents {
		deployment := d.deployment()
		if deployment == nil {
			continue
		}
		tell := func(path, format string, args ...any) {
			problems = append(problems, d.problem(restricted, "spec.template."+path, format, args...))
		}
		template := deployment.Spec.Template
		if got := template.Annotations["openshift.io/required-scc"]; got != "restricted-v2" {
			tell("metadata.annotations", "has openshift.io/required-scc: %q, not restricted-v2", got)
		}
		checkPod(template.Spec, tell)
		for _, container := range d.containers() {
			checkContainer(container, tell)
		}
	}
	return problems
}

func checkPod(pod corev1.PodSpec, tell func(path, format string, args ...any)) {
	security := ptr.Deref(pod.SecurityContext, corev1.PodSecurityContext{})
	if !ptr.Deref(security.RunAsNonRoot, false) {
		tell("spec.securityContext", "does not say runAsNonRoot: true")
	}
	if security.SeccompProfile == nil || security.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		tell("spec.securityContext", "does not say seccompProfile: RuntimeDefault")
	}
	if security.RunAsUser != nil || security.FSGroup != nil || security.SELinuxOptions != nil {
		tell("spec.securityContext", "names a user, a group or SELinux options, which the constraint chooses")
	}
	if pod.HostNetwork || pod.HostPID || pod.HostIPC {
		tell("spec", "uses the node's network, processes or memory")
	}
	for _, volume := range pod.Volumes {
		if volume.HostPath != nil {
			tell("spec.volumes", "volume %s is a folder of the node", volume.Name)
		}
	}
}

func checkContainer(container corev1.Container, tell func(path, format string, args ...any)) {
	const path = "spec.containers"
	security := ptr.Deref(container.SecurityContext, corev1.SecurityContext{})
	if ptr.Deref(security.AllowPrivilegeEscalation, true) || ptr.Deref(security.Privileged, false) {
		tell(path, "container %s does not say allowPrivilegeEscalation: false, or is privileged", container.Name)
	}
	if security.Capabilities == nil || !slices.Contains(security.Capabilities.Drop, "ALL") || len(security.Capabilities.Add) > 0 {
		tell(path, "container %s does not drop ALL capabilities, or adds some", container.Name)
	}
	if !ptr.Deref(security.ReadOnlyRootFilesystem, false) {
		tell(path, "container %s can write to its root file system", container.Name)
	}
	if security.RunAsUser != nil {
		tell(path, "container %s names a user, which the constraint chooses", container.Name)
	}
}

// checkRunLevel wants the label to be there and empty: one that an earlier release
// has set is merged, never removed, and takes the namespace out of SCC admission.
func (p *payload) checkRunLevel() []Problem {
	var problems []Problem
	for _, d := range p.documents {
		if got, is := d.GetLabels()["openshift.io/run-level"]; d.GetKind() == "Namespace" && (!is || got != "") {
			problems = append(problems, d.problem(runLevel, "metadata.labels", "has no openshift.io/run-level: \"\": what an earlier release has set would stay, and no constraint would hold"))
		}
	}
	return problems
}

func (p *payload) checkPodSecurity() []Problem {
	var problems []Problem
	for _, d := range p.documents {
		if d.GetKind() != "Namespace" {
			continue
		}
		for _, mode := range []string{"enforce", "audit", "warn"} {
			key := "pod-security.kubernetes.io/" + mode
			if got := d.GetLabels()[key]; got != "restricted" {
				problems = append(problems, d.problem(podSecurity, "metadata.labels", "has %s: %q, not restricted", key, got))
			}
		}
	}
	return problems
}
