package openshiftcontrolplane_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/booted"
	"github.com/capstan-capi/capstan/e2e/capiworld"
)

// boot waits until the bootstrap machine of a cluster can boot, and has it boot.
func boot(ctx context.Context, key capiworld.Key) *booted.Guest {
	GinkgoHelper()
	has(ctx, key, "Secret "+key.Name+"-kubeconfig")
	eventually(ctx, "the data of the bootstrap machine", func(ctx context.Context) error {
		_, err := world.UserData(ctx, machineOf(key, "bootstrap"))
		return err
	})
	guest, err := world.Boot(ctx, key)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(guest.Stop()).To(Succeed()) })
	return guest
}

// join has the machine of a number get its configuration as a pointer, and its kubelet join the guest.
func join(ctx context.Context, guest *booted.Guest, key capiworld.Key, number int) {
	GinkgoHelper()
	of := machineOf(key, fmt.Sprint(number))
	var id string
	eventually(ctx, of.String()+" to be known to its infrastructure", func(ctx context.Context) (err error) {
		id, err = world.ProviderID(ctx, of)
		return err
	})
	config, err := world.UserData(ctx, of)
	Expect(err).NotTo(HaveOccurred())
	pointer, err := booted.PointerOf(config)
	Expect(err).NotTo(HaveOccurred())
	Expect(pointer.URL).To(Equal("https://api-int." + key.Name + ".example.com:22623/config/master"))
	Expect(pointer.Trusts).To(Equal(guest.Authority))
	Expect(guest.Join(ctx, of.Name, id)).To(Succeed())
}

func machineOf(key capiworld.Key, suffix string) capiworld.Key {
	return capiworld.Key{Namespace: key.Namespace, Name: key.Name + "-" + suffix}
}

var _ = Describe("A guest that boots from the data Secret of its bootstrap machine alone", func() {
	It("is the cluster that the kubeconfig leads to, has its manifests, and comes to Installed", func(ctx SpecContext) {
		const replicas = 3
		key := newKey(ctx)
		begun := time.Now()
		asked := ask(ctx, key, replicas, capiworld.StepAPI)
		guest := boot(ctx, key)
		for number := range replicas {
			join(ctx, guest, key, number)
		}
		stands(ctx, key, "Bootstrapping")
		Expect(guest.Complete(ctx)).To(Succeed())
		stands(ctx, key, "Settling")
		Expect(objectsOf(ctx, key)).NotTo(ContainElement(ContainSubstring("bootstrap")))
		image, _, err := unstructured.NestedString(asked.ControlPlane.Object, "spec", "releaseImage")
		Expect(err).NotTo(HaveOccurred())
		Expect(guest.Settle(ctx, release, image)).To(Succeed())
		stands(ctx, key, "Installed")
		AddReportEntry("seconds from asking to Installed", fmt.Sprintf("%.1f", time.Since(begun).Seconds()))

		By("reading the guest by the Secret that people use")
		config, err := clientcmd.RESTConfigFromKubeConfig(stored(ctx, key, key.Name+"-kubeconfig").Data["value"])
		Expect(err).NotTo(HaveOccurred())
		administrator, err := kubernetes.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		nodes, err := administrator.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(nodes.Items).To(HaveLen(replicas))
		pull := &corev1.Secret{}
		Expect(guest.API.Get(ctx, client.ObjectKey{Namespace: "openshift-config", Name: "pull-secret"}, pull)).To(Succeed())
		infrastructure := &configv1.Infrastructure{}
		Expect(guest.API.Get(ctx, client.ObjectKey{Name: "cluster"}, infrastructure)).To(Succeed())
		Expect(infrastructure.Status.ControlPlaneTopology).To(Equal(configv1.HighlyAvailableTopologyMode))
		says(ctx, key, "Available", metav1.ConditionTrue, "")

		remove(ctx, key)
	}, SpecTimeout(2*patience))
})
