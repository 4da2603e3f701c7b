package openshiftcontrolplane_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// release is one that guests say they have.
const release = "4.22.0"

var _ = Describe("A cluster of OpenShift", func() {
	It("of one control-plane machine reaches Installed without its bootstrap machine's objects, is left alone by a provider that restarts, and leaves nothing when it is deleted", func(ctx SpecContext) {
		key := newKey(ctx)
		since := mark(ctx)
		objects := install(ctx, key)
		Expect(bootstraps(ctx, since, key)).To(HaveLen(1), "creations of the bootstrap machine")
		Expect(deleted(ctx, since, key)).To(HaveExactElements("one-bootstrap"))
		// Machine, config, infrastructure machine, payload and data Secret have it in their names.
		Expect(objects).NotTo(ContainElement(ContainSubstring("bootstrap")))
		available(ctx, key)

		restart(ctx, key)
		remove(ctx, key)
	}, SpecTimeout(2*patience))
})
