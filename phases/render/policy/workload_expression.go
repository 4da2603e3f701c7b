package policy

import (
	"fmt"
	"strings"
)

// workloadExpression says the rule to an API server. As whom a pod runs it cannot say: the ServiceAccount is another object.
func workloadExpression(*Policy) string {
	return of(sortedKeys(Templates), fill(`$pod.hasValue() && [$pod.value()].all(p, [$stored.orValue({})].all(s,
  ['hostIPC', 'hostNetwork', 'hostPID'].all(f, !p[?f].orValue(false) || s[?f].orValue(false)) &&
  (p.?nodeName.orValue('') == '' || p.?nodeName == s.?nodeName) &&
  (p.?securityContext.?sysctls.orValue([]) == [] && $podConfined || p.?securityContext == s.?securityContext) &&
  p.?volumes.orValue([]).all(v, v.all(k, k == 'name' || k in $volumes) || v in s.?volumes.orValue([])) &&
  $containers.all(c,
    c.?ports.orValue([]).all(port, port.?hostPort.orValue(0) == 0 && port.?hostIP.orValue('') == '') &&
    !c.?securityContext.?privileged.orValue(false) && !c.?securityContext.?allowPrivilegeEscalation.orValue(false) &&
    c.?securityContext.?capabilities.?add.orValue([]).all(a, a in $capabilities) &&
    c.?securityContext.?procMount.orValue('Default') == 'Default' && $confined ||
    $were.exists(w, w.name == c.name && w.?ports == c.?ports && w.?securityContext == c.?securityContext))))`,
		"$podConfined", confined("p"), "$pod", podOf("object"), "$stored", podOf("variables.stored"), "$volumes", list(VolumesUsable),
		"$containers", containersOf("p"), "$were", containersOf("s"), "$capabilities", list(CapabilitiesUsable), "$confined", confined("c")))
}

// podOf is the spec of the pod that an object makes, if there is one.
func podOf(object string) string {
	var paths strings.Builder
	for _, kind := range sortedKeys(Templates) {
		fmt.Fprintf(&paths, "variables.kind == %s ? %s.?%s : ", text(kind), object, strings.Join(Templates[kind], ".?"))
	}
	return "(" + paths.String() + "optional.none())"
}

// containersOf are all containers of a pod.
func containersOf(pod string) string {
	return fill("($p.?initContainers.orValue([]) + $p.?containers.orValue([]))", "$p", pod)
}

// confined says of a pod or a container that nothing takes away what confines its processes; see confinement.
func confined(of string) string {
	return fill(`$o.?securityContext.?seccompProfile.?type.orValue('') != 'Unconfined' &&
    $o.?securityContext.?appArmorProfile.?type.orValue('') != 'Unconfined' &&
    $o.?securityContext.?seLinuxOptions.?type.orValue('') in $types &&
    $o.?securityContext.?seLinuxOptions.?user.orValue('') == '' && $o.?securityContext.?seLinuxOptions.?role.orValue('') == '' &&
    !$o.?securityContext.?windowsOptions.?hostProcess.orValue(false)`, "$o", of, "$types", list(SELinuxTypesUsable))
}
