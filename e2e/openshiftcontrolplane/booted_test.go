package openshiftcontrolplane_test

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
)

// well is how long all operators of a guest have to be well before it is Installed.
const well = 30 * time.Second

var _ = Describe("A guest that boots from the data Secret of its bootstrap machine alone", func() {
	It("is the cluster that the kubeconfig leads to, has its manifests, and comes to Installed", func(ctx SpecContext) {
		const replicas = 3
		key := newKey(ctx)
		begun := time.Now()
		asked := ask(ctx, key, replicas, capiworld.StepAPI)
		guest, pointers, err := world.BringUp(ctx, asked, release)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { Expect(guest.Stop()).To(Succeed()) })
		Expect(pointers).To(HaveLen(replicas))
		Expect(pointers).To(HaveEach("https://api-int." + key.Name + ".example.com:22623/config/master"))
		AddReportEntry("seconds until the guest was up", fmt.Sprintf("%.1f", time.Since(begun).Seconds()))
		stands(ctx, key, "Installed")
		took := time.Since(begun)
		AddReportEntry("seconds from asking to Installed, and without those in which all has to be well",
			fmt.Sprintf("%.1f, %.1f", took.Seconds(), (took-well).Seconds()))
		Expect(objectsOf(ctx, key)).NotTo(ContainElement(ContainSubstring("bootstrap")))

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
