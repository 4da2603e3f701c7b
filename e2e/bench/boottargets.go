package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/bootworld"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// The collections that targets and their templates are in.
const (
	setsPath      = "/apis/machine.openshift.io/v1beta1/namespaces/" + harness.MachineAPINamespace + "/machinesets"
	capiPath      = "/apis/cluster.x-k8s.io/v1beta2/namespaces/" + harness.CAPINamespace
	capiSetsPath  = capiPath + "/machinesets"
	templatesPath = "/apis/infrastructure.cluster.x-k8s.io/v1beta2/namespaces/" + harness.CAPINamespace + "/awsmachinetemplates"
)

// oldTemplate begins the names of the templates that sets have at first.
const oldTemplate = "old-"

// machineSet is one of the Machine API, with the image of release 1.
func machineSet(number int) string {
	return fmt.Sprintf(`
apiVersion: machine.openshift.io/v1beta1
kind: MachineSet
metadata:
  name: worker-%[1]d
  labels: {machine.openshift.io/cluster-api-cluster: %[2]s}
  annotations: {machine.openshift.io/GPU: "0", machine.openshift.io/memoryMb: "16384", machine.openshift.io/vCPU: "4"}
spec:
  replicas: 1
  selector: {matchLabels: {machine.openshift.io/cluster-api-cluster: %[2]s, machine.openshift.io/cluster-api-machineset: worker-%[1]d}}
  template:
    metadata: {labels: {machine.openshift.io/cluster-api-cluster: %[2]s, machine.openshift.io/cluster-api-machine-role: worker, machine.openshift.io/cluster-api-machine-type: worker, machine.openshift.io/cluster-api-machineset: worker-%[1]d}}
    spec:
      lifecycleHooks: {}
      metadata: {}
      providerSpec:
        value:
          apiVersion: machine.openshift.io/v1beta1
          kind: AWSMachineProviderConfig
          ami: {id: %[3]s}
          instanceType: m6i.xlarge
          deviceIndex: 0
          blockDevices: [{ebs: {encrypted: true, iops: 0, kmsKey: {arn: ""}, volumeSize: 120, volumeType: gp3}}]
          credentialsSecret: {name: aws-cloud-credentials}
          iamInstanceProfile: {id: %[2]s-worker-profile}
          metadataServiceOptions: {}
          placement: {availabilityZone: %[4]sa, region: %[4]s}
          securityGroups: [{filters: [{name: "tag:Name", values: [%[2]s-node]}]}, {filters: [{name: "tag:Name", values: [%[2]s-lb]}]}]
          subnet: {filters: [{name: "tag:Name", values: [%[2]s-subnet-private-%[4]sa]}]}
          tags: [{name: kubernetes.io/cluster/%[2]s, value: owned}]
          userDataSecret: {name: %[5]s}
`, number, bootworld.InfrastructureName, bootworld.AMI(1), bootworld.Region, bootworld.UserData)
}

// capiSet is one of Cluster API, and capiTemplate its own template, with the image of release 1.
func capiSet(number int) string {
	return fmt.Sprintf(`
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineSet
metadata:
  name: capi-%[1]d
  labels: {cluster.x-k8s.io/cluster-name: %[2]s}
spec:
  clusterName: %[2]s
  replicas: 1
  selector: {matchLabels: {set: capi-%[1]d}}
  template:
    metadata: {labels: {set: capi-%[1]d, cluster.x-k8s.io/cluster-name: %[2]s}}
    spec:
      clusterName: %[2]s
      bootstrap: {dataSecretName: %[3]s}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSMachineTemplate, name: %[4]s%[1]d}
`, number, bootworld.InfrastructureName, bootworld.UserData, oldTemplate)
}

func capiTemplate(number int) string {
	return fmt.Sprintf(`
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachineTemplate
metadata:
  name: %[1]s%[2]d
  labels: {cluster.x-k8s.io/cluster-name: %[3]s}
spec:
  template:
    spec:
      ami: {id: %[4]s}
      instanceType: m6i.xlarge
      iamInstanceProfile: %[3]s-worker-profile
      rootVolume: {size: 120, type: gp3, encrypted: true}
      additionalSecurityGroups: [{filters: [{name: "tag:Name", values: [%[3]s-node]}]}]
      subnet: {filters: [{name: "tag:Name", values: [%[3]s-subnet-private-%[5]sa]}]}
`, oldTemplate, number, bootworld.InfrastructureName, bootworld.AMI(1), bootworld.Region)
}

// makeTargets makes the targets of a world, and the templates of those of Cluster API.
func (s *stage) makeTargets(ctx context.Context, w bootWorld) error {
	administrator, err := s.administrator()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	post := func(path, text string) {
		group.Go(func() error {
			payload, err := yaml.YAMLToJSON([]byte(text))
			if err != nil {
				return fmt.Errorf("reading an object for %s: %w", path, err)
			}
			_, err = administrator.send(ctx, http.MethodPost, path, "application/json", payload)
			return err
		})
	}
	for i := range w.machineAPI {
		post(setsPath, machineSet(i))
	}
	for i := range w.clusterAPI {
		post(templatesPath, capiTemplate(i))
		post(capiSetsPath, capiSet(i))
	}
	return group.Wait()
}

// listed is what the floor, and whoever edits targets, reads of them.
type listed struct {
	Metadata struct {
		Name   string         `json:"name"`
		UID    string         `json:"uid"`
		Labels map[string]any `json:"labels"`
	} `json:"metadata"`
	Spec map[string]any `json:"spec"`
}

func (c *bare) list(ctx context.Context, path string) ([]listed, error) {
	text, err := c.send(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []listed `json:"items"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("reading the list of %s: %w", path, err)
	}
	return list.Items, nil
}

// within is a field of a spec.
func within(spec map[string]any, path string) any {
	var at any = spec
	for key := range strings.SplitSeq(path, ".") {
		of, is := at.(map[string]any)
		if !is {
			return nil
		}
		at = of[key]
	}
	return at
}
