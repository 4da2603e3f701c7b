package bootimages_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

// The adoption and the like, which people write on targets.
const (
	adopt        = "capi-operator.openshift.io/boot-image-adopt"
	allowRollout = "capi-operator.openshift.io/boot-image-allow-rollout"
	retryOnce    = "capi-operator.openshift.io/retry"
	architecture = "capacity.cluster-autoscaler.kubernetes.io/labels"
)

// Where targets of the Machine API hold what they start machines from.
const (
	providerSpec = "spec.template.spec.providerSpec.value"
	amiID        = providerSpec + ".ami.id"
	controlPlane = "spec.template.machines_v1beta1_machine_openshift_io.spec.providerSpec.value"
)

// machineSet is one of the Machine API, with a provider spec.
func machineSet(name, spec string, changes ...func(*object)) *object {
	GinkgoHelper()
	set := parse(`
apiVersion: machine.openshift.io/v1beta1
kind: MachineSet
metadata:
  name: %[1]s
  namespace: openshift-machine-api
  labels: {machine.openshift.io/cluster-api-cluster: %[2]s}
spec:
  replicas: 1
  selector: {matchLabels: {machine.openshift.io/cluster-api-machineset: %[1]s}}
  template:
    metadata: {labels: {machine.openshift.io/cluster-api-machineset: %[1]s}}
    spec:
      providerSpec:
        value: {}
`, name, infrastructureName)
	put(set, spec, "spec", "template", "spec", "providerSpec", "value")
	for _, change := range changes {
		change(set)
	}
	return set
}

// put sets a field of an object to what a text says.
func put(o *object, text string, path ...string) {
	GinkgoHelper()
	var value any
	Expect(yaml.Unmarshal([]byte(text), &value)).To(Succeed())
	at := o.Object
	for _, key := range path[:len(path)-1] {
		at = at[key].(map[string]any)
	}
	at[path[len(path)-1]] = value
}

// with puts an annotation on a new object.
func with(annotation, value string) func(*object) {
	return func(o *object) { o.SetAnnotations(map[string]string{annotation: value}) }
}

// labelled puts a label on a new object.
func labelled(label, value string) func(*object) {
	return func(o *object) {
		labels := o.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[label] = value
		o.SetLabels(labels)
	}
}

// onAWS is a provider spec with an AMI.
func onAWS(image string) string { return onAWSIn(region, fmt.Sprintf("{id: %s}", image)) }

func onAWSIn(region, image string) string {
	return fmt.Sprintf(`
apiVersion: machine.openshift.io/v1beta1
kind: AWSMachineProviderConfig
ami: %s
instanceType: m6i.xlarge
deviceIndex: 0
blockDevices: [{ebs: {volumeSize: 120, volumeType: gp3, encrypted: true}}]
placement: {region: %s, availabilityZone: %[2]sa}
subnet: {filters: [{name: "tag:Name", values: [private]}]}
userDataSecret: {name: worker-user-data}
somethingNew: {kept: [1, two]}
`, image, region)
}

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
