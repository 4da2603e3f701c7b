package guest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/crds"
	"github.com/capstan-capi/capstan/e2e/cluster"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/guest"
)

const (
	clusterID = "7d9a52f4-6b0c-4d53-9a5d-1f0c2c1a7c11"
	oldImage  = "registry.example.com/release@sha256:0000000000000000000000000000000000000000000000000000000000000000"
	newImage  = "registry.example.com/release@sha256:1111111111111111111111111111111111111111111111111111111111111111"
)

var newer = fixed{Image: newImage, Version: "4.22.2"}

// put creates an object, and gives it its status.
func put(ctx context.Context, o client.Object, status func()) {
	GinkgoHelper()
	Expect(objects.Create(ctx, o)).To(Succeed())
	if status != nil {
		status()
		Expect(objects.Status().Update(ctx, o)).To(Succeed())
	}
}

// etcds is the definition of the kind, as the module of its types has it.
func etcds(ctx context.Context) string {
	GinkgoHelper()
	folder, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/openshift/api").Output()
	Expect(err).NotTo(HaveOccurred())
	return filepath.Join(strings.TrimSpace(string(folder)), "operator/v1/zz_generated.crd-manifests/0000_12_etcd_01_etcds-Default.crd.yaml")
}

var _ = Describe("A guest", Ordered, func() {
	It("that lacks the kinds of OpenShift is neither healthy nor complete", func(ctx SpecContext) {
		facts := look(plane.Kubeconfig(), "n0", newer).guestSays(ctx, false, func(f guards.Facts) bool { return f.Guest.Known })
		Expect(facts.Guest.Version).To(HavePrefix("v1."))
		Expect(facts.Guest.Complete).To(BeFalse())
		Expect(facts.Guest.EtcdAlone).To(BeFalse())
		Expect(guards.GuestIsHealthy.Answer(facts).Truth).To(Equal(machine.No))
	}, SpecTimeout(patience))

	It("tells of bootstrap, Nodes, etcd and operators as OpenShift's definitions have them", func(ctx SpecContext) {
		text, err := os.ReadFile(etcds(ctx))
		Expect(err).NotTo(HaveOccurred())
		definition, err := crds.Parse(text)
		Expect(err).NotTo(HaveOccurred())
		Expect(crds.Install(ctx, plane.Config())).To(Succeed())
		Expect(crds.Establish(ctx, plane.Config(), definition)).To(Succeed())

		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n0"}, Spec: corev1.NodeSpec{ProviderID: "dev://n0"}}
		put(ctx, node, func() {
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		})
		put(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap"}, Data: map[string]string{"status": "complete"}}, nil)
		put(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "openshift-etcd"}}, nil)
		put(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-etcd", Name: "etcd-endpoints"}, Data: map[string]string{"x": "10.0.0.1"}}, nil)
		etcd := &operatorv1.Etcd{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}}
		etcd.Spec.ManagementState = operatorv1.Managed
		etcd.Spec.UnsupportedConfigOverrides, etcd.Spec.ObservedConfig = runtime.RawExtension{Raw: []byte(`{}`)}, runtime.RawExtension{Raw: []byte(`{}`)}
		put(ctx, etcd, func() {
			etcd.Status.Conditions = []operatorv1.OperatorCondition{
				{Type: "EtcdBootstrapMemberRemoved", Status: operatorv1.ConditionTrue, LastTransitionTime: metav1.Now()},
				{Type: "EtcdMembersAvailable", Status: operatorv1.ConditionTrue, Message: "1 members are available", LastTransitionTime: metav1.Now()},
			}
		})
		available := []configv1.ClusterOperatorStatusCondition{
			{Type: configv1.OperatorAvailable, Status: configv1.ConditionTrue, LastTransitionTime: metav1.Now()},
		}
		operator := &configv1.ClusterOperator{ObjectMeta: metav1.ObjectMeta{Name: "etcd"}}
		put(ctx, operator, func() {
			operator.Status.Conditions = available
			operator.Status.Versions = []configv1.OperandVersion{{Name: "operator", Version: "4.22.1"}}
		})
		version := &configv1.ClusterVersion{ObjectMeta: metav1.ObjectMeta{Name: "version"}}
		version.Spec.ClusterID = clusterID
		put(ctx, version, func() {
			version.Status.Conditions = available
			version.Status.Desired = configv1.Release{Image: oldImage, Version: "4.22.1"}
			version.Status.VersionHash = "x"
			done := metav1.Now()
			version.Status.History = []configv1.UpdateHistory{{State: configv1.CompletedUpdate, Image: oldImage, Version: "4.22.1", StartedTime: done, CompletionTime: &done}}
		})

		v := look(plane.Kubeconfig(), "n0", newer)
		facts := v.guestSays(ctx, false, func(f guards.Facts) bool { return f.Guest.Known })
		for _, guard := range []machine.Guard[guards.Facts]{guards.APIAnswers, guards.BootstrapIsComplete, guards.NodesAreReady, guards.EtcdIsAlone, guards.GuestIsHealthy} {
			Expect(guard.Answer(facts).Truth).To(Equal(machine.Yes), guard.Name)
		}
		Expect(facts.Guest.DistributionVersion).To(Equal("4.22.1"))
		seen, _ := v.see(ctx, false)
		Expect(seen.Etcd()).To(Equal(guest.Etcd{Known: true, Endpoints: []string{"10.0.0.1"}}))
	}, SpecTimeout(patience))

	It("is asked for another release once", func(ctx SpecContext) {
		v := look(plane.Kubeconfig(), "n0", newer)
		facts := v.guestSays(ctx, true, func(f guards.Facts) bool { return f.Upgrade.Known })
		Expect(guards.UpgradeIsWanted.Answer(facts).Truth).To(Equal(machine.Yes))
		seen, _ := v.see(ctx, true)
		result, err := seen.AskUpgrade(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(result.Did).To(Equal("asked the guest for release 4.22.2"))
		version := &configv1.ClusterVersion{}
		Expect(objects.Get(ctx, client.ObjectKey{Name: "version"}, version)).To(Succeed())
		Expect(version.Spec.DesiredUpdate).To(Equal(&configv1.Update{Image: newImage, Version: "4.22.2"}))
		Eventually(func() string {
			seen, _ := v.see(ctx, true)
			again, err := seen.AskUpgrade(ctx)
			Expect(err).NotTo(HaveOccurred())
			return again.Did
		}, patience).Should(BeEmpty())
	}, SpecTimeout(patience))

	It("that refuses credentials says so", func(ctx SpecContext) {
		kubeconfig, err := plane.KubeconfigFor("nobody")
		Expect(err).NotTo(HaveOccurred())
		facts := look(kubeconfig, "n0", newer).guestSays(ctx, true, func(f guards.Facts) bool { return f.Guest.APIProblem != "" })
		Expect(facts.Guest.APIProblem).To(ContainSubstring("refuses the credentials of the kubeconfig"))
		Expect(guards.GuestIsHealthy.Answer(facts).Truth).To(Equal(machine.Unknown))
	}, SpecTimeout(patience))

	It("that is down is one of which nothing is known, until it answers again", func(ctx SpecContext) {
		v := look(plane.Kubeconfig(), "n0", newer)
		v.guestSays(ctx, false, func(f guards.Facts) bool { return f.Guest.Known })
		plane.Kill(cluster.APIServer)
		facts := v.guestSays(ctx, false, func(f guards.Facts) bool { return !f.Guest.API })
		Expect(guards.BootstrapIsComplete.Answer(facts).Truth).To(Equal(machine.Unknown))
		Expect(facts.Guest.Silent).To(BeFalse())
		Expect(plane.Restart(ctx, cluster.APIServer)).To(Succeed())
		v.guestSays(ctx, false, func(f guards.Facts) bool { return f.Guest.Known })
	}, SpecTimeout(2*patience))
})
