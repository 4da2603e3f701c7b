package machines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

var (
	noon          = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	planeKey      = client.ObjectKey{Namespace: "fleet", Name: "a"}
	infraGV       = schema.GroupVersion{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2"}
	infraKind     = infraGV.WithKind("BoxMachine")
	infraTemplate = infraGV.WithKind("BoxMachineTemplate")
)

func one[T any](value T) *T { return &value }

// world is an API server, in which whoever calls may be stopped, and what Cluster API's own controllers make of it.
type world struct {
	t *testing.T
	// api is the API server itself, client what the works write with.
	api, client client.Client
	// writes are those that were made, left how many may be made until the process is stopped, negative for any number.
	writes []string
	left   int
	// lost has the last of them made, and its answer lost.
	lost bool
	// created are UIDs of what was created, by kind and name.
	created map[string][]types.UID
	uids    int
	// refuse is what the API server says to a write or a live read, nil for nothing.
	refuse func(verb, what string) error
	// listing is told of a live list, by its kind, before it is made; nil for nobody.
	listing func(what string)
	// lag hides Machines from lists, as a cache does that is behind.
	lag   bool
	guest Guest
	maker *Maker
}

var errStopped = errors.New("the process was stopped")

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		v1alpha1.AddToScheme, clusterv1.AddToScheme, corev1.AddToScheme, batchv1.AddToScheme, rbacv1.AddToScheme, apiextensionsv1.AddToScheme, metav1.AddMetaToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []string{"BoxMachine", "BoxMachineTemplate"} {
		scheme.AddKnownTypeWithName(infraGV.WithKind(kind), &unstructured.Unstructured{})
		scheme.AddKnownTypeWithName(infraGV.WithKind(kind+"List"), &unstructured.UnstructuredList{})
	}
	w := &world{t: t, left: -1, created: map[string][]types.UID{}}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{infraGV, clusterv1.GroupVersion, v1alpha1.GroupVersion, batchv1.SchemeGroupVersion, corev1.SchemeGroupVersion})
	for kind := range scheme.AllKnownTypes() {
		mapper.Add(kind, meta.RESTScopeNamespace)
	}
	given := map[types.UID]bool{"": true}
	for i, object := range objects {
		if given[object.GetUID()] {
			object.SetUID(types.UID(fmt.Sprintf("given%d", i)))
		}
		given[object.GetUID()] = true
	}
	w.api = fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).
		WithStatusSubresource(&clusterv1.Machine{}, &v1alpha1.OpenShiftControlPlane{}).
		WithObjects(objects...).Build()
	w.client = interceptor.NewClient(w.api.(client.WithWatch), w.watched())
	live := interceptor.NewClient(w.api.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			object.SetName(key.Name)
			if w.refuse != nil {
				if err := w.refuse("read", w.name(object)); err != nil {
					return err
				}
			}
			return c.Get(ctx, key, object, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if w.listing != nil {
				kind, err := w.api.GroupVersionKindFor(list)
				if err != nil {
					t.Fatal(err)
				}
				w.listing(kind.Kind)
			}
			return c.List(ctx, list, options...)
		},
	})
	w.maker = New(w.client, live, func() time.Time { return noon })
	return w
}

// watched stops a process whose writes are used up, and gives UIDs as an API server does.
func (w *world) watched() interceptor.Funcs {
	write := func(verb string, object client.Object, do func() error) error {
		if w.left == 0 && !w.lost {
			return errStopped
		}
		w.left--
		w.writes = append(w.writes, verb+" "+w.name(object))
		if w.refuse != nil {
			if err := w.refuse(verb, w.name(object)); err != nil {
				return err
			}
		}
		if err := do(); err != nil {
			return err
		}
		if w.left == -1 && w.lost {
			w.lost = false
			return errStopped
		}
		return nil
	}
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			return write("create", object, func() error {
				w.uids++
				object.SetUID(types.UID(fmt.Sprintf("u%d", w.uids)))
				err := c.Create(ctx, object, options...)
				if err == nil {
					w.created[w.name(object)] = append(w.created[w.name(object)], object.GetUID())
				}
				return err
			})
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return write("delete", object, func() error { return c.Delete(ctx, object, options...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			return write("patch", object, func() error { return c.Patch(ctx, object, patch, options...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			return write("patch status of", object, func() error { return c.SubResource(sub).Patch(ctx, object, patch, options...) })
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, is := list.(*clusterv1.MachineList); is && w.lag {
				return nil
			}
			return c.List(ctx, list, options...)
		},
	}
}

func (w *world) name(object client.Object) string {
	kind, err := w.api.GroupVersionKindFor(object)
	if err != nil {
		w.t.Fatal(err)
	}
	return kind.Kind + " " + object.GetName()
}

// see looks as a pass does.
func (w *world) see() (*Seen, *guards.Facts) {
	w.t.Helper()
	look, err := phases.Read(w.t.Context(), w.api, planeKey)
	if err != nil {
		w.t.Fatal(err)
	}
	facts := look.Facts(noon)
	if look.Plane != nil {
		facts.Then.State = machine.State(look.Plane.Status.State) // as the record says
	}
	s, err := w.maker.See(w.t.Context(), look, &facts)
	if err != nil {
		w.t.Fatal(err)
	}
	s.Hear(w.guest)
	return s, &facts
}

type work = func(*Seen, context.Context) (machine.Result, error)

// do does a work once, after a look of its own.
func (w *world) do(work work) (machine.Result, error) {
	w.t.Helper()
	s, _ := w.see()
	return work(s, w.t.Context())
}

// must does a work that meets no error.
func (w *world) must(works ...work) {
	w.t.Helper()
	for _, work := range works {
		if _, err := w.do(work); err != nil {
			w.t.Fatal(err)
		}
	}
}

// again does a work twice.
func (w *world) again(work work) {
	w.t.Helper()
	for range 2 {
		w.must(work)
	}
}

// all are the names of all objects of the kinds that works make, with what tells one from another.
func (w *world) all() []string {
	w.t.Helper()
	var names []string
	for _, kind := range append([]schema.GroupVersionKind{machines, configs, infraKind, secrets, jobs}, besides...) {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := w.api.List(w.t.Context(), list); err != nil {
			w.t.Fatal(err)
		}
		for _, item := range list.Items {
			names = append(names, kind.Kind+" "+item.Name)
		}
	}
	slices.Sort(names)
	return names
}

// get reads an object from the API server.
func (w *world) get(object client.Object, name string) bool {
	w.t.Helper()
	err := w.api.Get(w.t.Context(), client.ObjectKey{Namespace: "fleet", Name: name}, object)
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
	return err == nil
}

func (w *world) machine(name string) *clusterv1.Machine {
	w.t.Helper()
	object := &clusterv1.Machine{}
	if !w.get(object, name) {
		w.t.Fatalf("there is no Machine %s", name)
	}
	return object
}

// blank is a Machine of a name that was not read.
func (*world) blank(name string) *clusterv1.Machine {
	return &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: name}}
}

func (w *world) plane() *v1alpha1.OpenShiftControlPlane {
	w.t.Helper()
	object := &v1alpha1.OpenShiftControlPlane{}
	if !w.get(object, "a") {
		w.t.Fatal("there is no OpenShiftControlPlane")
	}
	return object
}

func (w *world) infra(name string) *unstructured.Unstructured {
	w.t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(infraKind)
	if !w.get(object, name) {
		w.t.Fatalf("there is no infrastructure machine %s", name)
	}
	return object
}

// change writes an object as somebody else does.
func change[O client.Object](w *world, object O, how func(O)) {
	w.t.Helper()
	how(object)
	status, _ := object.DeepCopyObject().(client.Object)
	if err := w.api.Update(w.t.Context(), object); err != nil {
		w.t.Fatal(err)
	}
	status.SetResourceVersion(object.GetResourceVersion())
	if err := client.IgnoreNotFound(w.api.Status().Update(w.t.Context(), status)); err != nil {
		w.t.Fatal(err)
	}
}

// clusterAPI does what Cluster API and a provider do with Machines: takes config and infrastructure machine over, has them
// provisioned and gives them a Node, and on deletion takes them down before the Machine goes.
func (w *world) clusterAPI() {
	w.t.Helper()
	list := &clusterv1.MachineList{}
	if err := w.api.List(w.t.Context(), list); err != nil {
		w.t.Fatal(err)
	}
	for i := range list.Items {
		one := &list.Items[i]
		if !one.DeletionTimestamp.IsZero() {
			w.end(one)
			continue
		}
		if isProvisioned(one) {
			continue
		}
		change(w, one, func(m *clusterv1.Machine) {
			controllerutil.AddFinalizer(m, clusterv1.MachineFinalizer)
			yes := true
			m.Status.Initialization.InfrastructureProvisioned = &yes
			m.Status.NodeRef.Name = "node-of-" + m.Name
			meta.SetStatusCondition(&m.Status.Conditions, metav1.Condition{Type: clusterv1.MachineInfrastructureReadyCondition, Status: metav1.ConditionTrue, Reason: "Played"})
			m.Status.Addresses = clusterv1.MachineAddresses{{Type: clusterv1.MachineInternalIP, Address: ipOf(m.Name)}}
		})
		w.takeOver(one)
	}
}

// ipOf is the address inside the cluster that a provider gives the machine of a name.
func ipOf(name string) string {
	if i, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:]); err == nil {
		return fmt.Sprintf("10.1.0.%d", i+1)
	}
	return "10.1.0.200"
}

func (*world) parts(one *clusterv1.Machine) []client.Object {
	infra, config := &unstructured.Unstructured{}, &v1alpha1.OpenShiftConfig{}
	infra.SetGroupVersionKind(infraKind)
	for _, part := range []client.Object{infra, config} {
		part.SetNamespace(one.Namespace)
		part.SetName(one.Name)
	}
	return []client.Object{infra, config}
}

func (w *world) takeOver(one *clusterv1.Machine) {
	w.t.Helper()
	for _, part := range w.parts(one) {
		if !w.get(part, one.Name) {
			continue
		}
		part.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(one, machines)})
		if err := w.api.Update(w.t.Context(), part); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) end(one *clusterv1.Machine) {
	w.t.Helper()
	if slices.ContainsFunc(keysOf(one.Annotations), func(key string) bool { return strings.HasPrefix(key, clusterv1.PreTerminateDeleteHookAnnotationPrefix) }) {
		return
	}
	for _, part := range w.parts(one) {
		if err := client.IgnoreNotFound(w.api.Delete(w.t.Context(), part)); err != nil {
			w.t.Fatal(err)
		}
	}
	controllerutil.RemoveFinalizer(one, clusterv1.MachineFinalizer)
	if err := w.api.Update(w.t.Context(), one); err != nil && !apierrors.IsNotFound(err) {
		w.t.Fatal(err)
	}
}

func keysOf(all map[string]string) []string {
	var keys []string
	for key := range all {
		keys = append(keys, key)
	}
	return keys
}
