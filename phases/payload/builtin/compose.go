package builtin

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/ignition"
	"github.com/capstan-capi/capstan/phases/payload/keys"
)

const (
	apiPort = 6443
	mcsPort = 22623
)

// Cluster is what a payload has of the cluster besides its inputs.
type Cluster struct {
	// Name is that of the Cluster, and of the infrastructure if the installer's state names none.
	Name string
	// ReleaseImage is by digest, and Version the one that its label tells.
	ReleaseImage, Version string
	// Endpoint is where the Kubernetes API is reached, as host:port.
	Endpoint string
	// MachineConfigServer is spec.machineConfigServer.host; empty: the internal name of the API.
	MachineConfigServer string
	// Replicas is how many machines the control plane has.
	Replicas int
}

// composition is one payload while it is composed.
type composition struct {
	Cluster

	in   *payload.Inputs
	keys keys.Material
}

// Names are what the certificates of the cluster are for.
func Names(in *payload.Inputs, cluster Cluster) keys.Names {
	c := composition{Cluster: cluster, in: in}
	mcs := []string{c.internalName()}
	if host := cluster.MachineConfigServer; host != "" && host != c.internalName() {
		mcs = append(mcs, host)
	}
	api := []string{
		c.externalName(), c.internalName(), "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
		"kubernetes.default.svc.cluster.local", "127.0.0.1", "::1",
	}
	for _, services := range in.Config.Networking.ServiceNetwork {
		if first := firstAddress(services); first != "" {
			api = append(api, first)
		}
	}
	if host := hostOf(cluster.Endpoint); host != "" && !slices.Contains(api, host) {
		api = append(api, host)
	}
	return keys.Names{MachineConfigServer: mcs, APIServer: api}
}

// Check refuses inputs that contradict what is made of them, before there are any keys.
func Check(in *payload.Inputs, cluster Cluster) error {
	_, err := (&composition{Cluster: cluster, in: in}).manifests()
	return err
}

// Compose returns the payload. An error of it that is a payload.InputsError is one of the inputs.
func Compose(in *payload.Inputs, cluster Cluster, material keys.Material) (payload.Payload, error) {
	c := composition{Cluster: cluster, in: in, keys: material}
	var made payload.Payload
	content, err := c.content()
	if err != nil {
		return made, err
	}
	for _, one := range []struct {
		role string
		into *[]byte
		make func() ([]byte, error)
	}{
		{"bootstrap", &made.Bootstrap, func() ([]byte, error) { return ignition.Render(content) }},
		{"master", &made.Master, func() ([]byte, error) { return c.pointer("master") }},
		{"worker", &made.Worker, func() ([]byte, error) { return c.pointer("worker") }},
	} {
		if *one.into, err = one.make(); err != nil {
			return payload.Payload{}, fmt.Errorf("composing the Ignition config of role %s: %w", one.role, err)
		}
	}
	return made, nil
}

// Pointer returns the config of a master or a worker, with the certificate of the machine-config server's authority in PEM: what Compose
// makes of the same inputs.
func Pointer(in *payload.Inputs, cluster Cluster, role payload.Role, authority []byte) ([]byte, error) {
	c := composition{Cluster: cluster, in: in}
	c.keys.MachineConfigServerCA.Certificate = authority
	return c.pointer(string(role))
}

func (c *composition) pointer(role string) ([]byte, error) {
	host := c.MachineConfigServer
	if host == "" {
		host = c.internalName()
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	at := url.URL{Scheme: "https", Host: fmt.Sprintf("%s:%d", host, mcsPort), Path: "/config/" + role}
	return ignition.Pointer(at.String(), c.keys.MachineConfigServerCA.Certificate)
}

func (c *composition) externalName() string { return "api." + c.in.Config.ClusterDomain() }
func (c *composition) internalName() string { return "api-int." + c.in.Config.ClusterDomain() }

// infraID names what belongs to the cluster in its infrastructure.
func (c *composition) infraID() string {
	if c.in.InfraID != "" {
		return c.in.InfraID
	}
	return c.Name
}

func (c *composition) clusterID() string {
	if c.in.ClusterID != "" {
		return c.in.ClusterID
	}
	return c.keys.ClusterID
}

// manifests are those that are made here and those that people give, merged.
func (c *composition) manifests() ([]payload.Placed, error) {
	made, err := c.generated()
	if err != nil {
		return nil, err
	}
	merged, err := payload.Merge(slices.Concat(made, c.in.Manifests))
	if problems, is := errors.AsType[payload.InputsError](err); is {
		return nil, problems
	}
	return merged, err
}
