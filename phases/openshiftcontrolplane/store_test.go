package openshiftcontrolplane

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

// kept is a store with the object that it writes to.
type kept struct {
	t      *testing.T
	client client.Client
	store  *Store
	now    time.Time
}

func newKept(t *testing.T) *kept {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	k := &kept{t: t, now: noon.Add(time.Millisecond)}
	k.client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(asked()).WithStatusSubresource(&v1alpha1.OpenShiftControlPlane{}).Build()
	k.store = NewStore(k.client, func(s Snapshot) []Condition {
		return []Condition{{Type: "Initialized", Is: guards.IsInitialized.Answer(Standing(s)).Truth, Reason: "Told"}}
	}, func() time.Time { return k.now })
	return k
}

// pass saves a record with facts, and returns what is stored.
func (k *kept) pass(state machine.State, change func(*guards.Facts)) *v1alpha1.OpenShiftControlPlane {
	k.t.Helper()
	if _, _, err := k.store.Load(k.t.Context(), "fleet/a"); err != nil {
		k.t.Fatal(err)
	}
	plane := k.read()
	facts := Look{Plane: plane}.Facts(k.now)
	change(&facts)
	if _, err := k.store.Save(k.t.Context(), "fleet/a", Snapshot{Record: machine.Record{State: state, Since: noon.Add(time.Nanosecond)}, Facts: facts}); err != nil {
		k.t.Fatal(err)
	}
	return k.read()
}

func (k *kept) read() *v1alpha1.OpenShiftControlPlane {
	k.t.Helper()
	plane := &v1alpha1.OpenShiftControlPlane{}
	if err := k.client.Get(k.t.Context(), key, plane); err != nil {
		k.t.Fatal(err)
	}
	return plane
}

func marked(m guards.Marks) func(*guards.Facts) { return func(f *guards.Facts) { f.Marks = m } }

func TestStore_notes_what_the_marks_say_and_keeps_it_when_they_are_lost(t *testing.T) {
	k := newKept(t)
	all := guards.Marks{Inputs: "d", Bootstrap: "u", Initialized: true, Finished: true}
	got := k.pass(guards.RemovingBootstrap, marked(all)).Status
	if got.State != "RemovingBootstrap" || len(got.Machine.Raw) == 0 || got.Payload == nil || got.Payload.Digest != "d" {
		t.Errorf("stored is %+v", got)
	}
	if init := got.Initialization.ControlPlaneInitialized; init == nil || !*init {
		t.Error("Cluster API is not told that the control plane is initialized")
	}
	if b := got.Bootstrap; b == nil || b.MachineRef.Name != "a-bootstrap" || b.MachineRef.UID != "u" || b.CompletedAt == nil || b.DeletedAt != nil {
		t.Errorf("of the bootstrap it says %+v", got.Bootstrap)
	}
	plane := k.pass(guards.RemovingBootstrap, marked(guards.Marks{}))
	if noted := (Look{Plane: plane}).Facts(k.now).Reached(); noted != all {
		t.Errorf("without marks there is %+v", noted)
	}
	k.now = k.now.Add(time.Hour)
	gone := k.pass(guards.Settling, func(f *guards.Facts) { f.Bootstrap.Removal = guards.Tally{Known: true} }).Status.Bootstrap
	if gone.DeletedAt == nil || !gone.DeletedAt.After(gone.CompletedAt.Time) {
		t.Errorf("once it is gone: %+v", gone)
	}
}

func TestStore_writes_nothing_that_is_there(t *testing.T) {
	k := newKept(t)
	facts := marked(guards.Marks{Inputs: "d", Bootstrap: guards.Intended})
	before := k.pass(guards.CreatingMachines, facts).ResourceVersion
	if after := k.pass(guards.CreatingMachines, facts).ResourceVersion; after != before {
		t.Errorf("the second pass has written: %s, %s", before, after)
	}
}

func TestStore_forgets_an_attempt_that_is_cleared_away_but_never_that_it_was_initialized(t *testing.T) {
	k := newKept(t)
	k.pass(guards.Failed, marked(guards.Marks{Inputs: "d", Bootstrap: "u", Initialized: true}))
	plane := k.pass(guards.Clearing, marked(guards.Marks{}))
	if noted := (Look{Plane: plane}).Facts(k.now).Reached(); noted != (guards.Marks{}) {
		t.Errorf("cleared, there is %+v", noted)
	}
	if plane.Status.Payload != nil || plane.Status.Bootstrap != nil {
		t.Errorf("cleared, the status says %+v", plane.Status)
	}
	if init := plane.Status.Initialization.ControlPlaneInitialized; init == nil || !*init {
		t.Error("the contract's field was unset")
	}
}

func TestStore_leaves_alone_what_it_cannot_tell(t *testing.T) {
	k := newKept(t)
	k.pass(guards.Bootstrapping, marked(guards.Marks{Inputs: "d", Bootstrap: "u", Initialized: true}))
	got := k.pass(guards.Bootstrapping, func(f *guards.Facts) { *f = guards.Facts{} }).Status
	if got.Payload == nil || got.Bootstrap == nil {
		t.Errorf("nothing was seen, and the status says %+v", got)
	}
}
