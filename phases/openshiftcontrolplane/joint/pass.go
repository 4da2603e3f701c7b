package joint

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/guest"
	"github.com/capstan-capi/capstan/phases/images"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/openshiftcontrolplane/inputs"
	"github.com/capstan-capi/capstan/phases/openshiftcontrolplane/machines"
	"github.com/capstan-capi/capstan/phases/payload/keys"
	"github.com/capstan-capi/capstan/phases/records"
	"github.com/capstan-capi/capstan/phases/release"
)

// Phases look at OpenShiftControlPlanes.
type Phases struct {
	// Reader reads from caches, and no OpenShiftControlPlane that is older than what was written last of it.
	Reader   client.Reader
	Inputs   *inputs.Resolver
	Machines *machines.Maker
	Guests   *guest.Poller
	// Keys are those that are made ahead.
	Keys *keys.Stock
	Now  func() time.Time

	read records.Recollection
}

// Options are what the rooms are made with.
type Options struct {
	// Client reads from caches, and no OpenShiftControlPlane that is older than what was written last of it. Live reads from the API
	// server itself.
	Client client.Client
	Live   client.Reader
	// Image is that of this program, for what runs beside the installer; empty for no installer.
	Image string
	// KeysAhead is for how many clusters keys are made ahead, zero for none.
	KeysAhead int
	// InsecureRegistries and ExtraCAFile are those of images.Options.
	InsecureRegistries []string
	ExtraCAFile        string
	Log                logr.Logger
	// Now tells the time, which may be set back; Clock never goes back.
	Now   func() time.Time
	Clock clock.WithTicker
	// Changed and Probed are those of guest.Options.
	Changed func(client.ObjectKey)
	Probed  func(key client.ObjectKey, took time.Duration, answered bool)
}

// New makes the rooms; guests are asked once Guests is started, and keys are made ahead once Keys is.
func New(o Options) *Phases {
	registries := images.Options{InsecureRegistries: o.InsecureRegistries, ExtraCAFile: o.ExtraCAFile, Log: o.Log, Clock: o.Clock}
	resolver := inputs.New(o.Client, o.Live, release.NewLookup(registries), o.Now)
	stock := keys.NewStock(keys.StockOptions{Clusters: o.KeysAhead, Now: o.Now, Clock: o.Clock, Log: o.Log})
	resolver.CollectImage, resolver.Keys = o.Image, stock
	return &Phases{
		Keys:   stock,
		Reader: o.Client, Inputs: resolver, Machines: machines.New(o.Client, o.Live, o.Now), Now: o.Now,
		Guests: guest.New(o.Client, o.Live, resolver, guest.Options{Changed: o.Changed, Probed: o.Probed, Clock: o.Clock, Now: o.Now}),
	}
}

// expiring is for how long a kubeconfig is valid that is called one that expires.
const expiring = 30 * 24 * time.Hour

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
	p.recall(key, &pass.facts, look.Plane)
	if pass.machines, err = p.Machines.See(ctx, look, &pass.facts); err != nil {
		return guards.Facts{}, nil, err
	}
	// Before the guest is looked at, which may be another cluster than the one that the payload makes.
	if pass.inputs, err = p.Inputs.See(ctx, look, &pass.facts); err != nil {
		return guards.Facts{}, nil, err
	}
	if pass.guest, err = p.Guests.See(ctx, look, &pass.facts); err != nil {
		return guards.Facts{}, nil, err
	}
	if until := pass.facts.Kubeconfig.NotAfter; !until.IsZero() {
		pass.facts.Kubeconfig.Expiring = until.Sub(p.Now()) < expiring
	}
	pass.machines.Hear(heard(pass.guest))
	return pass.facts, pass, nil
}

// heard is what a guest says of its machines, for who works on them: nothing where it is not known to be ours.
func heard(from *guest.Seen) machines.Guest {
	if !from.IsOurs() {
		return machines.Guest{}
	}
	nodes, known := from.Nodes()
	etcd := from.Etcd()
	to := machines.Guest{
		Known: known, Fresh: from.Fresh(), Etcd: machines.Etcd{Known: etcd.Known, Endpoints: etcd.Endpoints, Unhealthy: etcd.Unhealthy, Problem: etcd.Problem},
	}
	for _, node := range nodes {
		to.Nodes = append(to.Nodes, machines.Node(node))
	}
	return to
}

// recall copies into the facts what the record remembers: works ask for the state that they are done in. A record that cannot be read
// is one that nobody has, and the machine begins anew.
func (p *Phases) recall(key machine.Key, f *guards.Facts, plane *v1alpha1.OpenShiftControlPlane) {
	record, found := p.read.Decoded(key, plane.Status.Machine.Raw)
	if !found {
		record = machine.Record{State: guards.Pending}
	}
	guards.Recall(f, record, machine.Resumed{})
}

// Forget lets go of what is remembered of an OpenShiftControlPlane that is gone.
func (p *Phases) Forget(key machine.Key) {
	p.Inputs.Forget(records.ObjectOf(key))
	p.Machines.Forget(records.ObjectOf(key))
	p.Guests.Forget(records.ObjectOf(key))
	p.read.Forget(key)
}
