package clusterapi_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("The first installation", func() {
	It("installs a synthetic provider of every kind of object", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx,
			newProvider("alpha").with(custom("alpha", "first")), newProvider("beta").at(30))})
		operate(harness.OperatorOptions{})
		v := installed(ctx, 1)
		Expect(v.Revisions()[0].Components).To(HaveLen(2))
	})
})
