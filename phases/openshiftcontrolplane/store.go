package openshiftcontrolplane

import (
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/records"
	"github.com/capstan-capi/capstan/phases/standing"
)

// Condition is what is told of one thing.
type Condition = standing.Condition

// Store keeps records in the status of their objects.
type Store = records.OwnStatus[guards.Facts, Works, *v1alpha1.OpenShiftControlPlane]

// NewStore makes the store: record, conditions, what people read of the record and what Cluster API reads are one write, bound to the
// copy that the pass has loaded. What lasts a moment is not written.
func NewStore(c client.Client, conditions func(Snapshot) []Condition, now func() time.Time) *Store {
	return records.NewOwnStatus(c, func() *v1alpha1.OpenShiftControlPlane { return &v1alpha1.OpenShiftControlPlane{} },
		func(o *v1alpha1.OpenShiftControlPlane) (*runtime.RawExtension, *[]metav1.Condition) {
			return &o.Status.Machine, &o.Status.Conditions
		},
		func(s Snapshot) []metav1.Condition {
			return standing.Written(news(conditions(s), s.Facts.Guest.Unasked))
		}, now,
	).With(
		func(from, to *v1alpha1.OpenShiftControlPlane) { from.Status.DeepCopyInto(&to.Status) },
		func(o *v1alpha1.OpenShiftControlPlane, s Snapshot) records.Difference { return note(o, s, now()) },
	).Calmly()
}

// news are the conditions that are to be told. A process that has just started knows nothing of a guest for a moment, which is no news of
// the guest: what was told before stays until it has been asked.
func news(all []Condition, unasked bool) []Condition {
	if !unasked {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(c Condition) bool { return c.Is == machine.Unknown })
}

// Standing are the facts of a pass as they are told. While an attempt is cleared away, what the status has noted of it is not: else it
// would be noted for ever, since the higher one of marks and status counts. The same goes for who leaves that state once the marks are
// gone, such as for a pause.
func Standing(s Snapshot) guards.Facts {
	facts := s.Facts
	if s.Record.State == guards.Clearing || s.Record.CameFrom == guards.Clearing && facts.Marks == (guards.Marks{}) {
		facts.Noted = guards.Marks{}
	}
	return facts
}

// note changes what a status says beside record and conditions, and tells how. Cluster API and whoever makes workers wait for it to say
// that the control plane is initialized, and the move out of Clearing for it to say nothing of the attempt.
func note(o *v1alpha1.OpenShiftControlPlane, s Snapshot, now time.Time) records.Difference {
	record, conditions := o.Status.Machine, o.Status.Conditions
	o.Status.Machine, o.Status.Conditions = runtime.RawExtension{}, nil // the longest of it, and not looked at here
	before := o.Status.DeepCopy()
	noteRest(o, s, now)
	same := equality.Semantic.DeepEqual(before, &o.Status)
	o.Status.Machine, o.Status.Conditions = record, conditions
	after := &o.Status
	switch {
	case same:
		return records.Same
	case before.Initialization.ControlPlaneInitialized == nil && after.Initialization.ControlPlaneInitialized != nil,
		before.Payload != nil && after.Payload == nil, before.Bootstrap != nil && after.Bootstrap == nil:
		return records.Urgent
	}
	return records.Different
}

func noteRest(o *v1alpha1.OpenShiftControlPlane, s Snapshot, now time.Time) {
	o.Status.StateStatus = standing.Told(s.Record)
	if s.Record.State == guards.Deleting && o.Status.Waits == "" { // no move leads on, whose guard would tell
		o.Status.Waits = machine.Shorten(guards.IsDeleting.Answer(s.Facts).Reason, machine.MaxMessage)
	}
	o.Status.ObservedGeneration = o.Generation
	facts := Standing(s)
	if !facts.Seen {
		return
	}
	if facts.Reached().Initialized {
		yes := true
		o.Status.Initialization.ControlPlaneInitialized = &yes // never unset
	}
	noteCounts(o, facts.Counts)
	noteVersions(o, facts.Guest)
	// What the pass itself has marked is told with the move that it is of: the definition refuses another release from then on.
	facts.Marks = facts.Marks.Advance(MarksOf(o))
	notePayload(o, facts.Reached(), facts.Payload.NotAfter)
	noteBootstrap(o, facts, now)
}

// noteCounts says how many control-plane Machines there are, for Cluster API and the scale subresource.
func noteCounts(o *v1alpha1.OpenShiftControlPlane, c guards.Counts) {
	if !c.Known {
		return
	}
	count := func(n int) *int32 {
		n32 := int32(min(n, math.MaxInt32))
		return &n32
	}
	s := &o.Status
	s.Selector = c.Selector
	s.Replicas, s.ReadyReplicas, s.AvailableReplicas, s.UpToDateReplicas = count(c.Replicas), count(c.Ready), count(c.Available), count(c.UpToDate)
}

// What the definition allows of texts that others write, in bytes. An API server would refuse the whole status for a longer one, and then
// nothing would be remembered.
const (
	maxVersion = 256
	maxDigest  = 128
	maxUID     = 64
)

// noteVersions says what the guest has told last of its versions.
func noteVersions(o *v1alpha1.OpenShiftControlPlane, guest guards.Guest) {
	if guest.Version != "" {
		o.Status.Version = machine.Shorten(guest.Version, maxVersion)
	}
	if guest.DistributionVersion != "" {
		o.Status.DistributionVersion = machine.Shorten(guest.DistributionVersion, maxVersion)
	}
}

// notePayload says of which frozen inputs the payload is, and until when machines can be started with it.
func notePayload(o *v1alpha1.OpenShiftControlPlane, marks guards.Marks, notAfter time.Time) {
	switch {
	case marks.Inputs == "":
		o.Status.Payload = nil
	case o.Status.Payload == nil || o.Status.Payload.Digest != machine.Shorten(marks.Inputs, maxDigest):
		o.Status.Payload = &v1alpha1.PayloadStatus{Digest: machine.Shorten(marks.Inputs, maxDigest), Engine: o.Spec.Ignition.Engine}
	}
	if o.Status.Payload != nil && !notAfter.IsZero() {
		o.Status.Payload.NotAfter = standing.Second(notAfter)
	}
}

// noteBootstrap says which Machine is the bootstrap's, and when the guest did without it.
func noteBootstrap(o *v1alpha1.OpenShiftControlPlane, facts guards.Facts, now time.Time) {
	marks := facts.Reached()
	if marks.Bootstrap == "" && !marks.Finished {
		o.Status.Bootstrap = nil
		return
	}
	b := o.Status.Bootstrap
	if b == nil {
		b = &v1alpha1.BootstrapStatus{}
	}
	b.MachineRef = &v1alpha1.MachineReference{Name: BootstrapName(o.Name)}
	if marks.Bootstrap != guards.Intended {
		b.MachineRef.UID = machine.Shorten(marks.Bootstrap, maxUID)
	}
	if marks.Finished && b.CompletedAt == nil {
		b.CompletedAt = standing.Second(now)
	}
	if marks.Finished && b.DeletedAt == nil && !facts.Object.Retain && guards.BootstrapIsGone.Answer(facts).Truth == machine.Yes {
		b.DeletedAt = standing.Second(now)
	}
	o.Status.Bootstrap = b
}

// BootstrapName is the name of all that is the bootstrap's.
func BootstrapName(plane string) string { return plane + "-bootstrap" }
