package openshiftconfig

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftconfig"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/payload"
)

const (
	pointer   = `{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://api-int.a.example.com:22623/config/master"}]}}}`
	overrides = `{"ignition":{"version":"3.1.0"},"passwd":{"users":[{"name":"core"}]}}`
)

// world is a namespace with a config that a Machine owns, and the payload that it is started with.
type world struct {
	t      *testing.T
	client client.Client
	phases *Phases
	// secrets counts what the API server was asked for Secrets, and unread is the error that it answers with, nil for none.
	secrets int
	unread  error
}

func newWorld(t *testing.T, change func(*v1alpha1.OpenShiftConfig, *clusterv1.Machine), more ...client.Object) *world {
	t.Helper()
	config := &v1alpha1.OpenShiftConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a-0", UID: "k1"}}
	config.Spec.Role = v1alpha1.MasterRole
	config.Status.Machine.Raw = []byte(`{"state":"Publishing"}`)
	config.OwnerReferences = []metav1.OwnerReference{{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Machine", Name: "a-0", UID: "m1"}}
	of := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a-0", UID: "m1"}}
	of.Spec.ClusterName = "c"
	change(config, of)
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "c"}}
	cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: v1alpha1.GroupVersion.Group, Kind: planeKind, Name: "a"}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, clusterv1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{t: t}
	w.client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(more, config, of, cluster)...).Build()
	live := interceptor.NewClient(w.client.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			w.secrets++
			if w.unread != nil {
				return w.unread
			}
			return c.Get(ctx, key, o, options...)
		},
	})
	w.phases = &Phases{Client: w.client, Live: live}
	return w
}

func same(*v1alpha1.OpenShiftConfig, *clusterv1.Machine) {}

// made is a Secret of the control plane's.
func made(role v1alpha1.Role, config string) *corev1.Secret {
	yes := true
	data, err := payload.Packed([]byte(config))
	if err != nil {
		panic(err)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "fleet", Name: payload.SecretName("a", payload.Role(role)),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: planeKind, Name: "a", UID: "p1", Controller: &yes}},
			Annotations:     map[string]string{v1alpha1.PayloadSumAnnotation: payload.Sum([]byte(config))},
		},
		Data: data,
	}
}

func (w *world) look() *Pass {
	w.t.Helper()
	_, works, err := w.phases.Observe(w.t.Context(), "fleet/a-0")
	if err != nil {
		w.t.Fatal(err)
	}
	return works.(*Pass)
}

func (w *world) stored() *corev1.Secret {
	w.t.Helper()
	secret := &corev1.Secret{}
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: "fleet", Name: "a-0"}, secret); err != nil {
		w.t.Fatal(err)
	}
	return secret
}

func TestPublishData_stores_what_a_machine_is_started_with(t *testing.T) {
	w := newWorld(t, same, made(v1alpha1.MasterRole, pointer))
	p := w.look()
	if f := p.Facts(); !f.Payload.There || f.Payload.Digest == "" || !f.Secret.Known || f.Secret.There {
		t.Fatalf("seen was %+v", f)
	}
	if _, err := p.PublishData(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := w.stored()
	if string(got.Data["value"]) != pointer || string(got.Data["format"]) != "ignition" || len(got.Data) != 2 || got.Type != clusterv1.ClusterSecretType {
		t.Errorf("stored is %q of type %s", got.Data, got.Type)
	}
	if owner := metav1.GetControllerOf(got); got.Labels[clusterv1.ClusterNameLabel] != "c" || owner == nil || owner.Kind != "OpenShiftConfig" || owner.UID != "k1" {
		t.Errorf("its labels are %v and its owner is %+v", got.Labels, owner)
	}
	if !w.look().Facts().Secret.Right {
		t.Error("what was published is not right")
	}
}

func TestPublishData_gives_an_altered_Secret_the_same_bytes_and_leaves_the_rest_of_it(t *testing.T) {
	w := newWorld(t, same, made(v1alpha1.MasterRole, pointer))
	if _, err := w.look().PublishData(t.Context()); err != nil {
		t.Fatal(err)
	}
	altered := w.stored()
	altered.Data = map[string][]byte{"value": []byte("x")}
	altered.Labels = map[string]string{"theirs": "1"}
	if err := w.client.Update(t.Context(), altered); err != nil {
		t.Fatal(err)
	}
	if w.look().Facts().Secret.Right {
		t.Fatal("an altered Secret is right")
	}
	if _, err := w.look().PublishData(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.stored(); string(got.Data["value"]) != pointer || got.Labels["theirs"] != "1" || !w.look().Facts().Secret.Right {
		t.Errorf("put right it is %q with %v", got.Data, got.Labels)
	}
}

func TestObserve_compares_again_only_what_has_another_version(t *testing.T) {
	w := newWorld(t, same, made(v1alpha1.MasterRole, pointer))
	if _, err := w.look().PublishData(t.Context()); err != nil {
		t.Fatal(err)
	}
	digest := w.look().Facts().Payload.Digest
	asked := w.secrets
	if f := w.look().Facts(); w.secrets != asked || !f.Secret.Right || f.Payload.Digest != digest {
		t.Errorf("it asked %d times more, and has seen %+v", w.secrets-asked, f)
	}
	altered := w.stored()
	altered.Data = map[string][]byte{"value": []byte("x")}
	if err := w.client.Update(t.Context(), altered); err != nil {
		t.Fatal(err)
	}
	if w.look().Facts().Secret.Right {
		t.Error("an altered Secret is right")
	}
	w.phases.Forget("fleet/a-0")
	if w.phases.remembered("fleet/a-0") != (known{}) {
		t.Error("it is remembered when it is gone")
	}
}

func TestPublishData_makes_a_Secret_of_another_type_anew(t *testing.T) {
	w := newWorld(t, same, made(v1alpha1.MasterRole, pointer))
	if _, err := w.look().PublishData(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := w.stored()
	other.Type = corev1.SecretTypeOpaque
	if err := w.client.Update(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := w.look().PublishData(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.stored(); got.Type != clusterv1.ClusterSecretType || !w.look().Facts().Secret.Right {
		t.Errorf("its type is %s", got.Type)
	}
}

func TestPublishData_fails_where_a_Secret_cannot_be_read_so_that_its_limits_are_judged(t *testing.T) {
	w := newWorld(t, same, made(v1alpha1.MasterRole, pointer))
	w.unread = apierrors.NewForbidden(corev1.Resource("secrets"), "a-ignition-master", errors.New("the right was taken away"))
	p := w.look()
	if f := p.Facts(); !f.Seen || f.Payload.Known || f.Secret.Known || !strings.Contains(f.Unseen, "forbidden") {
		t.Errorf("seen was %+v", f)
	}
	if _, err := p.PublishData(t.Context()); !apierrors.IsForbidden(err) {
		t.Errorf("it ended with %v", err)
	}
}

func TestPublishData_looks_again_where_somebody_was_faster(t *testing.T) {
	w := newWorld(t, same, made(v1alpha1.MasterRole, pointer))
	first, second := w.look(), w.look()
	if _, err := first.PublishData(t.Context()); err != nil {
		t.Fatal(err)
	}
	if result, err := second.PublishData(t.Context()); err != nil || result.LookAgain == 0 {
		t.Errorf("it ended with %+v, %v", result, err)
	}
}

func TestPublishData_merges_what_the_spec_names(t *testing.T) {
	named := func(c *v1alpha1.OpenShiftConfig, _ *clusterv1.Machine) {
		c.Spec.OverridesSecretRef = &v1alpha1.LocalReference{Name: "more"}
	}
	more := func(text string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "more"}, Data: map[string][]byte{"value": []byte(text)}}
	}
	w := newWorld(t, named, made(v1alpha1.MasterRole, pointer))
	if f := w.look().Facts(); f.Payload.There || !strings.Contains(f.Payload.Missing, "Secret more") {
		t.Errorf("without the Secret: %+v", f.Payload)
	}
	w = newWorld(t, named, made(v1alpha1.MasterRole, pointer), more(overrides))
	if _, err := w.look().PublishData(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := string(w.stored().Data["value"]); !strings.Contains(got, `"name":"core"`) || !strings.Contains(got, "api-int.a.example.com") {
		t.Errorf("merged is %s", got)
	}
	for name, row := range map[string]struct{ payload, more string }{
		"overrides that are not valid": {pointer, `{"ignition":{"version":"9.9.9"}}`},
		"a payload that is not valid":  {`{}`, overrides},
	} {
		p := newWorld(t, named, made(v1alpha1.MasterRole, row.payload), more(row.more)).look()
		if _, err := p.PublishData(t.Context()); !machine.IsTerminal(err) || !p.Facts().Secret.Known || p.Facts().Payload.Digest == "" {
			t.Errorf("%s: %v, with %+v", name, err, p.Facts())
		}
	}
}

func TestPublishData_has_a_machine_fetch_what_fits_into_no_Secret(t *testing.T) {
	large := `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/a","contents":{"source":"data:,` + strings.Repeat("a", 1<<20) + `"}}]}}`
	uploaded := made(v1alpha1.MasterRole, large)
	uploaded.Annotations[v1alpha1.PayloadURLAnnotation] = "https://a.example.com/master.ign"
	plane := &v1alpha1.OpenShiftControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a", UID: "p1"}}
	byStub := plane.DeepCopy()
	byStub.Spec.Ignition.Delivery = v1alpha1.StubDelivery

	p := newWorld(t, same, plane, uploaded).look()
	if _, err := p.PublishData(t.Context()); !machine.IsTerminal(err) || !strings.Contains(err.Error(), "spec.ignition.delivery") {
		t.Errorf("by a Secret: %v", err)
	}
	if f := newWorld(t, same, byStub, made(v1alpha1.MasterRole, large)).look().Facts().Payload; f.There || !strings.Contains(f.Missing, v1alpha1.PayloadURLAnnotation) {
		t.Errorf("before it is uploaded: %+v", f)
	}
	w := newWorld(t, same, byStub, uploaded)
	if _, err := w.look().PublishData(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := string(w.stored().Data["value"])
	if !strings.Contains(got, `"source":"https://a.example.com/master.ign"`) || !strings.Contains(got, "sha512-") || len(got) > 1<<10 {
		t.Errorf("the stub is %s", machine.Shorten(got, 500))
	}
	named := func(c *v1alpha1.OpenShiftConfig, _ *clusterv1.Machine) {
		c.Spec.OverridesSecretRef = &v1alpha1.LocalReference{Name: "more"}
	}
	more := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "more"}, Data: map[string][]byte{"value": []byte(overrides)}}
	if _, err := newWorld(t, named, byStub, uploaded, more).look().PublishData(t.Context()); !machine.IsTerminal(err) {
		t.Errorf("with overrides: %v", err)
	}
}

func TestObserve_reads_only_Secrets_that_the_state_asks_of(t *testing.T) {
	for state, want := range map[string]int{
		`{"state":"Pending"}`: 1, `null`: 1, `{"state":"AwaitingPayload"}`: 1, `{"state":"Publishing"}`: 1, `{"state":"Ready"}`: 2,
	} {
		w := newWorld(t, in(state), made(v1alpha1.MasterRole, pointer))
		if f := w.look().Facts(); !f.Payload.There || f.Payload.Digest == "" || f.Secret != (guards.Secret{Known: true}) || w.secrets != want {
			t.Errorf("%s: %+v, %+v after %d requests", state, f.Payload, f.Secret, w.secrets)
		}
	}
}

// in has a config be in a state.
func in(record string) func(*v1alpha1.OpenShiftConfig, *clusterv1.Machine) {
	return func(c *v1alpha1.OpenShiftConfig, _ *clusterv1.Machine) { c.Status.Machine.Raw = []byte(record) }
}

func TestObserve_reads_a_payload_that_is_waited_for_once(t *testing.T) {
	w := newWorld(t, in(`{"state":"AwaitingPayload"}`), made(v1alpha1.MasterRole, pointer))
	first := w.look().Facts()
	if again := w.look().Facts(); again != first || w.secrets != 1 {
		t.Errorf("%d requests, and first it was %+v, then %+v", w.secrets, first, again)
	}
	other := made(v1alpha1.MasterRole, `{"ignition":{"version":"3.2.0"}}`)
	if err := w.client.Update(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if again := w.look().Facts(); again.Payload.Digest == first.Payload.Digest || w.secrets != 2 {
		t.Errorf("%d requests, and another payload is %+v", w.secrets, again)
	}
}

func TestObserve_does_not_know_of_a_Secret_that_was_left_whether_it_is_right(t *testing.T) {
	left := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a-0"}}
	w := newWorld(t, in(`{"state":"AwaitingPayload"}`), made(v1alpha1.MasterRole, pointer), left)
	if f := w.look().Facts(); f.Secret.Known || !f.Payload.There {
		t.Errorf("it is %+v, %+v", f.Payload, f.Secret)
	}
}

func TestObserve_says_what_is_missing(t *testing.T) {
	others := made(v1alpha1.MasterRole, pointer)
	others.OwnerReferences = nil
	for name, row := range map[string]struct {
		change func(*v1alpha1.OpenShiftConfig, *clusterv1.Machine)
		more   []client.Object
		says   string
	}{
		"the payload":          {same, nil, "OpenShiftControlPlane a has not made the Ignition config of a master yet"},
		"a payload of its own": {same, []client.Object{others}, "has not made"},
		"one of another role":  {same, []client.Object{made(v1alpha1.WorkerRole, pointer)}, "of a master"},
		"that of a named control plane": {func(c *v1alpha1.OpenShiftConfig, _ *clusterv1.Machine) {
			c.Spec.ControlPlaneRef = &v1alpha1.LocalReference{Name: "b"}
		}, []client.Object{made(v1alpha1.MasterRole, pointer)}, "OpenShiftControlPlane b"},
		"a Cluster": {func(_ *v1alpha1.OpenShiftConfig, m *clusterv1.Machine) { m.Spec.ClusterName = "d" }, nil, "which Cluster"},
	} {
		w := newWorld(t, row.change, row.more...)
		p := w.look()
		if f := p.Facts().Payload; !f.Known || f.There || !strings.Contains(f.Missing, row.says) {
			t.Errorf("%s: %+v", name, f)
		}
		if _, err := p.PublishData(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestObserve_asks_for_no_Secret_once_the_machine_was_started(t *testing.T) {
	w := newWorld(t, func(_ *v1alpha1.OpenShiftConfig, m *clusterv1.Machine) { m.Status.NodeRef.Name = "n" }, made(v1alpha1.MasterRole, pointer))
	p := w.look()
	if w.secrets != 0 || p.Facts().Payload.Known {
		t.Errorf("it asked %d times, and has seen %+v", w.secrets, p.Facts().Payload)
	}
	if _, err := p.PublishData(t.Context()); err != nil {
		t.Error(err)
	}
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: "fleet", Name: "a-0"}, &corev1.Secret{}); !apierrors.IsNotFound(err) {
		t.Errorf("a Secret was written (%v)", err)
	}
}

func TestPublishData_takes_no_payload_that_was_altered_or_is_another_control_planes(t *testing.T) {
	altered := made(v1alpha1.MasterRole, pointer)
	altered.Data[payload.ValueKey] = []byte(`{"ignition":{"version":"3.2.0"}}`)
	former := &v1alpha1.OpenShiftControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a", UID: "p2"}}
	for says, objects := range map[string][]client.Object{
		"was altered": {altered}, "has not made": {made(v1alpha1.MasterRole, pointer), former},
	} {
		p := newWorld(t, same, objects...).look()
		if f := p.Facts().Payload; !f.Known || f.There || !strings.Contains(f.Missing, says) {
			t.Errorf("of a payload that %s it says %+v", says, f)
		}
	}
}
