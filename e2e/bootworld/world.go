// Package bootworld is the world in which boot images are moved, for the suite and for the demo: the providers' definitions,
// golden content of releases that never were, and what a cluster of such a release has beside it. It starts no operator, and
// judges nothing.
package bootworld

import (
	"context"
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/deploy"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// InfrastructureName is that of the cluster, and of its Cluster.
const InfrastructureName = "shop-x7k2p"

// Installed is the release that the cluster was installed with.
const Installed = "4.14.0"

// UserData is the Secret that sets start from unless they say otherwise, in the namespaces of both APIs.
const UserData = "worker-user-data"

// Stubs of Ignition.
const (
	// Stub is one that every boot image of today can read.
	Stub = `{"ignition":{"version":"3.1.0","config":{"merge":[{"source":"https://api-int.shop:22623/config/worker"}]}}}`
	// OldStub is one that no boot image of today can read.
	OldStub = `{"ignition":{"version":"2.2.0","config":{"append":[{"source":"https://api-int.shop:22623/config/worker"}]}}}`
)

// World says what there is.
type World struct {
	Platform configv1.PlatformType
	// Minor is of the release, 22 unless it is set.
	Minor int
	// Config are fields of the MachineConfiguration beside its name, in YAML.
	Config string
}

// Cluster is one of a release, with the boot images of that.
type Cluster struct {
	*harness.Environment

	minor int
}

// Begin empties the cluster and puts in place what there is before an operator comes: release 1, with stubs of today.
func Begin(ctx context.Context, env *harness.Environment, w World) (*Cluster, error) {
	c := &Cluster{env, 22}
	if w.Minor != 0 {
		c.minor = w.Minor
	}
	if err := env.Begin(ctx, harness.World{Platform: w.Platform, NoClusterAPI: true}); err != nil {
		return nil, err
	}
	if err := c.ApplyRights(ctx); err != nil {
		return nil, err
	}
	if err := c.nameInfrastructure(ctx, w.Platform); err != nil {
		return nil, err
	}
	if err := c.createRelease(ctx); err != nil {
		return nil, err
	}
	config := MachineConfiguration()
	if w.Config != "" {
		if err := yaml.Unmarshal([]byte(w.Config), &config.Object); err != nil {
			return nil, fmt.Errorf("reading the fields of a MachineConfiguration: %w", err)
		}
		config.SetName(harness.Singleton)
	}
	for _, o := range []*Object{
		MachineAPIStub(UserData, Stub), ClusterAPIStub(UserData, Stub), config,
		Parse(`{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: %s, namespace: openshift-cluster-api}, spec: {controlPlaneEndpoint: {host: api, port: 6443}}}`, InfrastructureName),
	} {
		if err := c.Create(ctx, o); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Create makes an object as an administrator does; afterwards it is as it is stored.
func (c *Cluster) Create(ctx context.Context, o *Object) error {
	if err := c.Client.Create(ctx, o, harness.Administrator); err != nil {
		return fmt.Errorf("creating %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// MachineAPIStub is a Secret with a stub, as sets of the Machine API name it.
func MachineAPIStub(name, stub string) *Object {
	return Parse(`{apiVersion: v1, kind: Secret, metadata: {name: %s, namespace: openshift-machine-api}, stringData: {userData: '%s', disableTemplating: "true"}}`, name, stub)
}

// ClusterAPIStub is a Secret with a stub, as sets of Cluster API name it.
func ClusterAPIStub(name, stub string) *Object {
	return Parse(`{apiVersion: v1, kind: Secret, metadata: {name: %s, namespace: openshift-cluster-api}, stringData: {value: '%s', format: ignition}}`, name, stub)
}

// MachineConfiguration is one without an opinion.
func MachineConfiguration() *Object {
	return Parse(`{apiVersion: operator.openshift.io/v1, kind: MachineConfiguration, metadata: {name: cluster}, spec: {managementState: Managed}}`)
}

// ApplyRights gives the operator what a cluster whose boot images of the Machine API it manages has to give it.
func (c *Cluster) ApplyRights(ctx context.Context) error {
	objects, err := deploy.BootImages()
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := c.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("deploy"), client.ForceOwnership); err != nil {
			return fmt.Errorf("applying %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

// nameInfrastructure fills in what installers write.
func (c *Cluster) nameInfrastructure(ctx context.Context, platform configv1.PlatformType) error {
	infrastructure := &configv1.Infrastructure{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: harness.Singleton}, infrastructure); err != nil {
		return fmt.Errorf("reading Infrastructure %s: %w", harness.Singleton, err)
	}
	infrastructure.Status.InfrastructureName = InfrastructureName
	switch platform {
	case configv1.AWSPlatformType:
		infrastructure.Status.PlatformStatus.AWS = &configv1.AWSPlatformStatus{Region: Region}
	case configv1.AzurePlatformType:
		infrastructure.Status.PlatformStatus.Azure = &configv1.AzurePlatformStatus{CloudName: configv1.AzurePublicCloud}
	}
	if err := c.Client.Status().Update(ctx, infrastructure); err != nil {
		return fmt.Errorf("naming Infrastructure %s: %w", harness.Singleton, err)
	}
	return nil
}
