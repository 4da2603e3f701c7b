package joint

import (
	"context"
	"encoding/json"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/guest"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/openshiftcontrolplane/inputs"
	"github.com/capstan-capi/capstan/phases/openshiftcontrolplane/machines"
	"github.com/capstan-capi/capstan/phases/records"
)

// Phases look at OpenShiftControlPlanes.
type Phases struct {
	// Reader reads from caches, and no OpenShiftControlPlane that is older than what was written last of it.
	Reader   client.Reader
	Inputs   *inputs.Resolver
	Machines *machines.Maker
	Guests   *guest.Poller
	Now      func() time.Time
}

// Pass is one look at an OpenShiftControlPlane, and what its works are done with.
type Pass struct {
	look  phases.Look
	facts guards.Facts

	inputs   *inputs.Seen
	machines *machines.Seen
	guest    *guest.Seen
}

var _ phases.Works = (*Pass)(nil)

// Facts are what the pass has seen.
func (p *Pass) Facts() guards.Facts { return p.facts }

// Plane is the object, nil where there is none.
func (p *Pass) Plane() *v1alpha1.OpenShiftControlPlane { return p.look.Plane }

// UID is that of the object, empty where there is none.
func (p *Pass) UID() string {
	if p.look.Plane == nil {
		return ""
	}
	return string(p.look.Plane.UID)
}

// Observe looks at the OpenShiftControlPlane of a key.
func (p *Phases) Observe(ctx context.Context, key machine.Key) (guards.Facts, phases.Works, error) {
	look, err := phases.Read(ctx, p.Reader, records.ObjectOf(key))
	if err != nil {
		return guards.Facts{}, nil, err
	}
	pass := &Pass{look: look, facts: look.Facts(p.Now())}
	if look.Plane == nil {
		return pass.facts, pass, nil
	}
	recall(&pass.facts, look.Plane)
	if pass.machines, err = p.Machines.See(ctx, look, &pass.facts); err != nil {
		return guards.Facts{}, nil, err
	}
	if pass.guest, err = p.Guests.See(ctx, look, &pass.facts); err != nil {
		return guards.Facts{}, nil, err
	}
	pass.machines.Hear(heard(pass.guest))
	if pass.inputs, err = p.Inputs.See(ctx, look, &pass.facts); err != nil {
		return guards.Facts{}, nil, err
	}
	return pass.facts, pass, nil
}

// heard is what a guest says of its machines, for who works on them.
func heard(from *guest.Seen) machines.Guest {
	nodes, known := from.Nodes()
	etcd := from.Etcd()
	to := machines.Guest{
		Known: known, Etcd: machines.Etcd{Known: etcd.Known, Endpoints: etcd.Endpoints, Unhealthy: etcd.Unhealthy, Problem: etcd.Problem},
	}
	for _, node := range nodes {
		to.Nodes = append(to.Nodes, machines.Node{Name: node.Name, ProviderID: node.ProviderID, Ready: node.Ready})
	}
	return to
}

// recall copies into the facts what the record remembers: works ask for the state that they are done in. A record that cannot be read
// is one that nobody has, and the machine begins anew.
func recall(f *guards.Facts, plane *v1alpha1.OpenShiftControlPlane) {
	record := machine.Record{}
	if json.Unmarshal(plane.Status.Machine.Raw, &record) != nil || record.State == "" {
		record = machine.Record{State: guards.Pending}
	}
	guards.Recall(f, record, machine.Resumed{})
}

// Forget lets go of what is remembered of an OpenShiftControlPlane that is gone.
func (p *Phases) Forget(key machine.Key) {
	p.Inputs.Forget(records.ObjectOf(key))
	p.Guests.Forget(records.ObjectOf(key))
}
