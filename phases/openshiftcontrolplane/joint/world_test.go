package joint

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/machine/machinetest"
	"github.com/capstan-capi/capstan/phases/guest"
	"github.com/capstan-capi/capstan/phases/images"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/openshiftcontrolplane/inputs"
	"github.com/capstan-capi/capstan/phases/openshiftcontrolplane/machines"
	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/keys"
	"github.com/capstan-capi/capstan/phases/phasestest"
	"github.com/capstan-capi/capstan/phases/release"
)

var (
	noon          = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	infraGV       = schema.GroupVersion{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2"}
	infraKind     = infraGV.WithKind("BoxMachine")
	infraTemplate = infraGV.WithKind("BoxMachineTemplate")
	newRelease    = "registry.example.com/release@sha256:" + strings.Repeat("0", 64)
)

type ledger = machinetest.Ledger[phases.Works]

// world is a management plane with one OpenShiftControlPlane, in which the works are done by all rooms together and noted.
type world struct {
	t       *testing.T
	api     client.WithWatch
	phases  *Phases
	guest   *answering
	changed chan client.ObjectKey
	counter *phasestest.Counter
	ledger  *ledger
	now     time.Time
	// says is what machines hear of the guest, nil for what was asked of it.
	says *machines.Guest
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newWorld(t *testing.T, l *ledger, change ...func(*v1alpha1.OpenShiftControlPlane)) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		v1alpha1.AddToScheme, clusterv1.AddToScheme, corev1.AddToScheme, batchv1.AddToScheme, rbacv1.AddToScheme, apiextensionsv1.AddToScheme, metav1.AddMetaToScheme,
	} {
		must(t, add(scheme))
	}
	for _, kind := range []schema.GroupVersionKind{infraKind, infraTemplate} {
		scheme.AddKnownTypeWithName(kind, &unstructured.Unstructured{})
		scheme.AddKnownTypeWithName(kind.GroupVersion().WithKind(kind.Kind+"List"), &unstructured.UnstructuredList{})
	}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{infraGV, clusterv1.GroupVersion, v1alpha1.GroupVersion, batchv1.SchemeGroupVersion, corev1.SchemeGroupVersion})
	for kind := range scheme.AllKnownTypes() {
		mapper.Add(kind, meta.RESTScopeNamespace)
	}
	w := &world{t: t, guest: newGuest(t), changed: make(chan client.ObjectKey, 100), ledger: l, counter: &phasestest.Counter{Words: wordFor}}
	w.guest.counter = w.counter
	w.api = fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).
		WithStatusSubresource(&clusterv1.Machine{}, &v1alpha1.OpenShiftControlPlane{}).WithObjects(w.objects(change)...).Build()
	var uids int
	c := w.counter.Watch(interceptor.NewClient(w.api, interceptor.Funcs{
		Create: func(ctx context.Context, next client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			uids++
			o.SetUID(types.UID(fmt.Sprintf("u%d", uids)))
			return next.Create(ctx, o, opts...)
		},
	}))
	w.now = noon
	now := func() time.Time { return w.now }
	resolver := inputs.New(c, w.api, releases{}, now)
	resolver.CollectImage = "registry.example.com/capstan-provider:1"
	w.phases = &Phases{
		Reader: c, Inputs: resolver, Machines: machines.New(c, w.api, now), Now: now,
		Guests: guest.New(c, w.api, resolver, guest.Options{Changed: func(key client.ObjectKey) { w.changed <- key }}),
	}
	return w
}

// wordFor is what works call a write.
func wordFor(w phasestest.Write) string {
	switch w.Kind {
	case infraKind.Kind:
		return "infrastructure machines"
	case infraTemplate.Kind:
		return "ownerReferences of templates"
	case "OpenShiftControlPlane":
		if fmt.Sprint(w.Before.GetFinalizers()) != fmt.Sprint(w.Object.GetFinalizers()) {
			return "finalizers of OpenShiftControlPlane"
		}
		return "annotations of OpenShiftControlPlane"
	}
	return w.Word()
}

// releases are those of a registry that has one.
type releases struct{}

func (releases) Resolve(context.Context, string, release.Policy, images.Access) (release.Release, error) {
	ref, err := images.ParseRef(newRelease)
	return release.Release{Image: ref, Version: "4.22.1"}, err
}

// authorities are made once, since their keys take long.
var authorities = sync.OnceValues(func() (secret.Certificates, error) {
	all := keys.Authorities()
	return all, all.Generate()
})

// objects are what people have asked for, and the authorities of the Cluster.
func (w *world) objects(change []func(*v1alpha1.OpenShiftControlPlane)) []client.Object {
	w.t.Helper()
	plane := &v1alpha1.OpenShiftControlPlane{ObjectMeta: metav1.ObjectMeta{
		Namespace: "fleet", Name: "a", UID: "p1", Annotations: map[string]string{},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c", UID: "c1"}},
	}}
	plane.Spec.Replicas = new(int32(3))
	plane.Spec.Management = v1alpha1.Managed
	plane.Spec.ReleaseImage = newRelease
	plane.Spec.InstallStateSecretRef.Name = "inputs"
	plane.Spec.MachineTemplate.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: infraGV.Group, Kind: infraTemplate.Kind, Name: "masters"}
	for _, how := range change {
		how(plane)
	}
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "c", UID: "c1"}}
	cluster.Spec.ControlPlaneEndpoint = w.guest.endpoint(w.t)
	config, err := os.ReadFile("../../payload/testdata/small/install-config.yaml")
	must(w.t, err)
	template := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"size": "large"}}}}}
	template.SetGroupVersionKind(infraTemplate)
	template.SetNamespace("fleet")
	template.SetName("masters")
	objects := []client.Object{
		plane, cluster, template,
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "inputs"}, Data: map[string][]byte{payload.ConfigKey: config}},
	}
	for _, plural := range []string{"boxmachines", "boxmachinetemplates"} {
		objects = append(objects, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
			Name: plural + "." + infraGV.Group, Labels: map[string]string{"cluster.x-k8s.io/v1beta2": infraGV.Version},
		}})
	}
	all, err := authorities()
	must(w.t, err)
	for _, one := range all {
		objects = append(objects, one.AsSecret(client.ObjectKey{Namespace: "fleet", Name: "c"}, metav1.OwnerReference{}))
	}
	return objects
}

// frozen is an OpenShiftControlPlane whose inputs are frozen.
func frozen(p *v1alpha1.OpenShiftControlPlane) { p.Annotations[v1alpha1.InputsMark] = "d" }

// do does actions in a state, each after a look of its own.
func (w *world) do(state machine.State, actions ...machine.Action[phases.Works]) machine.Result {
	w.t.Helper()
	var result machine.Result
	for _, action := range actions {
		edit(w, &v1alpha1.OpenShiftControlPlane{}, "a", func(p *v1alpha1.OpenShiftControlPlane) {
			p.Status.State, p.Status.Machine.Raw = string(state), fmt.Appendf(nil, `{"state":%q}`, state)
		})
		_, works, err := w.phases.Observe(w.t.Context(), "fleet/a")
		must(w.t, err)
		if pass, is := works.(*Pass); is && w.says != nil {
			pass.machines.Hear(*w.says)
		}
		if result, err = w.ledger.Note(action, w.counter.Written).Run(w.t.Context(), works); err != nil {
			w.t.Fatalf("%s: %v", action.Name, err)
		}
	}
	return result
}

// edit changes an object as somebody else does.
func edit[O client.Object](w *world, o O, name string, how func(O)) {
	w.t.Helper()
	must(w.t, w.api.Get(w.t.Context(), client.ObjectKey{Namespace: "fleet", Name: name}, o))
	how(o)
	status, _ := o.DeepCopyObject().(client.Object)
	must(w.t, w.api.Update(w.t.Context(), o))
	status.SetResourceVersion(o.GetResourceVersion())
	must(w.t, client.IgnoreNotFound(w.api.Status().Update(w.t.Context(), status)))
}

func plane(w *world, how func(*v1alpha1.OpenShiftControlPlane)) {
	w.t.Helper()
	edit(w, &v1alpha1.OpenShiftControlPlane{}, "a", how)
}

// provisions does what a provider and Cluster API do: Machines get their infrastructure and a Node.
func (w *world) provisions() {
	w.t.Helper()
	list := &clusterv1.MachineList{}
	must(w.t, w.api.List(w.t.Context(), list))
	for i := range list.Items {
		edit(w, &clusterv1.Machine{}, list.Items[i].Name, func(m *clusterv1.Machine) {
			m.Status.Initialization.InfrastructureProvisioned = new(true)
			m.Status.NodeRef.Name = "node-of-" + m.Name
			m.Status.Addresses = clusterv1.MachineAddresses{{Type: clusterv1.MachineInternalIP, Address: "ip-of-" + m.Name}}
			m.Status.Conditions = []metav1.Condition{{Type: clusterv1.MachineInfrastructureReadyCondition, Status: metav1.ConditionTrue, Reason: "Played"}}
		})
	}
	w.now = w.now.Add(later)
}

// later is for longer than requests are remembered that were made a moment ago.
const later = time.Minute

// loses has an object gone that nobody of ours has deleted.
func (w *world) loses(o client.Object, name string) {
	w.t.Helper()
	o.SetNamespace("fleet")
	o.SetName(name)
	must(w.t, w.api.Delete(w.t.Context(), o))
	w.now = w.now.Add(later)
}

func (w *world) has(o client.Object, name string) bool {
	w.t.Helper()
	err := w.api.Get(w.t.Context(), client.ObjectKey{Namespace: "fleet", Name: name}, o)
	if !apierrors.IsNotFound(err) {
		must(w.t, err)
	}
	return err == nil
}

// ours gives the OpenShiftControlPlane an object that it controls.
func (w *world) ours(o client.Object, name string, annotations map[string]string) {
	w.t.Helper()
	of := &v1alpha1.OpenShiftControlPlane{}
	must(w.t, w.api.Get(w.t.Context(), client.ObjectKey{Namespace: "fleet", Name: "a"}, of))
	o.SetNamespace("fleet")
	o.SetName(name)
	o.SetUID(types.UID(fmt.Sprintf("%T of %s", o, name)))
	o.SetAnnotations(annotations)
	o.SetLabels(map[string]string{clusterv1.ClusterNameLabel: "c"})
	o.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(of, v1alpha1.GroupVersion.WithKind("OpenShiftControlPlane"))})
	must(w.t, w.api.Create(w.t.Context(), o))
}
