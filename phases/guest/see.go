package guest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

// See fills the facts of guest, kubeconfig and upgrade by what was seen last, and says what is to be asked from now on. What cannot be
// read is not known, and the works of the pass return why. A guest is not asked before its bootstrap machine is intended, nor once
// its object is being deleted.
func (p *Poller) See(ctx context.Context, look phases.Look, f *guards.Facts) (*Seen, error) {
	s := &Seen{p: p, look: look, facts: f}
	marks := f.Reached()
	if look.Plane == nil {
		return s, ctx.Err()
	}
	if look.Cluster == nil || f.Object.Deleting || marks.Bootstrap == "" && !marks.Initialized && !marks.Finished {
		p.Forget(client.ObjectKeyFromObject(look.Plane))
		return s, ctx.Err()
	}
	want := wanted{
		cluster: client.ObjectKeyFromObject(look.Cluster), every: pace(f.Then.State), finished: marks.Finished,
		managed: look.Plane.Spec.Management == v1alpha1.Managed, gated: slices.Contains(guards.Gated, f.Then.State), clusterID: f.Payload.ClusterID,
		installer: look.Plane.Spec.Ignition.Engine == v1alpha1.InstallerJob,
	}
	if want.nodes, s.unread = p.machines(ctx, look); s.unread != nil {
		return s, ctx.Err()
	}
	s.guest = p.of(look.Plane, want)
	found, there, err := p.readKubeconfig(ctx, s.guest, want.cluster)
	s.guest.mu.Lock()
	s.want = s.guest.want
	last := s.guest.seen
	if there && last.leads != "" && last.leads != found.leads { // the guest is asked at once by the one that is there now
		last = sight{silent: last.silent}
	}
	s.sight, s.fresh = last.of(s.want), p.clock.Since(s.guest.heard) < fresh
	s.guest.mu.Unlock()
	if s.sight.who.Authority == guards.External && s.want.clusterID == "" && !f.Payload.Roles.Known {
		s.sight = sight{who: s.sight.who, silent: s.sight.silent, problem: "its kubeconfig is somebody else's, and it is not known which cluster was made here: the payload cannot be read"}
	}
	f.Guest = s.sight.facts(want.nodes)
	f.Guest.Unasked = !s.sight.api && s.sight.problem == ""
	if s.unread = err; err == nil {
		s.seeKubeconfig(found, there)
		s.seeUpgrade(ctx)
	}
	return s, ctx.Err()
}

// pace is how often a guest is asked in a state.
func pace(state machine.State) time.Duration {
	if slices.Contains(guards.Restful, state) {
		return resting
	}
	return installing
}

// machines are the control-plane Machines, without the bootstrap's, sorted by their names.
func (p *Poller) machines(ctx context.Context, look phases.Look) ([]ofMachine, error) {
	list := &clusterv1.MachineList{}
	if err := p.client.List(ctx, list, client.InNamespace(look.Plane.Namespace),
		client.MatchingLabels{clusterv1.ClusterNameLabel: look.Cluster.Name}, client.HasLabels{clusterv1.MachineControlPlaneLabel}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the Machines of Cluster %s: %w", look.Cluster.Name, err)
	}
	var all []ofMachine
	for i := range list.Items {
		m := &list.Items[i]
		if metav1.IsControlledBy(m, look.Plane) && m.Name != phases.BootstrapName(look.Plane.Name) {
			all = append(all, ofMachine{machine: m.Name, node: m.Status.NodeRef.Name, providerID: m.Spec.ProviderID})
		}
	}
	slices.SortFunc(all, func(a, b ofMachine) int { return cmp.Compare(a.machine, b.machine) })
	return all, nil
}

// IsOurs says that the guest is known to be the cluster that was made. By the word of another one no Machine is changed.
func (s *Seen) IsOurs() bool { return s.sight.who.IsOurs().Truth == machine.Yes }

// Fresh says that what is known of Nodes and etcd was read a moment ago. It is read so often while something is being changed.
func (s *Seen) Fresh() bool { return s.sight.read && s.fresh }

// Node is a Node of the guest that is one of its control-plane Machines.
type Node struct {
	Name       string
	ProviderID string
	Ready      bool
	// Addresses are its IP addresses.
	Addresses []string
}

// Nodes are those of control-plane Machines. They are known once they were read since the API has answered last.
func (s *Seen) Nodes() (nodes []Node, known bool) {
	for _, n := range s.sight.nodes {
		nodes = append(nodes, Node{Name: n.name, ProviderID: n.providerID, Ready: n.ready, Addresses: n.addresses})
	}
	return nodes, s.sight.read
}

// Etcd is the guest's etcd. Known is false under management Handover, and until it was read since the API has answered last.
type Etcd struct {
	Known bool
	// Endpoints are the addresses of its members, as ConfigMap openshift-etcd/etcd-endpoints lists them.
	Endpoints []string
	// Unhealthy are the members that are not healthy, by their names; Problem is what is wrong that nobody can say of one of them.
	Unhealthy []string
	Problem   string
}

// Etcd is what is known of it.
func (s *Seen) Etcd() Etcd { return s.sight.etcd }
