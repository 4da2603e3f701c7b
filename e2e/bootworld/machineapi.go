package bootworld

import (
	"fmt"
	"strings"
)

// Where MachineSets of the Machine API hold what they start machines from.
const (
	ProviderSpec = "spec.template.spec.providerSpec.value"
	AMIID        = ProviderSpec + ".ami.id"
)

// MachineSet is one of the Machine API, with a provider spec.
func MachineSet(name, spec string, changes ...func(*Object)) *Object {
	set := Parse(`
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
`, name, InfrastructureName)
	Put(set, spec, "spec", "template", "spec", "providerSpec", "value")
	for _, change := range changes {
		change(set)
	}
	return set
}

// OnAWS is a provider spec with an AMI.
func OnAWS(image string) string { return OnAWSIn(Region, fmt.Sprintf("{id: %s}", image)) }

// OnAWSIn is a provider spec of a region, with an AMI however it is named.
func OnAWSIn(region, image string) string {
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

// Manages are fields of a MachineConfiguration that say which targets of the Machine API are enrolled, such as
// "machinesets: All".
func Manages(entries ...string) string {
	var managers []string
	for _, entry := range entries {
		resource, mode, _ := strings.Cut(entry, ": ")
		managers = append(managers, fmt.Sprintf("{resource: %s, apiGroup: machine.openshift.io, selection: {mode: %s}}", resource, mode))
	}
	return fmt.Sprintf("{spec: {managedBootImages: {machineManagers: [%s]}}}", strings.Join(managers, ", "))
}
