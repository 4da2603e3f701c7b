package bootgate

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	guards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/machine/machinetest"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/events"
	"github.com/capstan-capi/capstan/phases/phasestest"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// stream is a golden stream of one AMI, and of one image on GCP.
func stream(ami string) string {
	text, _ := json.Marshal(map[string]any{"architectures": map[string]any{"x86_64": map[string]any{
		"images": map[string]any{
			"aws": map[string]any{"regions": map[string]any{"us-east-1": map[string]any{"image": ami, "release": "9.6"}}},
			"gcp": map[string]any{"project": "rhcos-cloud", "name": "new"},
		},
	}}})
	return string(text)
}

// bench is a cluster, and the gate that looks at it.
type bench struct {
	*Phases
	t       *testing.T
	cluster client.Client
	now     time.Time
	// writes are the requests that would change something, in words.
	writes []string
	told   []events.Event
	// asked are the lists that were asked of the API server itself.
	asked []string
	// listed is called after each of those lists, nil for nothing.
	listed func()
	// refuse answers a write, nil for nothing against it.
	refuse func(what string) error
	// counter counts what is written, and ledger holds it against what works name.
	counter phasestest.Counter
	ledger  machinetest.Ledger[*Pass]
}

// works are all that write.
var works = []machine.Action[*Pass]{KeepConfig, RetireClones}

func newBench(t *testing.T, change func(*Options), objects ...client.Object) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, configv1.Install, operatorv1.Install, metav1.AddMetaToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range append(slices.Clone(templateUsers), Providers[0].Template, Providers[0].Machine, Providers[1].Template, Providers[1].Machine) {
		scheme.AddKnownTypeWithName(kind, &unstructured.Unstructured{})
		scheme.AddKnownTypeWithName(kind.GroupVersion().WithKind(kind.Kind+"List"), &unstructured.UnstructuredList{})
	}
	b := &bench{t: t, now: noon}
	b.counter.Words = func(w phasestest.Write) string {
		if w.Sub != "" {
			return w.Kind + "." + w.Sub
		}
		return w.Kind
	}
	t.Cleanup(func() { b.ledger.Check(t, false, works...) })
	wrote := func(what string, o client.Object) error {
		b.writes = append(b.writes, what+" "+o.GetName())
		if b.refuse == nil {
			return nil
		}
		return b.refuse(what)
	}
	plain := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().WithObjects(objects...).WithStatusSubresource(&operatorv1.MachineConfiguration{}).Build()
	b.cluster = interceptor.NewClient(b.counter.Watch(plain), interceptor.Funcs{
		Create: func(ctx context.Context, next client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if err := wrote("create", o); err != nil {
				return err
			}
			return next.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, next client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			if err := wrote("update", o); err != nil {
				return err
			}
			return next.Update(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, next client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if err := wrote("delete", o); err != nil {
				return err
			}
			return next.Delete(ctx, o, opts...)
		},
		List: func(ctx context.Context, next client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if _, is := list.(*unstructured.UnstructuredList); is {
				b.asked = append(b.asked, list.GetObjectKind().GroupVersionKind().Kind)
			}
			err := next.List(ctx, list, opts...)
			if _, is := list.(*unstructured.UnstructuredList); is && b.listed != nil {
				b.listed()
			}
			return err
		},
		SubResourcePatch: func(ctx context.Context, next client.Client, sub string, o client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			if err := wrote(sub+" by "+string(patch.Type()), o); err != nil {
				return err
			}
			return next.SubResource(sub).Patch(ctx, o, patch, opts...)
		},
	})
	limits, err := ParseLimits("4.13.0,9.2")
	if err != nil {
		t.Fatal(err)
	}
	before, err := ParseRelease("4.21")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Client: b.cluster, Apart: b.cluster, Known: b.cluster, Live: b.cluster, Untyped: b.cluster, Deletes: b.cluster,
		Board: bootboard.New(), Event: func(e events.Event) { b.told = append(b.told, e) }, Now: func() time.Time { return b.now }, Steady: func() time.Time { return b.now },
		OperatorNamespace: "ops", CAPINamespace: "capi", MachineAPI: true, ClusterAPI: true, GCPProject: "rhcos-cloud",
		Limits: limits, RollsOutBefore: before,
	}
	if change != nil {
		change(&o)
	}
	b.Phases = New(o)
	return b
}

// ready is a cluster in which all questions say Yes once the configuration is resolved.
func ready() []client.Object {
	infra := &configv1.Infrastructure{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}}
	infra.Status = configv1.InfrastructureStatus{
		InfrastructureName: "c-x1", ControlPlaneTopology: configv1.HighlyAvailableTopologyMode,
		PlatformStatus: &configv1.PlatformStatus{Type: configv1.AWSPlatformType, AWS: &configv1.AWSPlatformStatus{Region: "us-east-1"}},
	}
	version := &configv1.ClusterVersion{ObjectMeta: metav1.ObjectMeta{Name: "version"}}
	version.Status.History = history("4.22.1", "4.12.3")
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "m0", Labels: map[string]string{"node-role.kubernetes.io/master": ""}}}
	node.Status.NodeInfo.Architecture = "amd64"
	worker := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "w0"}}
	worker.Status.NodeInfo.Architecture = "arm64"
	return []client.Object{infra, version, node, worker, goldenMap("ami-1", "4.22.1"), configuration()}
}

func goldenMap(ami, release string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: GoldenNamespace, Name: GoldenConfigMap},
		Data:       map[string]string{"stream": stream(ami), "releaseVersion": release, "MCOReleaseImageVersion": release},
	}
}

func configuration() *operatorv1.MachineConfiguration {
	return &operatorv1.MachineConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "cluster", UID: "c", Generation: 3, Annotations: map[string]string{}}}
}

// look makes the look of a pass.
func (b *bench) look() (guards.Facts, *Pass) {
	b.t.Helper()
	f, pass, err := b.Observe(b.t.Context(), "cluster")
	if err != nil {
		b.t.Fatal(err)
	}
	return f, pass
}

// pass makes a pass with work, and posts what it comes to.
func (b *bench) pass(work machine.Action[*Pass]) (*Pass, machine.Result) {
	b.t.Helper()
	_, pass := b.look()
	result, err := b.ledger.Note(work, b.counter.Written).Run(b.t.Context(), pass)
	if err != nil {
		b.t.Fatal(err)
	}
	b.Board.Post(pass.Verdict())
	return pass, result
}

// configWrites are the writes to the MachineConfiguration.
func (b *bench) configWrites() []string {
	return slices.DeleteFunc(slices.Clone(b.writes), func(what string) bool { return !strings.HasSuffix(what, " "+Configuration) })
}

func (b *bench) config() *operatorv1.MachineConfiguration {
	b.t.Helper()
	config := &operatorv1.MachineConfiguration{}
	if err := b.cluster.Get(b.t.Context(), client.ObjectKey{Name: "cluster"}, config); err != nil {
		b.t.Fatal(err)
	}
	return config
}

// edit changes an object behind the gate's back.
func (b *bench) edit(o client.Object, change func()) {
	b.t.Helper()
	if err := b.cluster.Get(b.t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		b.t.Fatal(err)
	}
	change()
	changed := o.DeepCopyObject().(client.Object)
	err := b.cluster.Update(b.t.Context(), o) // takes no status, and returns the one that was there
	if _, is := o.(*operatorv1.MachineConfiguration); is && err == nil {
		changed.SetResourceVersion(o.GetResourceVersion())
		err = b.cluster.Status().Update(b.t.Context(), changed)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.writes = nil
}
