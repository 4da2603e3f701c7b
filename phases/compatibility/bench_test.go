package compatibility

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	guards "github.com/capstan-capi/capstan/guards/compatibility"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/machine/machinetest"
	"github.com/capstan-capi/capstan/phases/phasestest"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func widgets() *apiextensionsv1.CustomResourceDefinition {
	d := &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com", UID: "w", Generation: 1},
	}
	d.Spec.Group, d.Spec.Scope = "example.com", apiextensionsv1.NamespaceScoped
	d.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"}
	d.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{
		OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"size": {Type: "integer"}}},
	}}}
	return d
}

// bench is a cluster whose checker refuses, or not.
type bench struct {
	*Phases
	t       *testing.T
	refuses bool
	probes  int
	// reads counts those of the API server itself.
	reads int
	// blind has the cache show no requirement.
	blind bool
	// shows are the requirements that the cache shows, nil for all.
	shows []requirementsv1alpha1.CompatibilityRequirement
	// unserved has the API server itself answer 404 for the kind of requirements.
	unserved bool
	now      time.Time
	// counter counts what is written, and ledger holds it against what works name.
	counter phasestest.Counter
	ledger  machinetest.Ledger[*Pass]
}

// works are all that write.
var works = []machine.Action[*Pass]{KeepHooks, OpenHooks, RearmHooks, RemoveHooks}

// errUnserved is what an API server answers for a kind that it does not serve.
var errUnserved = apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{Group: requirementsv1alpha1.GroupName, Resource: "compatibilityrequirements"}, "", "404 page not found", 0, true)

func newBench(t *testing.T, objects ...client.Object) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{requirementsv1alpha1.AddToScheme, admissionregistrationv1.AddToScheme, discoveryv1.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	b := &bench{t: t, refuses: true, now: noon}
	plain := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().WithObjects(objects...).WithStatusSubresource(&requirementsv1alpha1.CompatibilityRequirement{}).Build()
	cluster := interceptor.NewClient(plain, interceptor.Funcs{
		Create: func(ctx context.Context, next client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if o.GetName() != probeName {
				return next.Create(ctx, o, opts...)
			}
			if b.probes++; b.refuses {
				return errors.New(`admission webhook "requirements.capstan.openshift.io" denied the request: it is empty`)
			}
			return nil
		},
		List: func(ctx context.Context, next client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if all, is := list.(*requirementsv1alpha1.CompatibilityRequirementList); is && (b.blind || b.shows != nil) {
				all.Items = b.shows
				return nil
			}
			return next.List(ctx, list, opts...)
		},
	})
	live := interceptor.NewClient(plain, interceptor.Funcs{
		Get: func(ctx context.Context, next client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, is := o.(*requirementsv1alpha1.CompatibilityRequirement); is && b.unserved {
				return errUnserved
			}
			b.reads++
			return next.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, next client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if b.unserved {
				return errUnserved
			}
			return next.List(ctx, list, opts...)
		},
	})
	t.Cleanup(func() { b.ledger.Check(t, false, works...) })
	b.Phases = &Phases{Client: b.counter.Watch(cluster), Live: live, Namespace: "ops", Now: func() time.Time { return b.now }}
	return b
}

// keptBench is one where the webhooks of a requirement that denies are in force, with the configurations that have them.
func keptBench(t *testing.T) (*bench, []*configuration) {
	t.Helper()
	b := newBench(t, needed(t, "Deny"), widgets(), endpoint())
	b.CA = []byte("ca")
	b.do(KeepHooks)
	both, err := b.configurationsOf(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	return b, both
}

func (b *bench) observe() (guards.Facts, *Pass) {
	b.t.Helper()
	f, pass, err := b.Observe(b.t.Context(), "one")
	if err != nil {
		b.t.Fatal(err)
	}
	return f, pass
}

// do looks, does a work, and looks again.
func (b *bench) do(work machine.Action[*Pass]) guards.Facts {
	b.t.Helper()
	_, pass := b.observe()
	if _, err := b.ledger.Note(work, b.counter.Written).Run(b.t.Context(), pass); err != nil {
		b.t.Fatal(err)
	}
	f, _ := b.observe()
	return f
}

// trust plays the service CA.
func (b *bench) trusts(name string) {
	b.t.Helper()
	both, err := b.configurationsOf(b.t.Context(), name)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range both {
		switch o := c.live.(type) {
		case *admissionregistrationv1.ValidatingWebhookConfiguration:
			o.Webhooks[0].ClientConfig.CABundle = []byte("ca")
		case *admissionregistrationv1.MutatingWebhookConfiguration:
			o.Webhooks[0].ClientConfig.CABundle = []byte("ca")
		default:
			continue
		}
		if err := b.Client.Update(b.t.Context(), c.live); err != nil {
			b.t.Fatal(err)
		}
	}
}

// policies are those of both configurations, V and M.
func (b *bench) policies() string {
	b.t.Helper()
	both, err := b.configurationsOf(b.t.Context(), "one")
	if err != nil {
		b.t.Fatal(err)
	}
	var all []string
	for _, c := range both {
		for _, a := range armaments(c.live) {
			all = append(all, c.kind[:1]+":"+string(a.policy))
		}
	}
	return strings.Join(all, " ")
}

// denied are the definitions in the entries that deny.
func (b *bench) denied() string {
	b.t.Helper()
	c := crdsConfiguration()
	if err := b.look(b.t.Context(), c); err != nil {
		b.t.Fatal(err)
	}
	live, _ := c.live.(*admissionregistrationv1.ValidatingWebhookConfiguration)
	return strings.Join(slices.Concat(places(denyPrefix, live)...), " ")
}

func needed(t *testing.T, objects requirementsv1alpha1.CRDAdmitAction) *requirementsv1alpha1.CompatibilityRequirement {
	t.Helper()
	data, err := yaml.Marshal(widgets())
	if err != nil {
		t.Fatal(err)
	}
	r := requirement("one", "", "", "Arming")
	r.UID, r.Generation = "u", 1
	r.Status.Conditions[0].ObservedGeneration = 1
	r.Spec.CompatibilitySchema.CustomResourceDefinition.Data = string(data)
	r.Spec.CompatibilitySchema.RequiredVersions.DefaultSelection = "StorageOnly"
	r.Spec.ObjectSchemaValidation.Action = objects
	return &r
}

func endpoint() *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "s", Labels: map[string]string{discoveryv1.LabelServiceName: Service}}, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}},
	}
}
