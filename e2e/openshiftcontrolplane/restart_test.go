package openshiftcontrolplane_test

import (
	"context"
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
)

// quiet is for how long nothing is written by a provider that has seen all there is.
const quiet = 3 * time.Second

// restart starts the provider anew, which writes nothing of a cluster at rest, not when it has asked the guest either.
func restart(ctx context.Context, key capiworld.Key) {
	GinkgoHelper()
	provider := world.Manager(capiworld.Provider)
	Expect(provider.Stop()).To(Succeed())
	since := mark(ctx)
	Expect(provider.Start()).To(Succeed())
	eventually(ctx, "the guest to be asked", func(ctx context.Context) error {
		all, err := world.Cluster.RequestsSince(ctx, since)
		asks := func(r cluster.Request) bool {
			return r.User == provider.User && r.Verb == "get" && r.Resource == "secrets" && r.Name == key.Name+"-kubeconfig"
		}
		if err == nil && len(all.Where(asks)) == 0 {
			err = errors.New("its kubeconfig was not read")
		}
		return err
	})
	Consistently(func() cluster.RequestList { return written(ctx, since, key) }).WithTimeout(quiet).WithPolling(quiet / 3).Should(BeEmpty())
}

var _ = Describe("A suite whose provider was left dead", func() {
	It("has another one before the next spec, which works", func(ctx SpecContext) {
		world.Manager(capiworld.Provider).Kill()
		revived, err := world.Revive(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(revived).To(ConsistOf(capiworld.Provider))
		Expect(world.Revive(ctx)).To(BeEmpty())
		asked := prepare(ctx, "")
		Expect(world.Create(ctx, asked.Secret, asked.Template, asked.ControlPlane, asked.Cluster)).To(Succeed())
		stands(ctx, asked.Key, "AwaitingInfrastructure")
	}, SpecTimeout(2*patience))
})
