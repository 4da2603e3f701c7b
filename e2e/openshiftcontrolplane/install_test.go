package openshiftcontrolplane_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/capiworld"
)

// release is one that guests say they have.
const release = "4.22.0"

// long labels what the reduced suite leaves out.
const long = "long"

var _ = Describe("A cluster of OpenShift", func() {
	It("of one control-plane machine reaches Installed, and leaves nothing when it is deleted", func(ctx SpecContext) {
		key := newKey(ctx)
		since := mark(ctx)
		install(ctx, key)
		Expect(bootstraps(ctx, since, key)).To(HaveLen(1), "creations of the bootstrap machine")

		Expect(world.API.Delete(ctx, capiworld.Cluster(key, true))).To(Succeed())
		eventually(ctx, "nothing to be left", func(ctx context.Context) error { return gone(ctx, key) })
	}, SpecTimeout(2*patience))
})
