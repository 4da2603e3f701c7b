package privatecapi

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/events"
)

// Manager owns the fields that are written here.
const Manager = "capstan-private-capi"

// Controller is the part of the machine that has a condition of its own.
const Controller = "PrivateCAPIController"

// Fence is what the names of the admission policies that shut a side begin with.
const Fence = "capstan-private-capi-fence"

// Phases is what the machine's work is done with. It must not be copied.
type Phases struct {
	API API
	// Clusters and Programme are what watches show: all HostedClusters, and the ConfigMap of the programme, nil for none.
	Clusters  func(context.Context) ([]*unstructured.Unstructured, error)
	Programme func(context.Context) (*unstructured.Unstructured, error)
	// Fences are the fences of namespaces as watches show them, none for a namespace without or one that is not there.
	Fences func(ctx context.Context, namespace string) (guards.Fence, error)
	// Namespace is the operator's: the Lease and the ConfigMap of the programme lie there.
	Namespace string
	// Installation tells the locks of this operator from those of others.
	Installation string
	Journal      Journal
	// Release is that of the operator: one that is older than another that has moved HostedClusters moves none.
	Release   string
	Equipment Equipment
	Now       func() time.Time
	// Needed says that the old operator is kept, so that a move back is allowed.
	Needed func() bool
	// Identify says what Installation is, where that is empty at first.
	Identify func(context.Context) (string, error)
	// Ended is told how long a move took that is over; nil for nobody.
	Ended func(guards.Companion, time.Duration)
	// Event is given each Event but those of moves; nil for nobody.
	Event func(events.Event)

	memory memory
}

// Journal keeps what is worth knowing of a move and is not on an object: see [records.ConfigMaps]. It may be lost.
type Journal interface {
	Note(ctx context.Context, key machine.Key) (json.RawMessage, error)
	StoreNote(ctx context.Context, key machine.Key, seen, note json.RawMessage) error
}

// Pass is what one pass has seen, for the work of the same pass.
type Pass struct {
	*Phases
	Key machine.Key
	// Hosted is the HostedCluster, nil if there is none.
	Hosted *unstructured.Unstructured

	facts  guards.Facts
	record machine.Record
	// unseen is why the look was not whole, nil where it was.
	unseen    error
	namespace *unstructured.Unstructured
	kinds     []Kind
	sides     *sides
	// dependents are the objects of other groups that objects of Cluster API own.
	dependents []Dependent
	workloads  []workload
	journal    journal
	noted      json.RawMessage
}

// Facts are what the pass has seen.
func (p *Pass) Facts() guards.Facts { return p.facts }

// Unseen is why the look was not whole, nil where it was.
func (p *Pass) Unseen() error { return p.unseen }

// KeyOf is the key of a HostedCluster.
func KeyOf(o *unstructured.Unstructured) machine.Key {
	return machine.Key(o.GetNamespace() + "/" + o.GetName())
}

// Split is namespace and name of a HostedCluster.
func Split(key machine.Key) (namespace, name string) {
	namespace, name, _ = strings.Cut(string(key), "/")
	return namespace, name
}

// ControlPlaneNamespace is the namespace of the control plane of a HostedCluster.
func ControlPlaneNamespace(namespace, name string) string {
	return namespace + "-" + strings.ReplaceAll(name, ".", "-")
}

// about refers to the HostedCluster for Events.
func (p *Pass) about() corev1.ObjectReference {
	namespace, name := Split(p.Key)
	about := corev1.ObjectReference{APIVersion: HostedClusters.APIVersion(), Kind: HostedClusters.Kind, Namespace: namespace, Name: name}
	if p.Hosted != nil {
		about.UID = p.Hosted.GetUID()
	}
	return about
}

// tell has an Event written.
func (p *Pass) tell(reason, text string) {
	if p.Event == nil {
		return
	}
	p.Event(events.Event{
		By: "privatecapi", About: p.about(), Key: reason + " " + text, Reason: reason, Action: "Migrating",
		Text: machine.Shorten(text, machine.MaxMessage), Warns: true,
	})
}

// memory is what a process remembers. Lost, checks are made again, outages count anew, and a Lease is waited for a little longer.
type memory struct {
	mu sync.Mutex
	by map[machine.Key]*remembered
	// lease is the UID and the version of the Lease that was seen last, and since when.
	lease      string
	leaseSince time.Time
}

// leaseSeen is for how long the Lease of the programme has been seen in a version.
func (m *memory) leaseSeen(uid types.UID, version string, now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if is := string(uid) + " " + version; m.lease != is {
		m.lease, m.leaseSince = is, now
	}
	return now.Sub(m.leaseSince)
}

// remembered is of one HostedCluster.
type remembered struct {
	// record is the one that was loaded or stored last.
	record machine.Record
	// checks are what came of asking, in the state that was entered at checkedFor; refused is when something was refused last.
	checks guards.Checks
	// refusal is what was told last of a try to switch private types off.
	refusal string
	// standard is the last count of standard objects of one at rest with private types.
	standard   counted
	checkedFor time.Time
	refused    time.Time
	// away says that the API server did not answer last time, and partly that it had no answer for some of what was asked; outages
	// are those that ended in the state that was entered at countedFor, and back is when the last one ended.
	away       bool
	partly     bool
	outages    int
	countedFor time.Time
	back       time.Time
}

// of changes what is remembered of a HostedCluster, and returns it.
func (m *memory) of(key machine.Key, change func(*remembered)) remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by == nil {
		m.by = map[machine.Key]*remembered{}
	}
	if m.by[key] == nil {
		m.by[key] = &remembered{}
	}
	if change != nil {
		change(m.by[key])
	}
	return *m.by[key]
}

func (m *memory) forget(key machine.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.by, key)
}

// direction is where the move leads.
func (p *Pass) direction() guards.Direction { return p.facts.Direction() }

// sourceSide is the side that objects are moved from.
func sourceSide(direction guards.Direction) Side {
	if direction == guards.ToStandard {
		return Private
	}
	return Standard
}

// move names the move that is under way and its stage, empty for none of ours.
func (p *Pass) move() string {
	if p.stage() == guards.NoStage {
		return ""
	}
	return guards.MoveOf(p.facts.Marks.Companion.ID, p.stage())
}

// ran says that the target runs, or may have, by what stands beside the lock or by the fence.
func (p *Pass) ran() bool {
	c := p.facts.Marks.Companion
	return c.Ran || c.Stage == guards.Live || c.Stage == guards.Committed || c.Stage == guards.Undoing ||
		p.fenceNames(guards.Live) || p.fenceNames(guards.Undoing)
}

// stage says how far the move has come, none where the lock is not ours.
func (p *Pass) stage() guards.Stage {
	if !p.facts.Marks.Companion.IsOf(p.Installation) {
		return guards.NoStage
	}
	return p.facts.Marks.Companion.Stage
}
