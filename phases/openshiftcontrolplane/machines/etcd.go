package machines

import (
	"net/netip"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// nodeAddresses is an annotation on a control-plane Machine that our hook holds: the IP addresses of its Node, which may be gone before
// etcd's member is. If it is lost, the provider's internal addresses say the same, or those of all other Machines; it is written anew
// while the Node is there. Whoever can forge it can take off the hook, too.
const nodeAddresses = "capstan.openshift.io/node-addresses"

// noteAddresses keeps on a Machine what the addresses of its Node are.
func (s *Seen) noteAddresses(one *clusterv1.Machine) {
	node := s.node(one)
	if node == nil || len(node.Addresses) == 0 {
		return
	}
	metav1.SetMetaDataAnnotation(&one.ObjectMeta, nodeAddresses, strings.Join(slices.Sorted(slices.Values(node.Addresses)), ","))
}

// parsed is an IP address in the one form that can be compared.
func parsed(text string) (netip.Addr, bool) {
	at, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return at.Unmap().WithZone(""), err == nil
}

// addresses are the IP addresses of a Machine that are known. inside says that one of them is of the network that etcd's members talk
// in: a provider need not tell of any such, and then only the Node does.
func (s *Seen) addresses(one *clusterv1.Machine) (all map[netip.Addr]bool, inside bool) {
	all = map[netip.Addr]bool{}
	add := func(text string) bool {
		at, is := parsed(text)
		if is {
			all[at] = true
		}
		return is
	}
	for _, at := range one.Status.Addresses {
		switch at.Type {
		case clusterv1.MachineInternalIP:
			inside = add(at.Address) || inside
		case clusterv1.MachineExternalIP:
			add(at.Address)
		}
	}
	of := strings.Split(one.Annotations[nodeAddresses], ",")
	if node := s.node(one); node != nil {
		of = slices.Concat(of, node.Addresses)
	}
	for _, text := range of {
		inside = add(text) || inside
	}
	return all, inside
}

// isOutOfEtcd says that etcd has no member on a Machine: it lists none of its addresses, and one of them is such as a member has, or all
// that it lists are other Machines'. While nobody knows, it may have one, also where it has never been a Node: Cluster API may not have found
// that. A list that is empty or cannot be read says nothing.
func (s *Seen) isOutOfEtcd(one *clusterv1.Machine) bool {
	if !s.guest.Known || !s.guest.Etcd.Known || len(s.guest.Etcd.Endpoints) == 0 {
		return false
	}
	own, inside := s.addresses(one)
	others := map[netip.Addr]bool{}
	for _, other := range s.masters {
		if other.Name == one.Name {
			continue
		}
		all, _ := s.addresses(other)
		for at := range all {
			others[at] = true
		}
	}
	allOthers := true
	for _, text := range s.guest.Etcd.Endpoints {
		at, is := parsed(text)
		if !is || own[at] {
			return false
		}
		allOthers = allOthers && others[at]
	}
	return inside || allOthers
}
