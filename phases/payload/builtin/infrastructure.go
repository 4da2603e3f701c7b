package builtin

import (
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
)

// types are the platforms of install-configs in the spelling of Infrastructures.
var types = map[string]configv1.PlatformType{
	"alibabacloud": configv1.AlibabaCloudPlatformType,
	"aws":          configv1.AWSPlatformType,
	"azure":        configv1.AzurePlatformType,
	"baremetal":    configv1.BareMetalPlatformType,
	"external":     configv1.ExternalPlatformType,
	"gcp":          configv1.GCPPlatformType,
	"ibmcloud":     configv1.IBMCloudPlatformType,
	"kubevirt":     configv1.KubevirtPlatformType,
	"none":         configv1.NonePlatformType,
	"nutanix":      configv1.NutanixPlatformType,
	"openstack":    configv1.OpenStackPlatformType,
	"powervs":      configv1.PowerVSPlatformType,
	"vsphere":      configv1.VSpherePlatformType,
}

func (c *composition) infrastructure() *configv1.Infrastructure {
	object := &configv1.Infrastructure{}
	object.TypeMeta, object.ObjectMeta = config("Infrastructure", "cluster")
	platform := types[c.in.Config.PlatformName()]
	object.Spec.PlatformSpec.Type = platform
	if platform == configv1.ExternalPlatformType {
		object.Spec.PlatformSpec.External = &configv1.ExternalPlatformSpec{PlatformName: c.in.Config.PlatformField("platformName")}
	}
	status := &object.Status
	status.InfrastructureName = c.infraID()
	status.PlatformStatus = c.platformStatus(platform)
	status.APIServerURL = fmt.Sprintf("https://%s:%d", c.externalName(), apiPort)
	status.APIServerInternalURL = fmt.Sprintf("https://%s:%d", c.internalName(), apiPort)
	status.ControlPlaneTopology = topology(c.Replicas)
	status.InfrastructureTopology = status.ControlPlaneTopology
	if workers := c.workers(); workers > 0 {
		status.InfrastructureTopology = topology(workers)
	}
	status.CPUPartitioning = configv1.CPUPartitioningNone
	if c.in.Raw["cpuPartitioningMode"] == string(configv1.CPUPartitioningAllNodes) {
		status.CPUPartitioning = configv1.CPUPartitioningAllNodes
	}
	return object
}

func topology(machines int) configv1.TopologyMode {
	if machines == 1 {
		return configv1.SingleReplicaTopologyMode
	}
	return configv1.HighlyAvailableTopologyMode
}

// workers is how many the install-config asks for.
func (c *composition) workers() int {
	var all int
	for _, pool := range c.in.Config.Compute {
		if pool.Replicas != nil {
			all += *pool.Replicas
		}
	}
	return all
}

func (c *composition) platformStatus(platform configv1.PlatformType) *configv1.PlatformStatus {
	given := &c.in.Config
	status := &configv1.PlatformStatus{Type: platform}
	api, ingress := given.PlatformTexts("apiVIPs"), given.PlatformTexts("ingressVIPs")
	switch platform {
	case configv1.AWSPlatformType:
		status.AWS = &configv1.AWSPlatformStatus{Region: given.PlatformField("region")}
	case configv1.AzurePlatformType:
		group := given.PlatformField("resourceGroupName")
		if group == "" {
			group = c.infraID() + "-rg"
		}
		cloud := configv1.AzureCloudEnvironment(given.PlatformField("cloudName"))
		if cloud == "" {
			cloud = configv1.AzurePublicCloud
		}
		status.Azure = &configv1.AzurePlatformStatus{ResourceGroupName: group, NetworkResourceGroupName: given.PlatformField("networkResourceGroupName"), CloudName: cloud}
	case configv1.GCPPlatformType:
		status.GCP = &configv1.GCPPlatformStatus{ProjectID: given.PlatformField("projectID"), Region: given.PlatformField("region")}
	case configv1.BareMetalPlatformType:
		status.BareMetal = &configv1.BareMetalPlatformStatus{APIServerInternalIPs: api, IngressIPs: ingress}
	case configv1.VSpherePlatformType:
		status.VSphere = &configv1.VSpherePlatformStatus{APIServerInternalIPs: api, IngressIPs: ingress}
	case configv1.OpenStackPlatformType:
		status.OpenStack = &configv1.OpenStackPlatformStatus{APIServerInternalIPs: api, IngressIPs: ingress}
	case configv1.NutanixPlatformType:
		status.Nutanix = &configv1.NutanixPlatformStatus{APIServerInternalIPs: api, IngressIPs: ingress}
	case configv1.ExternalPlatformType:
		status.External = &configv1.ExternalPlatformStatus{}
	}
	return status
}
