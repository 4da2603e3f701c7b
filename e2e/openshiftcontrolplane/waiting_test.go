package openshiftcontrolplane_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
)

// machines are the Machines among objects.
func machines(objects []string) (found []string) {
	for _, o := range objects {
		if strings.HasPrefix(o, "Machine ") {
			found = append(found, o)
		}
	}
	return found
}

var _ = Describe("A cluster that has to wait", func() {
	It("makes nothing while no Cluster owns it", func(ctx SpecContext) {
		image, err := world.Release(ctx, release)
		Expect(err).NotTo(HaveOccurred())
		asked := world.Ask(newKey(ctx), 1, image, "")
		before := append(objectsOf(ctx, asked.Key), "DevMachineTemplate one", "OpenShiftControlPlane one", "Secret one-install")
		Expect(world.Create(ctx, asked.Secret, asked.Template, asked.ControlPlane)).To(Succeed())
		stands(ctx, asked.Key, "Pending")
		Expect(objectsOf(ctx, asked.Key)).To(ConsistOf(before))

		Expect(world.Create(ctx, asked.DevCluster, asked.Cluster)).To(Succeed())
		has(ctx, asked.Key, "Machine one-0")
	}, SpecTimeout(2*patience))

	It("writes nothing but its status while it is paused, and goes on afterwards", func(ctx SpecContext) {
		image, err := world.Release(ctx, release)
		Expect(err).NotTo(HaveOccurred())
		asked := world.Ask(newKey(ctx), 1, image, "")
		asked.ControlPlane.SetAnnotations(map[string]string{"cluster.x-k8s.io/paused": ""})
		since := mark(ctx)
		Expect(world.Create(ctx, asked.Objects()...)).To(Succeed())
		says(ctx, asked.Key, "Paused", metav1.ConditionTrue, "")
		stands(ctx, asked.Key, "Paused")
		Expect(written(ctx, since, asked.Key).Except("events.k8s.io", "events")).To(HaveEach(HaveField("Subresource", "status")))

		Expect(refine(ctx, asked.ControlPlane, `{"metadata":{"annotations":{"cluster.x-k8s.io/paused":null}}}`)).To(Succeed())
		has(ctx, asked.Key, "Machine one-0")
	}, SpecTimeout(2*patience))

	It("makes no machine while nobody knows where its API will be, and goes on once that is known", func(ctx SpecContext) {
		asked, since := prepare(ctx, ""), mark(ctx)
		endpoint, _, _ := unstructured.NestedMap(asked.DevCluster.Object, "spec", "controlPlaneEndpoint")
		unstructured.RemoveNestedField(asked.DevCluster.Object, "spec", "controlPlaneEndpoint")
		// The provider in memory would choose one: what it does is played here, until it is let go on.
		asked.DevCluster.SetAnnotations(map[string]string{capiworld.HoldAnnotation: "", clusterv1.PausedAnnotation: ""})
		Expect(world.Create(ctx, asked.Objects()...)).To(Succeed())
		provisioned := client.RawPatch(types.MergePatchType, []byte(`{"status":{"initialization":{"provisioned":true}}}`))
		Expect(world.API.Status().Patch(ctx, asked.DevCluster, provisioned)).To(Succeed())
		waits(ctx, asked.Key, "AwaitingInfrastructure", "endpoint of Cluster one is not valid")
		Expect(made(ctx, since, asked.Key)).To(BeEmpty())

		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:null}},"spec":{"controlPlaneEndpoint":{"host":%q,"port":%d}}}`,
			clusterv1.PausedAnnotation, endpoint["host"], endpoint["port"])
		Expect(refine(ctx, asked.DevCluster, patch)).To(Succeed())
		has(ctx, asked.Key, "Machine one-0")
	}, SpecTimeout(2*patience))

	It("tells which Secret is missing, and goes on once it is there", func(ctx SpecContext) {
		image, err := world.Release(ctx, release)
		Expect(err).NotTo(HaveOccurred())
		asked := world.Ask(newKey(ctx), 1, image, "")
		Expect(world.Create(ctx, asked.Objects()[1:]...)).To(Succeed())
		says(ctx, asked.Key, "InputsValid", metav1.ConditionFalse, "one-install")
		Expect(machines(objectsOf(ctx, asked.Key))).To(BeEmpty())

		Expect(world.Create(ctx, asked.Secret)).To(Succeed())
		says(ctx, asked.Key, "InputsValid", metav1.ConditionTrue, "")
		has(ctx, asked.Key, "Machine one-0")
	}, SpecTimeout(2*patience))

	It("keeps the bootstrap machine while etcd has a member on it, though the bootstrap says that it is done", func(ctx SpecContext) {
		asked := ask(ctx, newKey(ctx), 1, "etcd,operators")
		stands(ctx, asked.Key, "Bootstrapping")
		has(ctx, asked.Key, "Machine one-bootstrap")
		eventually(ctx, "it to say what it waits for", func(ctx context.Context) error {
			standing, err := world.Standing(ctx, asked.Key)
			if err == nil && !strings.Contains(standing.Waits, "etcd") {
				err = errors.New("it waits for " + standing.Waits)
			}
			return err
		})
		has(ctx, asked.Key, "Machine one-bootstrap")

		Expect(world.Hold(ctx, asked.Key, "operators")).To(Succeed())
		stands(ctx, asked.Key, "Settling")
		Expect(machines(objectsOf(ctx, asked.Key))).To(ConsistOf("Machine one-0"))
	}, SpecTimeout(2*patience))

	It("keeps the bootstrap machine while one of three Nodes is Ready, though the bootstrap says that it is done", Label(long), func(ctx SpecContext) {
		since := mark(ctx)
		asked := ask(ctx, newKey(ctx), 3, "complete,etcd,operators")
		stands(ctx, asked.Key, "Bootstrapping")
		turns(ctx, asked.Key, "one-1", corev1.ConditionFalse)
		turns(ctx, asked.Key, "one-2", corev1.ConditionFalse)
		Expect(world.Hold(ctx, asked.Key, "operators")).To(Succeed())
		waits(ctx, asked.Key, "Bootstrapping", "1 of 3 Nodes of control-plane Machines are Ready, and 2 are needed")
		says(ctx, asked.Key, "BootstrapComplete", metav1.ConditionFalse, "")
		Consistently(func() []string { return deleted(ctx, since, asked.Key) }).WithTimeout(quiet).WithPolling(quiet / 3).Should(BeEmpty())
		has(ctx, asked.Key, "Machine one-bootstrap")

		turns(ctx, asked.Key, "one-1", corev1.ConditionTrue)
		stands(ctx, asked.Key, "Settling")
		Expect(deleted(ctx, since, asked.Key)).To(HaveExactElements("one-bootstrap"))
		Expect(machines(objectsOf(ctx, asked.Key))).To(ConsistOf("Machine one-0", "Machine one-1", "Machine one-2"))
		remove(ctx, asked.Key)
	}, SpecTimeout(3*patience))

	It("fails when the API does not answer in time, keeps its bootstrap machine, and goes on when it answers", Label(long), func(ctx SpecContext) {
		since := mark(ctx)
		asked := failed(ctx, newKey(ctx))
		Expect(machines(objectsOf(ctx, asked.Key))).To(ConsistOf("Machine one-0", "Machine one-bootstrap"))
		Expect(deleted(ctx, since, asked.Key)).To(BeEmpty())

		Expect(world.Hold(ctx, asked.Key, "")).To(Succeed())
		stands(ctx, asked.Key, "Installed")
	}, SpecTimeout(10*time.Minute))
})

// written are the writes of the provider in a cluster's namespace.
func written(ctx context.Context, since cluster.Mark, key capiworld.Key) cluster.RequestList {
	GinkgoHelper()
	all, err := world.Cluster.RequestsSince(ctx, since)
	Expect(err).NotTo(HaveOccurred())
	user := world.Manager(capiworld.Provider).User
	return all.Writes().Where(func(r cluster.Request) bool { return r.User == user && r.Namespace == key.Namespace })
}
