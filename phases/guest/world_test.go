package guest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/images"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/release"
)

var key = client.ObjectKey{Namespace: "fleet", Name: "a"}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// authority is that of all guests, made once since its key takes long.
var authority = sync.OnceValues(func() (*secret.Certificate, error) {
	c := &secret.Certificate{Purpose: secret.ClusterCA}
	return c, c.Generate()
})

// cluster is a guest: what it answers, by path, and what it was asked.
type cluster struct {
	*httptest.Server
	mu     sync.Mutex
	answer map[string]http.HandlerFunc
	asked  []string
	users  []string
	agents map[string]bool
}

// is answers with an object.
func is(object any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(object) }
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, `{"kind":"Status","message":"hunter2"}`)
	}
}

// set has a guest answer otherwise at a path, nil for a kind or object that it lacks.
func (c *cluster) set(path string, answer http.HandlerFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer[path] = answer
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.asked = append(c.asked, r.Method+" "+r.URL.Path)
	c.agents[r.UserAgent()] = true
	if len(r.TLS.PeerCertificates) > 0 {
		c.users = append(c.users, r.TLS.PeerCertificates[0].Subject.String())
	}
	answer := c.answer[r.URL.Path]
	c.mu.Unlock()
	if answer == nil {
		answer = status(http.StatusNotFound)
	}
	answer(w, r)
}

// questions are what was asked since the last time.
func (c *cluster) questions() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := c.asked
	c.asked = nil
	return asked
}

// newCluster is a guest that answers, and has nothing.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	ca, err := authority()
	must(t, err)
	certificate, err := certs.DecodeCertPEM(ca.KeyPair.Cert)
	must(t, err)
	signer, err := certs.DecodePrivateKeyPEM(ca.KeyPair.Key)
	must(t, err)
	key, err := certs.NewSigner("ECDSA-P256")
	must(t, err)
	serving, err := (&certs.Config{
		CommonName: "guest", AltNames: certs.AltNames{IPs: []net.IP{net.IPv4(127, 0, 0, 1)}}, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}).NewSignedCert(key, certificate, signer)
	must(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	c := &cluster{answer: map[string]http.HandlerFunc{
		readyPath: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }, versionPath: is(map[string]string{"gitVersion": "v1.35.2"}),
	}, agents: map[string]bool{}}
	c.Server = httptest.NewUnstartedServer(c)
	c.TLS = &tls.Config{
		MinVersion: tls.VersionTLS13, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: roots,
		Certificates: []tls.Certificate{{Certificate: [][]byte{serving.Raw}, PrivateKey: key}},
	}
	c.StartTLS()
	t.Cleanup(c.Close)
	return c
}

// asks is what release registries are asked for.
type asks struct {
	version, image string
	fails          error
	asked          int
}

func (a *asks) Asked(context.Context, phases.Look) (release.Release, error) {
	a.asked++
	return release.Release{Image: images.Ref(a.image), Version: a.version}, a.fails
}

// world is a management plane with one OpenShiftControlPlane, whose guest is a cluster.
type world struct {
	*Poller
	t       *testing.T
	guest   *cluster
	plane   client.Client
	clock   *clocktesting.FakeClock
	release *asks
	changed chan client.ObjectKey
	probed  chan bool
	// read are the requests that were sent to the API server itself, in words.
	read []string
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	w := &world{
		t: t, guest: newCluster(t), clock: clocktesting.NewFakeClock(time.Now()), release: &asks{},
		changed: make(chan client.ObjectKey, 100), probed: make(chan bool, 100),
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme, clusterv1.AddToScheme} {
		must(t, add(scheme))
	}
	ca, err := authority()
	must(t, err)
	objects = append(objects, asked(), w.owner(), ca.AsSecret(client.ObjectKey{Namespace: key.Namespace, Name: "c"}, metav1.OwnerReference{}))
	w.plane = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&v1alpha1.OpenShiftControlPlane{}).Build()
	live := interceptor.NewClient(w.plane.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, next client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			w.read = append(w.read, "get "+key.Name)
			return next.Get(ctx, key, o, opts...)
		},
	})
	w.Poller = New(w.plane, live, w.release, Options{
		Changed: func(key client.ObjectKey) { w.changed <- key }, Clock: w.clock,
		Probed: func(_ client.ObjectKey, _ time.Duration, answered bool) { w.probed <- answered },
	})
	return w
}

func asked() *v1alpha1.OpenShiftControlPlane {
	p := &v1alpha1.OpenShiftControlPlane{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name, UID: "p1", Annotations: map[string]string{v1alpha1.BootstrapMark: v1alpha1.BootstrapIntended},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c", UID: "c1"}},
	}}
	p.Spec.Replicas = new(int32(3))
	p.Spec.ReleaseImage = "registry.example.com/release@sha256:new"
	return p
}

// owner is the Cluster, whose endpoint is the guest's.
func (w *world) owner() *clusterv1.Cluster {
	c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "c", UID: "c1"}}
	at, err := url.Parse(w.guest.URL)
	must(w.t, err)
	port, err := strconv.Atoi(at.Port())
	must(w.t, err)
	c.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: at.Hostname(), Port: int32(port)}
	return c
}

// controlPlane is a Machine of the control plane, with its Node if that has a name.
func controlPlane(name, node, providerID string) *clusterv1.Machine {
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: "c", clusterv1.MachineControlPlaneLabel: ""},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(asked(), v1alpha1.GroupVersion.WithKind("OpenShiftControlPlane"))},
	}}
	m.Spec.ClusterName, m.Spec.ProviderID = "c", providerID
	m.Status.NodeRef.Name = node
	return m
}

// see is one look, of facts that are changed as asked for.
func (w *world) see(change ...func(*guards.Facts)) (*Seen, guards.Facts) {
	w.t.Helper()
	look, err := phases.Read(w.t.Context(), w.plane, key)
	must(w.t, err)
	facts := look.Facts(w.clock.Now())
	for _, change := range change {
		change(&facts)
	}
	seen, err := w.See(w.t.Context(), look, &facts)
	must(w.t, err)
	return seen, facts
}

// ask asks the guest once, as is done beside the passes, and looks at what came of it.
func (w *world) ask(change ...func(*guards.Facts)) guards.Facts {
	w.t.Helper()
	seen, _ := w.see(change...)
	if seen.guest == nil {
		w.t.Fatal("no guest is asked")
	}
	w.Poller.ask(w.t.Context(), seen.guest)
	_, facts := w.see(change...)
	return facts
}

// connected is a world whose kubeconfig is stored.
func connected(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	w := newWorld(t, objects...)
	seen, _ := w.see()
	if _, err := seen.ProbeAPI(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-seen.guest.wake // it would be asked at once
	return w
}

func (w *world) kubeconfig() *corev1.Secret {
	w.t.Helper()
	found := &corev1.Secret{}
	must(w.t, w.plane.Get(w.t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: "c-kubeconfig"}, found))
	return found
}

// finished has the bootstrap be over.
func finished(f *guards.Facts) { f.Marks.Finished = true }

// told takes what was told of changes.
func (w *world) told() (all []client.ObjectKey) {
	for {
		select {
		case one := <-w.changed:
			all = append(all, one)
		default:
			return all
		}
	}
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
