package openshiftcontrolplane

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

var (
	noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	key  = client.ObjectKey{Namespace: "fleet", Name: "a"}
)

func one[T any](value T) *T { return &value }

// asked is an OpenShiftControlPlane that a Cluster of UID c1 owns.
func asked() *v1alpha1.OpenShiftControlPlane {
	return &v1alpha1.OpenShiftControlPlane{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "fleet", Name: "a", UID: "p1",
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "v1", Kind: "Cluster", Name: "other", UID: "x"},
				{APIVersion: "cluster.x-k8s.io/v1beta1", Kind: "Cluster", Name: "c", UID: "c1"},
			},
		},
		Spec: v1alpha1.OpenShiftControlPlaneSpec{Replicas: one(int32(3))},
	}
}

// owner is the Cluster of UID c1, whose infrastructure is provisioned.
func owner() *clusterv1.Cluster {
	c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "c", UID: "c1"}}
	c.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: "api.a.example.com", Port: 6443}
	c.Status.Initialization.InfrastructureProvisioned = one(true)
	c.Status.Conditions = []metav1.Condition{{Type: "DNSReady", Status: metav1.ConditionTrue}, {Type: "Audited", Status: metav1.ConditionFalse}}
	return c
}

func plane(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, clusterv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

func TestRead_finds_the_owner_by_its_UID(t *testing.T) {
	for name, row := range map[string]struct {
		objects        []client.Object
		plane, cluster bool
	}{
		"both":                {[]client.Object{asked(), owner()}, true, true},
		"none":                {nil, false, false},
		"the Cluster is gone": {[]client.Object{asked()}, true, false},
		"another Cluster of the name": {[]client.Object{asked(), func() client.Object {
			c := owner()
			c.UID = "c2"
			return c
		}()}, true, false},
		"no owner": {[]client.Object{owner(), func() client.Object {
			p := asked()
			p.OwnerReferences = p.OwnerReferences[:1]
			return p
		}()}, true, false},
	} {
		look, err := Read(t.Context(), plane(t, row.objects...), key)
		if err != nil || (look.Plane != nil) != row.plane || (look.Cluster != nil) != row.cluster {
			t.Errorf("%s: %+v, %v", name, look, err)
		}
	}
}

func TestLook_tells_facts(t *testing.T) {
	if f := (Look{}).Facts(noon); f.Seen {
		t.Errorf("what is not there was seen: %+v", f)
	}
	got := Look{Plane: asked(), Cluster: owner()}.Facts(noon)
	want := guards.Facts{
		Seen: true, Object: guards.Object{Namespace: "fleet", Name: "a", UID: "p1", Replicas: 3},
		Cluster: guards.Cluster{Known: true, Name: "c", Provisioned: true, Host: "api.a.example.com", Port: 6443},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	p := asked()
	p.Annotations = map[string]string{clusterv1.PausedAnnotation: "", v1alpha1.RetryAnnotation: "1", v1alpha1.InputsMark: "d"}
	p.DeletionTimestamp = &metav1.Time{Time: noon}
	p.Spec.BootstrapMachine.DeletePolicy = v1alpha1.Retain
	p.Spec.Timeouts = &v1alpha1.Timeouts{BootstrapSeconds: one(int32(90)), UpgradeSeconds: one(int32(60))}
	p.Status.Conditions = []metav1.Condition{{Type: "Initialized", Status: metav1.ConditionTrue}}
	p.Status.Payload = &v1alpha1.PayloadStatus{Digest: "d"}
	p.Status.Bootstrap = &v1alpha1.BootstrapStatus{MachineRef: &v1alpha1.MachineReference{Name: "a-bootstrap", UID: "u"}}
	got = Look{Plane: p}.Facts(noon)
	want = guards.Facts{
		Seen:    true,
		Object:  guards.Object{Namespace: "fleet", Name: "a", UID: "p1", Replicas: 3, Paused: true, Deleting: true, Retry: "1", Retain: true},
		Cluster: guards.Cluster{Known: true}, Marks: guards.Marks{Inputs: "d"},
		Noted:    guards.Marks{Inputs: "d", Bootstrap: "u", Initialized: true},
		Timeouts: map[machine.State]time.Duration{guards.Bootstrapping: 90 * time.Second, guards.Upgrading: time.Minute},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestLook_counts_the_time_of_hooks_from_when_the_bootstrap_was_complete(t *testing.T) {
	p := asked()
	p.Spec.Hooks = []v1alpha1.Hook{
		{Phase: v1alpha1.PostInfrastructure, ConditionType: "DNSReady", TimeoutSeconds: one(int32(60))},
		{Phase: v1alpha1.PreBootstrapRemoval, ConditionType: "Audited", TimeoutSeconds: one(int32(60))},
		{Phase: v1alpha1.PreBootstrapRemoval, ConditionType: "Never"},
	}
	for name, row := range map[string]struct {
		complete   *metav1.Time
		over, both bool
	}{
		"nobody knows when":                  {nil, false, false},
		"too early":                          {&metav1.Time{Time: noon.Add(-59 * time.Second)}, false, false},
		"it has passed":                      {&metav1.Time{Time: noon.Add(-time.Minute)}, true, false},
		"that of one without has passed too": {&metav1.Time{Time: noon.Add(-guards.RemovalPatience)}, true, true},
	} {
		p.Status.Bootstrap = &v1alpha1.BootstrapStatus{CompletedAt: row.complete}
		want := []guards.Hook{
			{Phase: guards.PostInfrastructure, Condition: "DNSReady", Met: true, Timeout: time.Minute},
			{Phase: guards.PreBootstrapRemoval, Condition: "Audited", Timeout: time.Minute, Over: row.over},
			{Phase: guards.PreBootstrapRemoval, Condition: "Never", Timeout: guards.RemovalPatience, Over: row.both},
		}
		if got := (Look{Plane: p, Cluster: owner()}).Facts(noon).Hooks; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// seenBy is what a pass sees of the object itself.
func seenBy(t *testing.T, m Marking) guards.Object {
	t.Helper()
	object := &v1alpha1.OpenShiftControlPlane{}
	if err := m.Live.Get(t.Context(), m.Key, object); err != nil {
		t.Fatal(err)
	}
	return (Look{Plane: object}).object()
}

func TestMarking_only_advances_and_tells_what_stands(t *testing.T) {
	p := asked()
	p.Annotations = map[string]string{v1alpha1.RetryAnnotation: "from-scratch-1"}
	c := plane(t, p)
	m := Marking{Client: c, Live: c, Key: key, UID: "p1"}
	for _, step := range []struct{ asked, want guards.Marks }{
		{guards.Marks{Inputs: "d1"}, guards.Marks{Inputs: "d1"}},
		{guards.Marks{Inputs: "d2", Bootstrap: guards.Intended}, guards.Marks{Inputs: "d1", Bootstrap: guards.Intended}},
		{guards.Marks{Bootstrap: "u1"}, guards.Marks{Inputs: "d1", Bootstrap: "u1"}},
		{guards.Marks{Bootstrap: guards.Intended, Initialized: true}, guards.Marks{Inputs: "d1", Bootstrap: "u1", Initialized: true}},
		{guards.Marks{}, guards.Marks{Inputs: "d1", Bootstrap: "u1", Initialized: true}},
	} {
		if got, err := m.Advance(t.Context(), step.asked); err != nil || got != step.want {
			t.Fatalf("%+v leads to %+v (%v), want %+v", step.asked, got, err, step.want)
		}
		if stored, _, err := m.Read(t.Context()); err != nil || stored != step.want {
			t.Fatalf("stored is %+v (%v), want %+v", stored, err, step.want)
		}
	}
	began, err := m.Clearing(t.Context(), seenBy(t, m))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Clear(t.Context(), began); err != nil {
		t.Fatal(err)
	}
	if stored, _, _ := m.Read(t.Context()); stored != (guards.Marks{}) {
		t.Errorf("cleared, there is %+v", stored)
	}
	if _, err := m.Advance(t.Context(), guards.Marks{Finished: true}); err != nil {
		t.Fatal(err)
	}
	if err := m.Clear(t.Context(), guards.Marks{}); err == nil {
		t.Error("a finished bootstrap was taken back")
	}
	if _, err := m.Clearing(t.Context(), seenBy(t, m)); err == nil {
		t.Error("a finished bootstrap is to be cleared away")
	}
}

func TestMarking_says_that_an_attempt_is_cleared_away_until_its_other_marks_are_gone_and_what_has_asked_for_it(t *testing.T) {
	p := asked()
	p.Annotations = map[string]string{v1alpha1.InputsMark: "d1", v1alpha1.BootstrapMark: "u1", v1alpha1.RetryAnnotation: "from-scratch-1"}
	c := plane(t, p)
	left := 0
	stopped := errors.New("stopped")
	watched := interceptor.NewClient(c.(client.WithWatch), interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			if left--; left < 0 {
				return stopped
			}
			return c.Patch(ctx, o, patch, options...)
		},
	})
	m := Marking{Client: watched, Live: c, Key: key, UID: "p1"}
	left = 1
	began, err := m.Clearing(t.Context(), seenBy(t, m))
	if err != nil || !began.Clears() {
		t.Fatalf("%+v, %v", began, err)
	}
	for steps := 0; ; steps++ {
		if steps > 6 {
			t.Fatal("it never ends")
		}
		left = 1
		if err := m.Clear(t.Context(), began); err == nil {
			break
		}
		if stored, _, err := m.Read(t.Context()); err != nil || stored.Clearing == "" && stored.Stage() != guards.NoStage {
			t.Fatalf("interrupted, there is %+v (%v)", stored, err)
		}
	}
	stored, is, err := m.Read(t.Context())
	if err != nil || stored != (guards.Marks{}) {
		t.Errorf("cleared, there is %+v (%v)", stored, err)
	}
	if served := (Look{Plane: is}).Facts(noon).Object.Served; served != guards.Brief("from-scratch-1") {
		t.Errorf("served is %q", served)
	}
	if marks, err := m.Clearing(t.Context(), seenBy(t, m)); err != nil || marks.Clears() {
		t.Errorf("who was served is served again: %+v, %v", marks, err)
	}
	left = 1
	if _, err := m.Advance(t.Context(), guards.Marks{Inputs: "d2"}); err != nil {
		t.Fatal(err)
	}
	if m.StillClears(t.Context(), began) == nil || m.Clear(t.Context(), began) == nil {
		t.Error("who was stopped while it cleared an attempt away clears the next one away, too")
	}
	if stored, _, err := m.Read(t.Context()); err != nil || stored != (guards.Marks{Inputs: "d2"}) {
		t.Errorf("of the next attempt there is %+v (%v)", stored, err)
	}
	before := seenBy(t, m)
	_, now, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	now.Annotations[v1alpha1.RetryAnnotation] = "from-scratch-2"
	if err := c.Update(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	left = 1
	if marks, err := m.Clearing(t.Context(), before); !apierrors.IsConflict(err) || marks.Clears() {
		t.Errorf("who has not seen the question clears away for it: %+v, %v", marks, err)
	}
}

func TestMarking_takes_an_intention_back_of_which_nothing_came(t *testing.T) {
	machine := func(owner types.UID) *clusterv1.Machine {
		return &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a-bootstrap", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: v1alpha1.GroupVersion.String(), Kind: "OpenShiftControlPlane", Name: "a", UID: owner, Controller: one(true)},
		}}}
	}
	for name, row := range map[string]struct {
		mark    string
		objects []client.Object
		want    string
	}{
		"nothing came":      {guards.Intended, nil, ""},
		"it came":           {guards.Intended, []client.Object{machine("p1")}, guards.Intended},
		"another's":         {guards.Intended, []client.Object{machine("p2")}, ""},
		"its UID is marked": {"u1", nil, "u1"},
		"none is intended":  {"", nil, ""},
	} {
		p := asked()
		p.Annotations = map[string]string{v1alpha1.InputsMark: "d1"}
		if row.mark != "" {
			p.Annotations[v1alpha1.BootstrapMark] = row.mark
		}
		c := plane(t, append(row.objects, p)...)
		m := Marking{Client: c, Live: c, Key: key, UID: "p1"}
		want := guards.Marks{Inputs: "d1", Bootstrap: row.want}
		if got, err := m.Unintend(t.Context()); err != nil || got != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if stored, _, _ := m.Read(t.Context()); stored != want {
			t.Errorf("%s: stored is %+v", name, stored)
		}
	}
}

func TestMarking_refuses_another_object_of_the_name(t *testing.T) {
	c := plane(t, asked())
	m := Marking{Client: c, Live: c, Key: key, UID: "p0"}
	if _, err := m.Advance(t.Context(), guards.Marks{Inputs: "d1"}); err == nil {
		t.Error("it was marked")
	}
	if err := m.Clear(t.Context(), guards.Marks{}); err == nil {
		t.Error("it was cleared")
	}
	if _, err := m.Clearing(t.Context(), seenBy(t, m)); err == nil {
		t.Error("it was marked as one that is cleared away")
	}
	m = Marking{Client: c, Live: plane(t), Key: key, UID: "p1"}
	if _, err := m.Advance(t.Context(), guards.Marks{Inputs: "d1"}); err == nil {
		t.Error("what is not there was marked")
	}
}

func TestMarksOf_takes_a_spoilt_mark_for_one(t *testing.T) {
	p := asked()
	p.Annotations = map[string]string{v1alpha1.InitializedMark: "no", v1alpha1.BootstrapFinishedMark: ""}
	if got := MarksOf(p); !got.Initialized || !got.Finished {
		t.Errorf("got %+v", got)
	}
	if got := MarksOf(p); got.MayCreateBootstrap() {
		t.Error("a bootstrap Machine may be created")
	}
}
