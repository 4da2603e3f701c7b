package inputs

import (
	"cmp"
	"context"
	"errors"
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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/images"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/keys"
	"github.com/capstan-capi/capstan/phases/release"
)

var (
	noon     = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	key      = client.ObjectKey{Namespace: "fleet", Name: "a"}
	template = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2", Kind: "DevMachineTemplate"}
	image    = "registry.example.com/release@sha256:" + strings.Repeat("0", 64)
)

const definitionName = "devmachinetemplates.infrastructure.cluster.x-k8s.io"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// registry is what is asked for releases.
type registry struct {
	fails error
	asked []images.Access
	// tagged is what a tag stands for, the usual image where it is empty.
	tagged string
}

func (r *registry) Resolve(_ context.Context, reference string, policy release.Policy, access images.Access) (release.Release, error) {
	r.asked = append(r.asked, access)
	if r.fails != nil {
		return release.Release{}, r.fails
	}
	ref, err := images.ParseRef(reference)
	if policy == release.Tag {
		ref, err = images.ParseRef(cmp.Or(r.tagged, image))
	}
	return release.Release{Image: ref, Version: "4.22.1"}, err
}

// bench is a management plane, and the resolver that looks at it.
type bench struct {
	*Resolver
	t        *testing.T
	cluster  client.Client
	releases *registry
	now      time.Time
	// writes are the requests that have changed something, read those that were sent to the API server itself, in words.
	writes, read []string
	// refuse answers a write, nil for nothing against it.
	refuse func(what string) error
	// change is done to the facts of each look.
	change func(*guards.Facts)
}

func newBench(t *testing.T, objects ...client.Object) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, batchv1.AddToScheme, rbacv1.AddToScheme, v1alpha1.AddToScheme, clusterv1.AddToScheme, apiextensionsv1.AddToScheme, addKinds,
	} {
		must(t, add(scheme))
	}
	b := &bench{t: t, now: noon, releases: &registry{}}
	wrote := func(verb string, o client.Object) error {
		what := verb + " " + o.GetName()
		b.writes = append(b.writes, what)
		if b.refuse == nil {
			return nil
		}
		return b.refuse(what)
	}
	plain := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	b.cluster = interceptor.NewClient(plain, interceptor.Funcs{
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
		Patch: func(ctx context.Context, next client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if err := wrote("patch", o); err != nil {
				return err
			}
			return next.Patch(ctx, o, patch, opts...)
		},
		Delete: func(ctx context.Context, next client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if err := wrote("delete", o); err != nil {
				return err
			}
			return next.Delete(ctx, o, opts...)
		},
		Get: func(ctx context.Context, next client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, is := o.(*corev1.Secret); is {
				t.Errorf("Secret %s is read from the cache, which has only metadata", key.Name)
			}
			return next.Get(ctx, key, o, opts...)
		},
	})
	live := interceptor.NewClient(plain, interceptor.Funcs{
		Get: func(ctx context.Context, next client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			b.read = append(b.read, fmt.Sprintf("get %s", key.Name))
			return next.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, next client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			b.read = append(b.read, fmt.Sprintf("list %T", list))
			return next.List(ctx, list, opts...)
		},
	})
	b.restart(live)
	return b
}

// restart is a resolver of another process.
func (b *bench) restart(live client.Reader) {
	b.Resolver = New(b.cluster, live, b.releases, func() time.Time { return b.now })
	b.CollectImage = "registry.example.com/capstan-provider:1"
}

func addKinds(scheme *runtime.Scheme) error {
	scheme.AddKnownTypeWithName(template, &unstructured.Unstructured{})
	scheme.AddKnownTypeWithName(template.GroupVersion().WithKind(template.Kind+"List"), &unstructured.UnstructuredList{})
	return nil
}

// asked is an OpenShiftControlPlane whose Cluster is c, changed as asked for.
func asked(changes ...func(*v1alpha1.OpenShiftControlPlane)) *v1alpha1.OpenShiftControlPlane {
	p := &v1alpha1.OpenShiftControlPlane{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name, UID: "p1", Generation: 1,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c", UID: "c1"}},
	}}
	p.Spec.Replicas = new(int32(3))
	p.Spec.ReleaseImage = image
	p.Spec.InstallStateSecretRef.Name = "inputs"
	p.Spec.MachineTemplate.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: template.Group, Kind: template.Kind, Name: "t"}
	for _, change := range changes {
		change(p)
	}
	return p
}

func owner() *clusterv1.Cluster {
	c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "c", UID: "c1"}}
	c.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: "192.168.0.5", Port: 6443}
	return c
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("../../payload/testdata/small/" + name)
	must(t, err)
	return data
}

func made(name string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name}, Data: data}
}

// configured is the Secret of an install-config, with further fields at its end.
func configured(t testing.TB, further string) *corev1.Secret {
	return made("inputs", map[string][]byte{payload.ConfigKey: append(fixture(t, "install-config.yaml"), further...)})
}

func definition() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name: definitionName, Labels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1beta2"},
	}}
}

func machineTemplate() *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(template)
	o.SetNamespace(key.Namespace)
	o.SetName("t")
	return o
}

// authorities are made once, since their keys take long.
var authorities = sync.OnceValues(func() (secret.Certificates, error) {
	all := keys.Authorities()
	return all, all.Generate()
})

// whole is a management plane with all that is asked for, and with the authorities of the Cluster.
func whole(t *testing.T, changes ...func(*v1alpha1.OpenShiftControlPlane)) *bench {
	t.Helper()
	objects := []client.Object{asked(changes...), owner(), configured(t, ""), definition(), machineTemplate()}
	all, err := authorities()
	must(t, err)
	for _, one := range all {
		objects = append(objects, one.AsSecret(client.ObjectKey{Namespace: key.Namespace, Name: "c"}, metav1.OwnerReference{}))
	}
	return newBench(t, objects...)
}

// see is one look.
func (b *bench) see() (*Seen, guards.Facts) {
	b.t.Helper()
	look, err := phases.Read(b.t.Context(), b.cluster, key)
	must(b.t, err)
	facts := look.Facts(b.now)
	if b.change != nil {
		b.change(&facts)
	}
	seen, err := b.See(b.t.Context(), look, &facts)
	must(b.t, err)
	return seen, facts
}

// freeze resolves and freezes the inputs.
func (b *bench) freeze() {
	b.t.Helper()
	seen, facts := b.see()
	if answer := guards.InputsAreResolved.Answer(facts); answer.Truth != machine.Yes {
		b.t.Fatalf("the inputs are not resolved: %s", answer.Reason)
	}
	_, err := seen.FreezeInputs(b.t.Context())
	must(b.t, err)
}

// generate makes the payload once, and says whether it stands.
func (b *bench) generate() (machine.Answer, error) {
	b.t.Helper()
	seen, _ := b.see()
	_, err := seen.GenerateIgnition(b.t.Context())
	_, facts := b.see()
	return guards.PayloadStands.Answer(facts), err
}

// installed is a management plane with a payload.
func installed(t *testing.T, changes ...func(*v1alpha1.OpenShiftControlPlane)) *bench {
	t.Helper()
	b := whole(t, changes...)
	b.freeze()
	answer, err := b.generate()
	must(t, err)
	if answer.Truth != machine.Yes {
		t.Fatalf("the payload does not stand: %s", answer.Reason)
	}
	b.writes, b.read = nil, nil
	return b
}

// secret reads one as it is.
func (b *bench) secret(name string) *corev1.Secret {
	b.t.Helper()
	found := &corev1.Secret{}
	must(b.t, b.live.Get(b.t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: name}, found))
	return found
}

// edit changes an object as people do.
func edit[T client.Object](b *bench, o T, name string, change func(T)) {
	b.t.Helper()
	must(b.t, b.live.Get(b.t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: name}, o))
	change(o)
	must(b.t, b.cluster.Update(b.t.Context(), o))
}

func (b *bench) add(objects ...client.Object) {
	b.t.Helper()
	for _, o := range objects {
		must(b.t, b.cluster.Create(b.t.Context(), o))
	}
}

func (b *bench) remove(o client.Object) {
	b.t.Helper()
	must(b.t, b.cluster.Delete(b.t.Context(), o))
}

// anotherAuthority puts another authority of the guest's API into the place of the one that there is.
func (b *bench) anotherAuthority() {
	b.t.Helper()
	another, err := authorities()
	must(b.t, err)
	edit(b, &corev1.Secret{}, "c-ca", func(s *corev1.Secret) {
		s.Data = another.GetByPurpose(secret.EtcdCA).AsSecret(key, metav1.OwnerReference{}).Data
	})
}

var errBroken = errors.New("the API server is broken")

// broken answers no read of the API server itself.
type broken struct{ client.Reader }

func (broken) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errBroken
}

func (broken) List(context.Context, client.ObjectList, ...client.ListOption) error { return errBroken }
