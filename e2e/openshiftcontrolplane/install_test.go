package openshiftcontrolplane_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// release is one that guests say they have.
const release = "4.22.0"

var _ = Describe("A cluster of OpenShift", func() {
	It("of one control-plane machine reaches Installed, is left alone by a provider that restarts, and leaves nothing when it is deleted", func(ctx SpecContext) {
		key := newKey(ctx)
		since := mark(ctx)
		install(ctx, key)
		Expect(bootstraps(ctx, since, key)).To(HaveLen(1), "creations of the bootstrap machine")

		restart(ctx, key)
		remove(ctx, key)
	}, SpecTimeout(2*patience))
})
