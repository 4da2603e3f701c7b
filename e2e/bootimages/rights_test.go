package bootimages_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
)

var _ = Describe("An operator that lacks a right of --boot-images", func() {
	It("makes its passes, says which right that is, and moves boot images once it is given", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		remove(ctx, parse(`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: capstan-bootimages, namespace: openshift-machine-api}}`))
		set := create(ctx, machineSet("worker-0", onAWS(ami(1))))
		s.operate(ctx, both)
		operatorTells(ctx, "Progressing", "True", "EphemeralError", "cannot list resource", "openshift-machine-api")
		s.advance(6 * time.Minute)
		operatorTells(ctx, "Degraded", "True", "EphemeralError", "cannot list resource", "openshift-machine-api")
		s.nothingWritten(ctx)

		By("giving it the right")
		Expect(s.world.ApplyRights(ctx)).To(Succeed())
		operatorTells(ctx, "Degraded", "False", "AsExpected")
		s.targets(ctx, "Current", 1)
		s.upgrade(ctx, 2)
		becomes(ctx, set, amiID, ami(2))
	})
})
