package creating

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/phases/payload"
)

type reference = clusterv1.ContractVersionedObjectReference

// The group of infrastructure providers, and the version that both that are known here have of their kinds.
const (
	infrastructureGroup   = "infrastructure.cluster.x-k8s.io"
	infrastructureVersion = "v1beta2"
)

// infrastructure is what a provider brings.
type infrastructure struct {
	cluster, controlPlane reference
	// bootstrap is nil where the bootstrap machine is made as those of the control plane are.
	bootstrap *reference
	// workers and zones are by the name of the pool. A pool without zones is in any.
	workers map[string]reference
	zones   map[string][]string
	// endpoint is zero where the provider chooses it.
	endpoint         clusterv1.APIEndpoint
	secrets, objects []any
	missing          []payload.Problem
}

// infrastructure is that of the dev provider or of the platform, or names what is missing.
func (c *creation) infrastructure(pools []pool) infrastructure {
	switch {
	case c.Infrastructure == Dev:
		return c.dev(pools)
	case c.in.Config.PlatformName() == "aws":
		return c.aws(pools)
	}
	return c.none(pools)
}

// none leaves out all references to infrastructure, and says where somebody has to fill them in.
func (c *creation) none(pools []pool) infrastructure {
	var on infrastructure
	miss := func(object, field, what string) {
		on.missing = append(on.missing, payload.Problem{At: object + ", field " + field, Why: fmt.Sprintf(
			"infrastructure of platform %s is not made here; name %s, with apiGroup, kind and name", c.in.Config.PlatformName(), what)})
	}
	template := "a template of your infrastructure provider's machines, whose kind ends in Template"
	miss("Cluster "+c.name(), "spec.infrastructureRef", "the cluster of your infrastructure provider")
	miss(v1alpha1.ControlPlaneKind+" "+c.name(), "spec.machineTemplate.spec.infrastructureRef", template)
	for _, one := range pools {
		miss("MachineDeployment "+c.name()+"-"+one.name, "spec.template.spec.infrastructureRef", template)
	}
	return on
}

// machineTemplate adds a template of a provider's machines, and returns the reference to it.
func (on *infrastructure) machineTemplate(c *creation, kind, name string, spec map[string]any) reference {
	object := map[string]any{
		"apiVersion": infrastructureGroup + "/" + infrastructureVersion, "kind": kind, "metadata": c.plainMeta(name),
		"spec": map[string]any{"template": map[string]any{"spec": spec}},
	}
	on.objects = append(on.objects, object)
	return reference{APIGroup: infrastructureGroup, Kind: kind, Name: name}
}

// plainMeta is meta for an object of a kind that has no type here.
func (c *creation) plainMeta(name string) map[string]any {
	return map[string]any{"namespace": c.Namespace, "name": name, "labels": map[string]any{clusterv1.ClusterNameLabel: c.name()}}
}

// The ports of the loopback that clusters of the dev provider get, which systems give nobody by themselves.
const (
	firstDevPort = 10000
	devPorts     = 10000
)

// devPort is at which the API of a cluster in memory is to answer: the same for the same cluster, and almost never that of another one.
// Left to itself, the dev provider has there an API that knows no kinds of OpenShift.
func (c *creation) devPort() int64 {
	sum := sha256.Sum256([]byte(c.Namespace + "/" + c.name()))
	return firstDevPort + int64(binary.BigEndian.Uint32(sum[:])%devPorts)
}

// dev is that of the dev provider. A DevCluster without any annotation makes its manager panic.
func (c *creation) dev(pools []pool) infrastructure {
	on := infrastructure{
		cluster: reference{APIGroup: infrastructureGroup, Kind: "DevCluster", Name: c.name()}, workers: map[string]reference{},
	}
	meta := c.plainMeta(c.name())
	meta["annotations"] = map[string]any{"capstan.openshift.io/made-by": "capstan-provider create"}
	on.objects = append(on.objects, map[string]any{
		"apiVersion": infrastructureGroup + "/" + infrastructureVersion, "kind": "DevCluster", "metadata": meta,
		"spec": map[string]any{
			"controlPlaneEndpoint": map[string]any{"host": "127.0.0.1", "port": c.devPort()},
			"backend":              map[string]any{"inMemory": map[string]any{}},
		},
	})
	machine := func(name string) reference {
		return on.machineTemplate(c, "DevMachineTemplate", name, map[string]any{"backend": map[string]any{"inMemory": map[string]any{}}})
	}
	on.controlPlane = machine(c.name() + "-" + controlPlanePool)
	for _, one := range pools {
		on.workers[one.name] = machine(c.name() + "-" + one.name)
	}
	return on
}
