// Package guest_test asks a real control plane what guests are asked, with the definitions that OpenShift has: what paths, answers,
// credentials and refusals really are no server of a test's own can show. It is one of the few suites that call what they test in
// process: on a management plane a guest is a cluster of its own, and what is shown here is below what that shows. No operator of
// OpenShift runs here; its words are written by the specs.
package guest_test

import (
	"context"
	"os"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/e2e/cluster"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/guest"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/release"
)

// binaries is what make controlplane fills.
const binaries = "../../bin/controlplane"

// patience bounds every wait of the suite; a busy machine takes long.
const patience = time.Minute

var (
	key     = client.ObjectKey{Namespace: "fleet", Name: "a"}
	scheme  = kinds()
	plane   *cluster.Cluster
	objects client.Client
)

// kinds are those that a guest and its management plane have.
func kinds() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, configv1.Install, operatorv1.Install, v1alpha1.AddToScheme, clusterv1.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	return scheme
}

func TestGuest(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "What a guest is asked")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrllog.SetLogger(klog.NewKlogr())
	var err error
	plane, err = cluster.Start(ctx, cluster.Options{Binaries: binaries, Alone: true})
	Expect(err).NotTo(HaveOccurred())
	objects, err = client.New(plane.Config(), client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
}, NodeTimeout(2*time.Minute))

var _ = AfterSuite(func() {
	if plane != nil {
		Expect(plane.Stop()).To(Succeed())
	}
})

// fixed tells every OpenShiftControlPlane the same release.
type fixed release.Release

func (f fixed) Asked(context.Context, phases.Look) (release.Release, error) {
	return release.Release(f), nil
}

// view is a poller of the guest, by a kubeconfig of our making for some user, and what it says.
type view struct {
	poller  *guest.Poller
	manages client.Client
	stop    context.CancelFunc
	done    chan error
}

// look begins to ask the guest as somebody, whose control plane has one Machine of a Node.
func look(kubeconfig, node string, asked fixed) *view {
	GinkgoHelper()
	data, err := os.ReadFile(kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	owned := &v1alpha1.OpenShiftControlPlane{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name, UID: "p1",
		Annotations:     map[string]string{v1alpha1.BootstrapMark: "u1", v1alpha1.InitializedMark: "true", v1alpha1.BootstrapFinishedMark: "true"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c", UID: "c1"}},
	}}
	owned.Spec.Replicas = new(int32(1))
	owned.Spec.Management = v1alpha1.Managed
	owned.Spec.ReleaseImage = string(asked.Image)
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: "a-0", Labels: map[string]string{clusterv1.ClusterNameLabel: "c", clusterv1.MachineControlPlaneLabel: ""},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owned, v1alpha1.GroupVersion.WithKind("OpenShiftControlPlane"))},
	}}
	machine.Spec.ProviderID = "dev://" + node
	v := &view{done: make(chan error, 1)}
	v.manages = fake.NewClientBuilder().WithScheme(scheme).WithObjects(owned, machine,
		&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "c", UID: "c1"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: "c-kubeconfig",
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owned, v1alpha1.GroupVersion.WithKind("OpenShiftControlPlane"))},
		}, Data: map[string][]byte{"value": data}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "c-ca"}, Data: map[string][]byte{"tls.crt": plane.Config().CAData}},
	).Build()
	v.poller = guest.New(v.manages, v.manages, asked, guest.Options{})
	ctx, stop := context.WithCancel(context.Background())
	v.stop = stop
	go func() { v.done <- v.poller.Start(ctx) }()
	DeferCleanup(func() {
		v.stop()
		Eventually(v.done, patience).Should(Receive(BeNil()))
	})
	return v
}

// see is one look of a pass. The bootstrap counts as finished or not.
func (v *view) see(ctx context.Context, finished bool) (*guest.Seen, guards.Facts) {
	GinkgoHelper()
	look, err := phases.Read(ctx, v.manages, key)
	Expect(err).NotTo(HaveOccurred())
	facts := look.Facts(time.Now())
	facts.Marks.Finished = finished
	facts.Payload.Roles.Known = true
	if finished { // before that nobody has noted which cluster it is
		facts.Payload.ClusterID = clusterID
	}
	seen, err := v.poller.See(ctx, look, &facts)
	Expect(err).NotTo(HaveOccurred())
	return seen, facts
}

// guestSays waits until what is said of the guest is as asked for.
func (v *view) guestSays(ctx context.Context, finished bool, is func(guards.Facts) bool) guards.Facts {
	GinkgoHelper()
	var facts guards.Facts
	Eventually(func() bool {
		_, facts = v.see(ctx, finished)
		return is(facts)
	}, patience, 100*time.Millisecond).Should(BeTrue(), func() string { return "it says " + facts.Guest.APIProblem })
	return facts
}
