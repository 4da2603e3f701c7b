package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Templates say where the kinds that make pods have the pod's spec.
var Templates = map[string][]string{
	"apps/DaemonSet":   {"spec", "template", "spec"},
	"apps/Deployment":  {"spec", "template", "spec"},
	"apps/StatefulSet": {"spec", "template", "spec"},
	"batch/CronJob":    {"spec", "jobTemplate", "spec", "template", "spec"},
	"batch/Job":        {"spec", "template", "spec"},
}

// VolumesUsable are the kinds of volumes that hold nothing of the node: those that restricted-v2 lets pods have.
var VolumesUsable = []string{"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret"}

// CapabilitiesUsable may be added to a container.
var CapabilitiesUsable = []string{"NET_BIND_SERVICE"}

// SELinuxTypesUsable confine a container.
var SELinuxTypesUsable = []string{"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"}

var workloadRule = Rule{
	Name: "workload",
	Doc: "Pods have nothing of their node, no privilege and no unconfined profile, choose no node by name, and run as a ServiceAccount of " +
		"the same profile or as default.",
	breaches: func(c check) []Breach {
		at, runs := Templates[c.kind]
		if !runs {
			return nil
		}
		value, _, _ := unstructured.NestedFieldNoCopy(c.object.Object, at...)
		content, is := value.(map[string]any)
		if !is {
			return []Breach{{Path: strings.Join(at, "."), Why: "there is no pod to be judged"}}
		}
		spec := &corev1.PodSpec{}
		breaches := append(read(content, spec), c.podBreaches(spec, content)...)
		for i := range breaches {
			breaches[i].Path = strings.Trim(strings.Join(at, ".")+"."+breaches[i].Path, ".")
		}
		return breaches
	},
	expression: workloadExpression,
}

// podBreaches judges a pod. Its volumes are judged as they are written: a kind that this binary does not know is none of those
// that it knows to be harmless.
func (c check) podBreaches(pod *corev1.PodSpec, content map[string]any) (breaches []Breach) {
	report := reporter(&breaches)
	for field, given := range map[string]bool{"hostIPC": pod.HostIPC, "hostNetwork": pod.HostNetwork, "hostPID": pod.HostPID} {
		if given {
			report(field, "the pod would share this with its node")
		}
	}
	if pod.NodeName != "" {
		report("nodeName", "the scheduler chooses the node")
	}
	if context := pod.SecurityContext; context != nil {
		breaches = append(breaches, confinement("securityContext", context.SeccompProfile, context.AppArmorProfile, context.SELinuxOptions, context.WindowsOptions)...)
		for i, sysctl := range context.Sysctls {
			report(fmt.Sprintf("securityContext.sysctls[%d]", i), "%s is a setting of the node's kernel", sysctl.Name)
		}
	}
	for field, account := range map[string]string{"serviceAccountName": pod.ServiceAccountName, "serviceAccount": pod.DeprecatedServiceAccount} {
		if account != "" && account != "default" && !c.beside[identity{"/ServiceAccount", c.object.GetNamespace(), account}] {
			report(field, "ServiceAccount %s is not among the objects of this profile", account)
		}
	}
	volumes, _ := content["volumes"].([]any)
	for i, v := range volumes {
		volume, _ := v.(map[string]any)
		for _, source := range slices.Sorted(maps.Keys(volume)) {
			if source != "name" && !slices.Contains(VolumesUsable, source) {
				report(fmt.Sprintf("volumes[%d].%s", i, source), "volumes are of %s", strings.Join(VolumesUsable, ", "))
			}
		}
	}
	for i := range pod.InitContainers {
		breaches = append(breaches, containerBreaches(fmt.Sprintf("initContainers[%d]", i), &pod.InitContainers[i])...)
	}
	for i := range pod.Containers {
		breaches = append(breaches, containerBreaches(fmt.Sprintf("containers[%d]", i), &pod.Containers[i])...)
	}
	slices.SortStableFunc(breaches, func(a, b Breach) int { return strings.Compare(a.Path, b.Path) })
	return breaches
}

// containerBreaches judges one container of a pod.
func containerBreaches(at string, c *corev1.Container) (breaches []Breach) {
	report := reporter(&breaches)
	for i, port := range c.Ports {
		if port.HostPort != 0 || port.HostIP != "" {
			report(fmt.Sprintf("%s.ports[%d].hostPort", at, i), "the port would be the node's")
		}
	}
	context := c.SecurityContext
	if context == nil {
		return breaches
	}
	at += ".securityContext"
	for field, given := range map[string]*bool{"privileged": context.Privileged, "allowPrivilegeEscalation": context.AllowPrivilegeEscalation} {
		if given != nil && *given {
			report(at+"."+field, "the container could take its node")
		}
	}
	if context.Capabilities != nil {
		for i, added := range context.Capabilities.Add {
			if !slices.Contains(CapabilitiesUsable, string(added)) {
				report(fmt.Sprintf("%s.capabilities.add[%d]", at, i), "only %s may be added", strings.Join(CapabilitiesUsable, ", "))
			}
		}
	}
	if mount := context.ProcMount; mount != nil && *mount != corev1.DefaultProcMount {
		report(at+".procMount", "/proc must be masked")
	}
	return append(breaches, confinement(at, context.SeccompProfile, context.AppArmorProfile, context.SELinuxOptions, context.WindowsOptions)...)
}

// confinement judges what confines the processes of a pod or a container.
func confinement(at string, seccomp *corev1.SeccompProfile, armor *corev1.AppArmorProfile, se *corev1.SELinuxOptions, windows *corev1.WindowsSecurityContextOptions) (breaches []Breach) {
	report := reporter(&breaches)
	if seccomp != nil && seccomp.Type == corev1.SeccompProfileTypeUnconfined {
		report(at+".seccompProfile.type", "processes must be confined")
	}
	if armor != nil && armor.Type == corev1.AppArmorProfileTypeUnconfined {
		report(at+".appArmorProfile.type", "processes must be confined")
	}
	if se != nil && (!slices.Contains(SELinuxTypesUsable, se.Type) || se.User != "" || se.Role != "") {
		report(at+".seLinuxOptions", "it may have a level, and one of the types %s", strings.Join(SELinuxTypesUsable[1:], ", "))
	}
	if windows != nil && windows.HostProcess != nil && *windows.HostProcess {
		report(at+".windowsOptions.hostProcess", "the container would be a process of its node")
	}
	return breaches
}

// reporter adds breaches.
func reporter(breaches *[]Breach) func(path, format string, args ...any) {
	return func(path, format string, args ...any) {
		*breaches = append(*breaches, Breach{Path: path, Why: fmt.Sprintf(format, args...)})
	}
}
