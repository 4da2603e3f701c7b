package openshiftcontrolplane_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/capiworld"
)

var _ = Describe("The API server", func() {
	DescribeTable("refuses a control plane", func(ctx SpecContext, value any, says string, path ...string) {
		image, err := world.Release(ctx, release)
		Expect(err).NotTo(HaveOccurred())
		key := newKey(ctx)
		asked := capiworld.ControlPlane(key, 3, image)
		Expect(unstructured.SetNestedField(asked.Object, value, path...)).To(Succeed())
		Expect(world.Create(ctx, asked)).To(MatchError(ContainSubstring(says)))
	},
		Entry("whose selector would choose every Secret", map[string]any{}, "an empty selector", "spec", "manifestsSelector"),
		Entry("of two machines", int64(2), "replicas", "spec", "replicas"),
		Entry("whose release has no digest", "example.com/release:4.22.0", "releaseImage needs a digest", "spec", "releaseImage"),
		Entry("whose machines are of no template", "DevMachine", "has to end in Template", "spec", "machineTemplate", "spec", "infrastructureRef", "kind"),
	)

	It("refuses another template of machines, and another number of them after a handover", func(ctx SpecContext) {
		image, err := world.Release(ctx, release)
		Expect(err).NotTo(HaveOccurred())
		asked := capiworld.ControlPlane(newKey(ctx), 3, image)
		Expect(world.Create(ctx, asked)).To(Succeed())
		Expect(refine(ctx, asked, `{"spec":{"machineTemplate":{"spec":{"infrastructureRef":{"name":"other"}}}}}`)).
			To(MatchError(ContainSubstring("infrastructureRef cannot be changed")))
		Expect(refine(ctx, asked, `{"spec":{"replicas":5}}`)).To(MatchError(ContainSubstring("management is Handover")))
	})
})
