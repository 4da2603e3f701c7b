package clusterapi_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

var _ = Describe("The provider of this repository, which makes clusters of OpenShift", func() {
	It("is installed after the core, and leaves nothing when it is taken off the list", func(ctx SpecContext) {
		images, err := env.Push(ctx, providers.OpenShift)
		Expect(err).NotTo(HaveOccurred())
		profile, err := providers.Own(ctx, providers.Options{Dir: GinkgoT().TempDir(), ManifestsGen: filepath.Join(bin, "manifests-gen")}, "../../config/default")
		Expect(err).NotTo(HaveOccurred())
		pushed, err := providers.Push(ctx, env.Registry.Host(), []providers.Profile{profile})
		Expect(err).NotTo(HaveOccurred())
		core := map[string]string{providers.Core: images[providers.Core]}
		both := map[string]string{providers.Core: images[providers.Core], providers.OpenShiftInstall: pushed[providers.OpenShiftInstall]}

		begin(ctx, harness.World{Platform: configv1.NonePlatformType, Images: both})
		operate(harness.OperatorOptions{})
		Expect(components(installed(ctx, 1))).To(Equal([]string{providers.Core, providers.OpenShiftInstall}))
		Expect(ownThere(ctx)).NotTo(BeEmpty())

		Expect(env.SetImages(ctx, core)).To(Succeed())
		Expect(components(installed(ctx, 2))).To(Equal([]string{providers.Core}))
		Expect(ownThere(ctx)).To(BeEmpty())
	})
})

// ownThere are the definitions and objects of the provider that are there.
func ownThere(ctx context.Context) []string {
	GinkgoHelper()
	return slices.DeleteFunc(objectsThere(ctx), func(name string) bool {
		return !strings.Contains(name, "cluster.openshift.io") && !strings.Contains(name, providers.OpenShiftInstall)
	})
}
