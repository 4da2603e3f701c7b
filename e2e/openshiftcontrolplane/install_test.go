package openshiftcontrolplane_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// release is one that guests say they have.
const release = "4.22.0"

var _ = Describe("A cluster of OpenShift", func() {
	It("of one control-plane machine reaches Installed", func(ctx SpecContext) {
		image, err := world.Release(ctx, release)
		Expect(err).NotTo(HaveOccurred())
		asked := world.Ask(newKey(ctx), 1, image, "")
		Expect(world.Create(ctx, asked.Objects()...)).To(Succeed())
		eventually(ctx, "the cluster to be installed", func(ctx context.Context) error {
			standing, err := world.Standing(ctx, asked.Key)
			if err != nil {
				return err
			}
			return standing.Is("Installed")
		})
	}, SpecTimeout(2*patience))
})
