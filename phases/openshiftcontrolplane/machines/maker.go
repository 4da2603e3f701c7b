package machines

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

// Maker looks at Machines of OpenShiftControlPlanes and works on them. One serves all of them, from several goroutines.
type Maker struct {
	client client.Client
	live   client.Reader
	now    func() time.Time

	problems problems
	// removed and told are by the UID of the object: deletions, and that a Machine is up to date. created are Machines by their names.
	removed, told recent[types.UID]
	created       recent[client.ObjectKey]
}

// New makes a Maker. live reads from the API server itself, and not from a cache.
func New(c client.Client, live client.Reader, now func() time.Time) *Maker {
	return &Maker{client: c, live: live, now: now}
}

// Seen is what one look has shown of an OpenShiftControlPlane's Machines, and what works of one pass are done with. Each work is
// safe to repeat, and takes up what an earlier one that was interrupted has left.
type Seen struct {
	maker *Maker
	look  phases.Look
	// facts are those of the pass, which others add to before the works are done.
	facts *guards.Facts

	cluster   string
	bootstrap *clusterv1.Machine
	// masters are the control-plane Machines without the bootstrap's, by name; workers are the names of all others of the Cluster.
	masters []*clusterv1.Machine
	workers []string
	// configs are ours, by name.
	configs map[string]*v1alpha1.OpenShiftConfig
	// secrets are ours: payload, certificates, kubeconfig, without their content.
	secrets []metav1.PartialObjectMetadata
	// payload says that the bootstrap's payload is there.
	payload bool
	// unread is why it is not known whether the bootstrap Machine is there, nil if it is.
	unread error

	guest     Guest
	templates map[clusterv1.ContractVersionedObjectReference]*unstructured.Unstructured
}

// See lists what the OpenShiftControlPlane has of Machines, and fills the facts of them. f has those of the look already; works go by
// what it has when they are done. What depends on the guest is filled by [Seen.Hear]. A bootstrap Machine that cannot be read is one of
// which nothing is known; the error is of lists.
func (m *Maker) See(ctx context.Context, look phases.Look, f *guards.Facts) (*Seen, error) {
	s := newSeen(m, look, f)
	if look.Plane == nil {
		return s, nil
	}
	s.cluster = clusterName(look)
	if err := s.list(ctx, m.client); err != nil {
		return s, err
	}
	s.unread = s.lookAgain(ctx)
	s.tell()
	s.Hear(Guest{})
	return s, nil
}

func newSeen(m *Maker, look phases.Look, f *guards.Facts) *Seen {
	return &Seen{
		maker: m, look: look, facts: f, configs: map[string]*v1alpha1.OpenShiftConfig{},
		templates: map[clusterv1.ContractVersionedObjectReference]*unstructured.Unstructured{},
	}
}

func (s *Seen) marking() phases.Marking {
	return phases.Marking{Client: s.maker.client, Live: s.maker.live, Key: client.ObjectKeyFromObject(s.look.Plane), UID: string(s.look.Plane.UID)}
}
