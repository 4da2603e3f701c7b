package simulated

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/render/admission"
)

// operatorNamespace is where the operator and the list of images are.
const operatorNamespace = "openshift-cluster-api-operator"

// providersNamespace is where providers are.
const providersNamespace = "openshift-cluster-api"

// Release is the version that the operator was released with.
const Release = "4.22.5"

// noon is when everything begins.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// Cluster is a cluster in memory with an operator in it.
type Cluster struct {
	Images *Images
	Engine *Engine

	clock     *clocktesting.FakeClock
	stored    client.WithWatch
	cached    client.Client
	live      client.Reader
	announced bool
	// frozen is what caches that lag still show, by kind; nil: they do not lag.
	frozen map[string]client.Object
	// created counts ClusterAPI objects, each with a UID of its own.
	created int
	// listed is the release whose images are listed, empty for none.
	listed string
	// unwritable and unsaved fail the writes of ClusterAPI.status and of the ClusterOperator, unreadable all reads.
	unwritable, unsaved, unreadable error
	wrote                           StatusWrites
}

// StatusWrites counts the writes of the operator.
type StatusWrites struct {
	// ClusterAPI and ClusterOperator count writes of their status.
	ClusterAPI, ClusterOperator int
	// Stale counts those writes of ClusterAPI.status, tried or done, that came from a copy older than the last write,
	// as long as that one counts for more than what is shown, see package newest.
	Stale int
	// Fields counts what was changed in ClusterAPI.status, by the words that actions name it with.
	Fields map[string]int
	// last is the resourceVersion of the last write, made at.
	last string
	at   time.Time
}

// New is a cluster with nothing in it but the objects that every OpenShift has.
func New() *Cluster {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{configv1.Install, operatorv1alpha1.Install, corev1.AddToScheme, appsv1.AddToScheme, coordinationv1.AddToScheme, admissionregistrationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err) // schemes are made of code
		}
	}
	c := &Cluster{clock: clocktesting.NewFakeClock(noon), wrote: StatusWrites{Fields: map[string]int{}}}
	c.Images = newImages(c.Now)
	c.Engine = newEngine(c.announce)
	policy, binding := admission.Acts()
	c.stored = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&operatorv1alpha1.ClusterAPI{}, &configv1.ClusterOperator{}, &configv1.Infrastructure{}).
		WithObjects(
			&configv1.Infrastructure{ObjectMeta: metav1.ObjectMeta{Name: phases.Singleton}},
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: phases.ImagesConfigMap}},
			policy, binding,
		).Build()
	c.cached = interceptor.NewClient(c.stored, interceptor.Funcs{Get: c.getCached, SubResourceUpdate: c.updateStatus})
	c.live = interceptor.NewClient(c.stored, interceptor.Funcs{Get: c.getLive})
	return c
}

// nowhere is the API server of the clients that nothing is sent with.
type nowhere struct{}

func (nowhere) RoundTrip(request *http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("simulated: %s %s has nowhere to go", request.Method, request.URL)
}

// Start starts an operator: what the process before remembered is gone.
func (c *Cluster) Start() *phases.Phases {
	c.Thaw() // a new process has new caches
	c.Engine.restarted()
	p, err := phases.New(phases.Options{
		Client: c.cached, Live: c.live, REST: &rest.Config{Host: "http://simulated.invalid"}, HTTP: &http.Client{Transport: nowhere{}},
		Release: Release, OperatorNamespace: operatorNamespace, CAPINamespace: providersNamespace,
		Again: c.announce, Clock: c.clock, Log: logr.Discard(),
	})
	if err != nil {
		panic(err) // none of it looks at the cluster
	}
	p.Images, p.Engine = c.Images, c.Engine
	p.Contents = nil // what images may contain is judged before all that is simulated
	return p
}

// Now is the time of the cluster.
func (c *Cluster) Now() time.Time { return c.clock.Now().UTC() }

// Advance lets time go by; below zero the clock is set back.
func (c *Cluster) Advance(by time.Duration) { c.clock.SetTime(c.clock.Now().Add(by)) }

// Announced says whether something has asked for another pass since it was last asked.
func (c *Cluster) Announced() bool {
	announced := c.announced
	c.announced = false
	return announced
}

func (c *Cluster) announce() { c.announced = true }

// Writes is what the operator has written so far.
func (c *Cluster) Writes() StatusWrites { return c.wrote }

// Freeze lets the operator's caches show for ever what they show now; Thaw lets them see again.
func (c *Cluster) Freeze() {
	c.frozen = map[string]client.Object{kindOf(&operatorv1alpha1.ClusterAPI{}): nil, kindOf(&configv1.ClusterOperator{}): nil}
	if api := c.api(context.Background()); api != nil {
		c.frozen[kindOf(api)] = api
	}
	if operator := c.operator(context.Background()); operator != nil {
		c.frozen[kindOf(operator)] = operator
	}
}

// Thaw lets the caches see again.
func (c *Cluster) Thaw() { c.frozen = nil }

func kindOf(object client.Object) string { return fmt.Sprintf("%T", object) }

// getCached reads as the operator's caches show it.
func (c *Cluster) getCached(ctx context.Context, from client.WithWatch, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	if c.unreadable != nil {
		return c.unreadable
	}
	if copied, lags := c.frozen[kindOf(into)]; lags {
		switch into := into.(type) {
		case *operatorv1alpha1.ClusterAPI:
			if api, there := copied.(*operatorv1alpha1.ClusterAPI); there {
				api.DeepCopyInto(into)
				return nil
			}
		case *configv1.ClusterOperator:
			if operator, there := copied.(*configv1.ClusterOperator); there {
				operator.DeepCopyInto(into)
				return nil
			}
		}
		return notFound(key)
	}
	return from.Get(ctx, key, into, opts...)
}

func (c *Cluster) getLive(ctx context.Context, from client.WithWatch, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	if c.unreadable != nil {
		return c.unreadable
	}
	return from.Get(ctx, key, into, opts...)
}

// errUnreachable is what writes and reads meet that fail.
var errUnreachable = errors.New("the API server is not reachable")
