package bootimages_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// The adoption and the like, which people write on targets.
const (
	adopt        = "capi-operator.openshift.io/boot-image-adopt"
	allowRollout = "capi-operator.openshift.io/boot-image-allow-rollout"
	retryOnce    = "capi-operator.openshift.io/retry"
	architecture = "capacity.cluster-autoscaler.kubernetes.io/labels"
)

// controlPlane is where a ControlPlaneMachineSet holds what MachineSets hold in providerSpec.
const controlPlane = "spec.template.machines_v1beta1_machine_openshift_io.spec.providerSpec.value"

// onGCP is a provider spec with disks.
func onGCP(disks string) string {
	return fmt.Sprintf(`
apiVersion: machine.openshift.io/v1beta1
kind: GCPMachineProviderSpec
machineType: n2-standard-4
zone: us-central1-a
disks: %s
userDataSecret: {name: worker-user-data}
`, disks)
}

// onAzure is a provider spec with an image, and whatever else.
func onAzure(image, more string) string {
	return fmt.Sprintf(`
apiVersion: machine.openshift.io/v1beta1
kind: AzureMachineProviderSpec
vmSize: Standard_D4s_v5
location: eastus
image: %s
userDataSecret: {name: worker-user-data}
%s
`, image, more)
}

// onVSphere is a provider spec with a template.
const onVSphere = `
apiVersion: machine.openshift.io/v1beta1
kind: VSphereMachineProviderSpec
template: shop-x7k2p-rhcos-generated-region-generated-zone
workspace: {server: vcenter.example.com, datacenter: dc1}
userDataSecret: {name: worker-user-data}
`

// controlPlaneSet is an Active ControlPlaneMachineSet.
func controlPlaneSet(spec string, changes ...func(*object)) *object {
	GinkgoHelper()
	labels := fmt.Sprintf("{machine.openshift.io/cluster-api-machine-role: master, machine.openshift.io/cluster-api-machine-type: master, machine.openshift.io/cluster-api-cluster: %s}",
		infrastructureName)
	set := parse(`
apiVersion: machine.openshift.io/v1
kind: ControlPlaneMachineSet
metadata: {name: cluster, namespace: openshift-machine-api}
spec:
  replicas: 3
  state: Active
  strategy: {type: RollingUpdate}
  selector: {matchLabels: %[1]s}
  template:
    machineType: machines_v1beta1_machine_openshift_io
    machines_v1beta1_machine_openshift_io:
      metadata: {labels: %[1]s}
      spec: {providerSpec: {value: {}}}
`, labels)
	put(set, spec, "spec", "template", "machines_v1beta1_machine_openshift_io", "spec", "providerSpec", "value")
	for _, change := range changes {
		change(set)
	}
	return set
}

// workers makes so many MachineSets of release 1 on AWS, worker-0 and on.
func workers(ctx context.Context, count int, changes ...func(*object)) []*object {
	GinkgoHelper()
	var sets []*object
	for i := range count {
		sets = append(sets, create(ctx, machineSet(fmt.Sprintf("worker-%d", i), onAWS(ami(1)), changes...)))
	}
	return sets
}

// reverts gives a MachineSet on AWS another AMI, as somebody who does not know better does.
func reverts(ctx context.Context, set *object, image string) {
	GinkgoHelper()
	Expect(merge(ctx, set, "spec: {template: {spec: {providerSpec: {value: {ami: {id: %s}}}}}}", image)).To(Succeed())
}
