package records

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/newest"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// thing is of a kind of our own.
type thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              string      `json:"spec,omitempty"`
	Status            thingStatus `json:"status,omitempty"`
}

type thingStatus struct {
	Record     runtime.RawExtension `json:"record,omitempty"`
	Conditions []metav1.Condition   `json:"conditions,omitempty"`
	Others     string               `json:"others,omitempty"`
}

func (t *thing) DeepCopyObject() runtime.Object {
	copied := *t
	t.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	t.Status.Record.DeepCopyInto(&copied.Status.Record)
	copied.Status.Conditions = append([]metav1.Condition(nil), t.Status.Conditions...)
	return &copied
}

// cluster counts the writes to a fake API server, and can let them fail.
type cluster struct {
	client.WithWatch
	mu sync.Mutex
	// waiting counts writes that have come, writes those that were let through.
	waiting, writes int
	fails           error
	// hold, unless nil, delays writes until it is closed.
	hold chan struct{}
	// slow is how long a write takes, and lost is what comes after one that was made: its answer gets lost.
	slow time.Duration
	lost error
	// takes has a write last, nil for no time.
	takes func()
}

func (c *cluster) count() error {
	c.mu.Lock()
	hold, slow := c.hold, c.slow
	c.waiting++
	c.mu.Unlock()
	if c.takes != nil {
		c.takes()
	}
	if hold != nil {
		<-hold
	}
	if slow > 0 {
		<-time.After(slow)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes++
	return c.fails
}

// theirs lets somebody else write, who is not counted and never fails.
func (c *cluster) theirs(t *testing.T, write func() error) {
	t.Helper()
	c.mu.Lock()
	fails, waiting, writes := c.fails, c.waiting, c.writes
	c.fails = nil
	c.mu.Unlock()
	err := write()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fails, c.waiting, c.writes = fails, waiting, writes; err != nil {
		t.Fatal(err)
	}
}

func newCluster(t *testing.T, objects ...client.Object) *cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	version := schema.GroupVersion{Group: "test.capstan.io", Version: "v1"}
	scheme.AddKnownTypeWithName(version.WithKind("Thing"), &thing{})
	metav1.AddToGroupVersion(scheme, version)
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := &cluster{}
	c.WithWatch = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(objects...).WithInterceptorFuncs(interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, to client.Client, sub string, o client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			if err := c.count(); err != nil {
				return err
			}
			return to.SubResource(sub).Patch(ctx, o, patch, opts...)
		},
		Create: func(ctx context.Context, to client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if err := c.count(); err != nil {
				return err
			}
			if err := to.Create(ctx, o, opts...); err != nil {
				return err
			}
			return c.lost
		},
		Update: func(ctx context.Context, to client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			if err := c.count(); err != nil {
				return err
			}
			if err := to.Update(ctx, o, opts...); err != nil {
				return err
			}
			return c.lost
		},
	}).Build()
	return c
}

func shotOf(state machine.State, reason string) machine.Snapshot[int, int] {
	return machine.Snapshot[int, int]{Record: machine.Record{State: state, Since: noon, Reason: reason}}
}

func loaded(t *testing.T, s machine.Store[int, int], key machine.Key) string {
	t.Helper()
	record, found, err := s.Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		return "none"
	}
	return strings.TrimSpace(string(record.State) + " " + record.Reason)
}

// pass loads and saves as a pass does.
func pass(t *testing.T, s machine.Store[int, int], key machine.Key, shot machine.Snapshot[int, int]) {
	t.Helper()
	loaded(t, s, key)
	if _, err := s.Save(t.Context(), key, shot); err != nil {
		t.Fatal(err)
	}
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "ns", Name: name} }

func ownStatus(c client.Client) *OwnStatus[int, int, *thing] {
	return NewOwnStatus(c, func() *thing { return &thing{} },
		func(o *thing) (*runtime.RawExtension, *[]metav1.Condition) {
			return &o.Status.Record, &o.Status.Conditions
		},
		func(s machine.Snapshot[int, int]) []metav1.Condition {
			return []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: string(s.Record.State), Message: s.Record.Reason}}
		}, func() time.Time { return noon })
}

func inConditions(c client.Client) *Conditions[int, int, *corev1.Service] {
	return NewConditions(c, func() *corev1.Service { return &corev1.Service{} }, "Tides",
		func(o *corev1.Service) *[]metav1.Condition { return &o.Status.Conditions },
		func(s machine.Snapshot[int, int]) string { return "is " + string(s.Record.State) }, func() time.Time { return noon })
}

func TestStores_keep_what_was_saved_and_write_it_once(t *testing.T) {
	for name, of := range map[string]func(*cluster) machine.Store[int, int]{
		"own status":     func(c *cluster) machine.Store[int, int] { return ownStatus(c) },
		"two conditions": func(c *cluster) machine.Store[int, int] { return inConditions(c) },
		"shards":         func(c *cluster) machine.Store[int, int] { return inConfigMaps(c, 4) },
		"one for each":   func(c *cluster) machine.Store[int, int] { return inConfigMaps(c, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, &thing{ObjectMeta: named("one")}, &corev1.Service{ObjectMeta: named("one")}, &thing{ObjectMeta: named("two")}, &corev1.Service{ObjectMeta: named("two")})
			s := of(c)
			if got := loaded(t, s, "ns/one"); got != "none" {
				t.Errorf("before the first pass there is %s", got)
			}
			for range 3 {
				pass(t, s, "ns/one", shotOf("Ready", "fine <&>"))
				pass(t, s, "ns/two", shotOf("Waiting", "late"))
			}
			if got := loaded(t, s, "ns/one") + ", " + loaded(t, s, "ns/two"); got != "Ready fine <&>, Waiting late" || c.writes != 2 {
				t.Errorf("stored is %s, after %d writes", got, c.writes)
			}
			if got := loaded(t, of(c), "ns/one"); got != "Ready fine <&>" {
				t.Errorf("after a restart there is %s", got)
			}
			c.fails = errors.New("away")
			loaded(t, s, "ns/one")
			if _, err := s.Save(t.Context(), "ns/one", shotOf("Ready", "other")); err == nil || !strings.Contains(err.Error(), "away") {
				t.Errorf("a write that fails: %v", err)
			}
			c.fails = nil
			pass(t, s, "ns/one", shotOf("Ready", "other"))
			if got := loaded(t, s, "ns/one"); got != "Ready other" {
				t.Errorf("after that there is %s", got)
			}
		})
	}
}

func TestOwnStatus_writes_to_what_the_pass_has_loaded_or_not_at_all(t *testing.T) {
	c := newCluster(t, &thing{ObjectMeta: named("one")})
	s := ownStatus(c)
	loaded(t, s, "ns/one")
	meanwhile := &thing{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "one"}, meanwhile); err != nil {
		t.Fatal(err)
	}
	meanwhile.Status.Others = "somebody else's"
	if err := c.WithWatch.Status().Update(t.Context(), meanwhile); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Save(t.Context(), "ns/one", shotOf("Ready", "")); !apierrors.IsConflict(err) {
		t.Errorf("over a write of somebody else: %v", err)
	}
	pass(t, s, "ns/one", shotOf("Ready", ""))
	after := &thing{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "one"}, after); err != nil {
		t.Fatal(err)
	}
	if after.Status.Others != "somebody else's" || !meta.IsStatusConditionTrue(after.Status.Conditions, "Ready") {
		t.Errorf("the status is %+v", after.Status)
	}
}

func TestOwnStatus_starts_afresh_on_a_record_that_is_lost_or_cannot_be_read(t *testing.T) {
	for name, raw := range map[string]string{"lost": `{}`, "damaged": `{"state":7}`} {
		c := newCluster(t, &thing{ObjectMeta: named("one"), Status: thingStatus{Record: runtime.RawExtension{Raw: []byte(raw)}}})
		if got := loaded(t, ownStatus(c), "ns/one"); got != "none" {
			t.Errorf("%s: %s", name, got)
		}
	}
	c := newCluster(t)
	s := ownStatus(c)
	pass(t, s, "ns/gone", shotOf("Ready", ""))
	if c.writes != 0 {
		t.Error("it writes to an object that is gone")
	}
}

func TestObjects_what_was_written_counts_while_the_cache_lags_behind(t *testing.T) {
	c := newCluster(t, &thing{ObjectMeta: named("one"), Spec: "theirs"})
	old := &thing{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "one"}, old); err != nil {
		t.Fatal(err)
	}
	lags := true
	s := ownStatus(interceptor.NewClient(c, interceptor.Funcs{Get: func(ctx context.Context, from client.WithWatch, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
		if lags {
			*into.(*thing) = *old.DeepCopyObject().(*thing)
			return nil
		}
		return from.Get(ctx, key, into, opts...)
	}}))
	pass(t, s, "ns/one", shotOf("Ready", "one"))
	pass(t, s, "ns/one", shotOf("Ready", "two"))
	if got := loaded(t, s, "ns/one"); got != "Ready two" {
		t.Errorf("while the cache lags there is %s", got)
	}
	if kept := s.objects.written["ns/one"]; kept.Name != "" || kept.Spec != "" || len(kept.Status.Conditions) != 1 {
		t.Errorf("of what was written is kept %+v", kept)
	}
	if object := s.objects.loaded["ns/one"]; object.Spec != "theirs" {
		t.Errorf("loaded is %+v", object)
	}
	lags = false
	if got := loaded(t, s, "ns/one"); got != "Ready two" || len(s.objects.written) != 0 {
		t.Errorf("then there is %s, and %d copies are kept", got, len(s.objects.written))
	}
}

func TestObjects_of_a_cache_that_lags_for_long_are_not_written_over_newer_ones(t *testing.T) {
	c := newCluster(t, &thing{ObjectMeta: named("one")})
	old := &thing{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "one"}, old); err != nil {
		t.Fatal(err)
	}
	s := ownStatus(interceptor.NewClient(c, interceptor.Funcs{Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
		*into.(*thing) = *old.DeepCopyObject().(*thing)
		return nil
	}}))
	pass(t, s, "ns/one", shotOf("Ready", "newer"))
	s.objects.wroteAt["ns/one"] = s.objects.wroteAt["ns/one"].Add(-newest.Trust)
	if got := loaded(t, s, "ns/one"); got != "none" {
		t.Fatalf("the cache shows %s", got)
	}
	if _, err := s.Save(t.Context(), "ns/one", shotOf("Waiting", "older")); !apierrors.IsConflict(err) {
		t.Errorf("an older record over a newer one: %v", err)
	}
	if got := loaded(t, ownStatus(c), "ns/one"); got != "Ready newer" {
		t.Errorf("there is %s", got)
	}
}

func TestConditions_leave_those_of_others_alone_and_have_room_for_the_record(t *testing.T) {
	theirs := metav1.Condition{Type: "Available", Status: metav1.ConditionTrue, Reason: "Fine", LastTransitionTime: metav1.NewTime(noon)}
	c := newCluster(t, &corev1.Service{ObjectMeta: named("one"), Status: corev1.ServiceStatus{Conditions: []metav1.Condition{theirs}}})
	s := inConditions(c)
	shot := shotOf("Ready", "fine")
	for i := range 32 {
		shot.Record.Transitions = append(shot.Record.Transitions, machine.Transition{From: "A", To: "B", At: noon.Add(time.Duration(i)), Cause: strings.Repeat("long ", 200)})
	}
	shot.Record = withCause(shot.Record, strings.Repeat("x", machine.MaxMessage))
	pass(t, s, "ns/one", shot)
	after := &corev1.Service{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "one"}, after); err != nil {
		t.Fatal(err)
	}
	state, record := meta.FindStatusCondition(after.Status.Conditions, "TidesState"), meta.FindStatusCondition(after.Status.Conditions, "TidesRecord")
	if len(after.Status.Conditions) != 3 || state == nil || state.Reason != "Ready" || state.Message != "is Ready" || record == nil || len(record.Message) > maxCondition {
		t.Errorf("the conditions are %+v", after.Status.Conditions)
	}
	kept, found, err := s.Load(t.Context(), "ns/one")
	if err != nil || !found || len(kept.Transitions) == 0 || kept.Transitions[len(kept.Transitions)-1].At != noon.Add(31) {
		t.Errorf("loaded are %d transitions (%v, %v)", len(kept.Transitions), found, err)
	}
}

func TestConditions_have_no_room_for_a_record_that_grows_above_it(t *testing.T) {
	c := newCluster(t, &corev1.Service{ObjectMeta: named("one")})
	s := inConditions(c)
	shot := shotOf("Ready", "fine")
	pass(t, s, "ns/one", shot)
	shot.Record.Entry.Inputs = strings.Repeat("x", maxCondition)
	loaded(t, s, "ns/one")
	if _, err := s.Save(t.Context(), "ns/one", shot); err == nil || !strings.Contains(err.Error(), "32768 is the most") || c.writes != 1 {
		t.Errorf("after %d writes: %v", c.writes, err)
	}
	pass(t, s, "ns/one", shotOf("Ready", "fine again"))
	if got := loaded(t, s, "ns/one"); got != "Ready fine again" {
		t.Errorf("then there is %s", got)
	}
}

func TestObjects_that_are_gone_leave_no_copy_behind(t *testing.T) {
	c := newCluster(t, &thing{ObjectMeta: named("one")}, &corev1.Service{ObjectMeta: named("one")})
	own, conditions := ownStatus(c), inConditions(c)
	for _, s := range []interface {
		machine.Store[int, int]
		Forget(ctx context.Context, key machine.Key) (time.Duration, error)
	}{own, conditions} {
		pass(t, s, "ns/one", shotOf("Ready", ""))
		loaded(t, s, "ns/one")
		if again, err := s.Forget(t.Context(), "ns/one"); err != nil || again != 0 {
			t.Errorf("forgetting: again in %s, %v", again, err)
		}
	}
	if n := len(own.objects.loaded) + len(own.objects.written) + len(conditions.objects.loaded) + len(conditions.objects.written); n != 0 {
		t.Errorf("%d copies are kept", n)
	}
}

func withCause(r machine.Record, cause string) machine.Record {
	r.Cause = cause
	return r
}
