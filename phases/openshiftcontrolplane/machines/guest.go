package machines

import (
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Guest is what the guest says of its machines. Zero values mean "not read".
type Guest struct {
	// Known says that Nodes were read since the API has answered last.
	Known bool
	// Fresh says that it was read a moment ago: no Machine is made, deleted or let go by what was read before that.
	Fresh bool
	Nodes []Node
	Etcd  Etcd
}

// Node is a Node of the guest.
type Node struct {
	Name       string
	ProviderID string
	Ready      bool
	// Addresses are its IP addresses.
	Addresses []string
}

// Etcd is the guest's etcd. Known is false until it was read since the API has answered last.
type Etcd struct {
	Known bool
	// Endpoints are the addresses of its members, as ConfigMap openshift-etcd/etcd-endpoints lists them.
	Endpoints []string
	// Unhealthy are the members that are not healthy, by the name of their Node or by address; Problem is what is wrong that nobody
	// can say of one of them.
	Unhealthy []string
	Problem   string
}

// Hear takes what the guest says, and fills the facts that depend on it: Scaling and Remediation. Without it nothing of the guest is
// known: an installed cluster under Managed has no Machine created or deleted, and none of those that go is let go by our hook.
func (s *Seen) Hear(guest Guest) {
	s.guest = guest
	if s.look.Plane == nil {
		return
	}
	s.facts.Scaling, s.facts.Remediation = s.scaling(), s.remediation()
}

// node is the Node of a Machine, by the name that Cluster API has found or by what the provider calls the machine; nil for none.
func (s *Seen) node(one *clusterv1.Machine) *Node {
	for i := range s.guest.Nodes {
		node := &s.guest.Nodes[i]
		if node.Name == one.Status.NodeRef.Name || node.ProviderID != "" && node.ProviderID == one.Spec.ProviderID {
			return node
		}
	}
	return nil
}
