package openshiftcontrolplane_test

import (
	"context"
	"errors"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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

	It("fails when the API does not answer in time, keeps its machines, and goes on when it answers", Label(long), func(ctx SpecContext) {
		image, err := world.Release(ctx, release)
		Expect(err).NotTo(HaveOccurred())
		asked := world.Ask(newKey(ctx), 1, image, "api")
		Expect(unstructured.SetNestedField(asked.ControlPlane.Object, int64(5), "spec", "timeouts", "apiSeconds")).To(Succeed())
		Expect(world.Create(ctx, asked.Objects()...)).To(Succeed())
		stands(ctx, asked.Key, "Failed")
		Expect(machines(objectsOf(ctx, asked.Key))).To(ConsistOf("Machine one-0", "Machine one-bootstrap"))

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
