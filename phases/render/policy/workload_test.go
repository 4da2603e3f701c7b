package policy_test

import (
	"fmt"
	"testing"
)

// runs is an object that makes pods, whose spec has some fields.
func runs(kind, fields string) string {
	if kind == "CronJob" {
		return fmt.Sprintf("{apiVersion: batch/v1, kind: CronJob, metadata: {namespace: capi, name: a}, spec: {jobTemplate: {spec: {template: {spec: {%s}}}}}}", fields)
	}
	group := "apps"
	if kind == "Job" {
		group = "batch"
	}
	return fmt.Sprintf("{apiVersion: %s/v1, kind: %s, metadata: {namespace: capi, name: a}, spec: {template: {spec: {%s}}}}", group, kind, fields)
}

func TestCheck_workload(t *testing.T) {
	const pod = "workload spec.template.spec."
	const context = pod + "containers[0].securityContext."
	account := "\n---\n{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: capi, name: manager}}"
	secured := func(fields string) string {
		return runs("Deployment", "containers: [{name: a, securityContext: {"+fields+"}}]")
	}
	judge(t, []row{
		{"what providers have", runs("Deployment", `serviceAccountName: manager, priorityClassName: system-cluster-critical,
  securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}, volumes: [{name: a, secret: {secretName: a}}, {name: b}],
  containers: [{name: a, ports: [{containerPort: 9443}], securityContext: {privileged: false, allowPrivilegeEscalation: false,
    procMount: Default, seLinuxOptions: {level: 's0:c1,c2'}, capabilities: {drop: [ALL], add: [NET_BIND_SERVICE]}}}]`) + account, nil},
		{"the default account", runs("Job", "serviceAccountName: default"), nil},
		{"another profile's account", runs("Job", "serviceAccountName: manager"), []string{pod + "serviceAccountName"}},
		{"another profile's account, by the old field", runs("StatefulSet", "serviceAccount: manager"), []string{pod + "serviceAccount"}},
		{"no pod", "{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: capi, name: a}, spec: {}}", []string{"workload spec.template.spec"}},
		{"a pod that nobody can read", "{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: capi, name: a}, spec: {template: {spec: [1]}}}", []string{"workload spec.template.spec"}},
		{"a field that nobody can read", runs("Deployment", "hostPID: [1]"), []string{"workload spec.template.spec"}},
		{"the node's namespaces", runs("DaemonSet", "hostPID: true, hostIPC: true, hostNetwork: true"), []string{pod + "hostIPC", pod + "hostNetwork", pod + "hostPID"}},
		{"the node's files", runs("CronJob", "volumes: [{name: a, hostPath: {path: /}}]"), []string{"workload spec.jobTemplate.spec.template.spec.volumes[0].hostPath"}},
		{"files that no wall is known for", runs("Deployment", "volumes: [{name: a, emptyDir: {}}, {name: b, nfs: {server: a}}]"), []string{pod + "volumes[1].nfs"}},
		{"a node by name", runs("Deployment", "nodeName: master-0"), []string{pod + "nodeName"}},
		{"the node's port", runs("Deployment", "containers: [{name: a, ports: [{containerPort: 1}, {hostPort: 1}]}]"), []string{pod + "containers[0].ports[1].hostPort"}},
		{"settings of the kernel", runs("Deployment", "securityContext: {sysctls: [{name: kernel.a, value: '1'}]}"), []string{pod + "securityContext.sysctls[0]"}},
		{"a pod without profile", runs("Deployment", "securityContext: {seccompProfile: {type: Unconfined}, seLinuxOptions: {type: spc_t}}"), []string{pod + "securityContext.seLinuxOptions", pod + "securityContext.seccompProfile.type"}},
		{"a privileged container", secured("privileged: true"), []string{context + "privileged"}},
		{"a privileged init container", runs("Deployment", "initContainers: [{name: a, securityContext: {privileged: true}}]"), []string{pod + "initContainers[0].securityContext.privileged"}},
		{"an escalation", secured("allowPrivilegeEscalation: true"), []string{context + "allowPrivilegeEscalation"}},
		{"a capability", secured("capabilities: {add: [NET_BIND_SERVICE, SYS_ADMIN]}"), []string{context + "capabilities.add[1]"}},
		{"all of /proc", secured("procMount: Unmasked"), []string{context + "procMount"}},
		{"a container without profile", secured("seccompProfile: {type: Unconfined}, appArmorProfile: {type: Unconfined}"), []string{context + "appArmorProfile.type", context + "seccompProfile.type"}},
		{"the role of another process", secured("seLinuxOptions: {role: system_r}"), []string{context + "seLinuxOptions"}},
		{"a process of the node", secured("windowsOptions: {hostProcess: true}"), []string{context + "windowsOptions.hostProcess"}},
	})
}
