package openshiftcontrolplane

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	// from is the state that the machine has come from.
	from machine.State
}

func newKept(t *testing.T) *kept {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	k := &kept{t: t, now: noon.Add(time.Millisecond), from: guards.Locating}
	k.client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(asked()).WithStatusSubresource(&v1alpha1.OpenShiftControlPlane{}).Build()
	k.store = NewStore(k.client, func(s Snapshot) []Condition {
		return []Condition{{Type: "Initialized", Is: guards.IsInitialized.Answer(Standing(s)).Truth, Reason: "Told"}}
	}, func() time.Time { return k.now })
	return k
}

// pass saves a record with facts, a minute after the last one, and returns what is stored.
func (k *kept) pass(state machine.State, change func(*guards.Facts)) *v1alpha1.OpenShiftControlPlane {
	k.t.Helper()
	k.now = k.now.Add(time.Minute)
	if _, _, err := k.store.Load(k.t.Context(), "fleet/a"); err != nil {
		k.t.Fatal(err)
	}
	plane := k.read()
	facts := Look{Plane: plane}.Facts(k.now)
	change(&facts)
	// It has moved, so that it is stored at once.
	record := machine.Record{State: state, Since: noon.Add(time.Nanosecond), CameFrom: k.from}
	if _, err := k.store.Save(k.t.Context(), "fleet/a", Snapshot{Record: record, Facts: facts}); err != nil {
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

func TestStore_tells_at_once_that_the_control_plane_is_initialized_and_that_nothing_is_left_of_an_attempt(t *testing.T) {
	k := newKept(t)
	k.pass(guards.Bootstrapping, marked(guards.Marks{Inputs: "d", Bootstrap: "u"}))
	k.now = k.now.Add(-time.Minute) // as the passes come one after the other
	if got := k.pass(guards.Bootstrapping, marked(guards.Marks{Inputs: "d", Bootstrap: "u", Initialized: true})).Status; got.Initialization.ControlPlaneInitialized == nil {
		t.Error("that it is initialized is put off")
	}
	k.now = k.now.Add(-time.Minute)
	k.pass(guards.Clearing, marked(guards.Marks{Inputs: "d", Bootstrap: "u"}))
	k.now = k.now.Add(-time.Minute)
	if got := k.pass(guards.Clearing, marked(guards.Marks{})).Status; got.Payload != nil || got.Bootstrap != nil {
		t.Errorf("that nothing is left is put off: %+v", got)
	}
}

func TestStore_tells_with_a_move_what_the_pass_itself_has_marked(t *testing.T) {
	k := newKept(t)
	k.pass(guards.ResolvingInputs, marked(guards.Marks{}))
	m := Marking{Client: k.client, Live: k.client, Key: key, UID: string(k.read().UID)}
	got := k.pass(guards.GeneratingIgnition, func(facts *guards.Facts) {
		before := k.read().ResourceVersion
		if _, err := m.Advance(t.Context(), guards.Marks{Inputs: "d"}); err != nil {
			t.Fatal(err)
		}
		k.store.Took("fleet/a", before, k.read())
		facts.Marks = guards.Marks{} // as they were seen
	}).Status
	if got.Payload == nil || got.Payload.Digest != "d" {
		t.Errorf("the release could still be changed: %+v", got.Payload)
	}
}

func TestStore_tells_of_long_texts_of_others_what_the_definition_allows(t *testing.T) {
	long := strings.Repeat("9", 1000)
	got := newKept(t).pass(guards.Installed, func(f *guards.Facts) {
		f.Marks = guards.Marks{Inputs: long, Bootstrap: long}
		f.Guest.Version, f.Guest.DistributionVersion = long, long
	}).Status
	for text, most := range map[string]int{got.Version: 256, got.DistributionVersion: 256, got.Payload.Digest: 128, got.Bootstrap.MachineRef.UID: 64} {
		if len(text) == 0 || len(text) > most {
			t.Errorf("%d bytes are stored where %d are allowed", len(text), most)
		}
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

func TestStore_forgets_an_attempt_that_is_cleared_away_also_where_a_pause_comes_between(t *testing.T) {
	k := newKept(t)
	k.pass(guards.Clearing, marked(guards.Marks{Inputs: "d", Bootstrap: "u"}))
	k.from = guards.Clearing
	plane := k.pass(guards.Paused, marked(guards.Marks{}))
	if noted := (Look{Plane: plane}).Facts(k.now).Reached(); noted != (guards.Marks{}) {
		t.Errorf("once the pause is over, %+v goes on", noted)
	}
	plane = k.pass(guards.Paused, marked(guards.Marks{Inputs: "d", Clearing: "from-scratch-1"}))
	if plane.Status.Payload == nil {
		t.Error("what is not cleared yet is forgotten")
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

func TestStore_tells_how_many_Machines_there_are_once_that_is_known(t *testing.T) {
	k := newKept(t)
	counts := func(c guards.Counts) v1alpha1.OpenShiftControlPlaneStatus {
		t.Helper()
		return k.pass(guards.Settling, func(f *guards.Facts) { f.Counts = c }).Status
	}
	if got := counts(guards.Counts{}); got.Replicas != nil || got.Selector != "" {
		t.Errorf("nobody has counted, and the status says %+v", got)
	}
	got := counts(guards.Counts{Known: true, Selector: "a=b", Replicas: 3, Ready: 2, Available: 1})
	if got.Selector != "a=b" || *got.Replicas != 3 || *got.ReadyReplicas != 2 || *got.AvailableReplicas != 1 || *got.UpToDateReplicas != 0 {
		t.Errorf("the status says %+v", got)
	}
	if got := counts(guards.Counts{}); got.Replicas == nil || *got.Replicas != 3 {
		t.Errorf("what was counted is gone: %+v", got)
	}
}

func TestStore_keeps_what_it_told_of_a_guest_until_a_process_that_starts_has_asked_it(t *testing.T) {
	k := newKept(t)
	k.store = NewStore(k.client, func(s Snapshot) []Condition {
		return []Condition{{Type: "Available", Is: guards.GuestIsHealthy.Answer(Standing(s)).Truth, Reason: "Told"}}
	}, func() time.Time { return k.now })
	healthy := guards.Guest{API: true, Known: true, Operators: guards.Tally{Known: true, Wanted: 1, Done: 1}}
	of := func(guest guards.Guest) func(*guards.Facts) { return func(f *guards.Facts) { f.Guest = guest } }
	before := k.pass(guards.Installed, of(healthy))
	if c := before.Status.Conditions; len(c) != 1 || c[0].Status != metav1.ConditionTrue {
		t.Fatalf("of a healthy guest it says %+v", c)
	}
	k.now = k.now.Add(time.Hour)
	if after := k.pass(guards.Installed, of(guards.Guest{Unasked: true})); after.ResourceVersion != before.ResourceVersion {
		t.Errorf("it writes %+v of a guest that was not asked", after.Status.Conditions)
	}
	if after := k.pass(guards.Installed, of(guards.Guest{APIProblem: "no answer"})); after.Status.Conditions[0].Status != metav1.ConditionUnknown {
		t.Errorf("it says %+v of a guest that does not answer", after.Status.Conditions)
	}
}

func TestStore_tells_what_a_deletion_waits_for(t *testing.T) {
	plane := newKept(t).pass(guards.Deleting, func(f *guards.Facts) { f.Object.Deleting, f.Workers = true, []string{"Machine w"} })
	if !strings.Contains(plane.Status.Waits, "waits for workers: Machine w") {
		t.Errorf("it waits for %q", plane.Status.Waits)
	}
}
