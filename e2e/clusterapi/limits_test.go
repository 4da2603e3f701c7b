package clusterapi_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("Sixteen listed revisions", func() {
	It("are as many as there may be, until one is removed or the inputs ask for the desired one again", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, tiny("1").with(configMap("kept", "one")))})
		operate(harness.OperatorOptions{})
		first := installed(ctx, 1)
		hold(ctx, "stuck")
		for number := 2; number <= 16; number++ {
			release(ctx, tiny(fmt.Sprint(number)).running("stuck"))
			until(ctx, fmt.Sprintf("revision %d to be listed", number), listed(number))
		}
		release(ctx, tiny("17"))
		v := until(ctx, "the limit to be reported", inState(harness.MaxRevisions),
			says("Degraded", "True", "NonRetryableError", "16 revisions", "remove"), says("Progressing", "False", "NonRetryableError"),
			says("RevisionControllerDegraded", "True", "NonRetryableError"), says("Upgradeable", "False", "NonRetryableError"),
			says("Available", "True", "AsExpected"))
		Expect(v.Revisions()).To(HaveLen(16))
		Expect(v.Current()).To(Equal(first.Current()))

		release(ctx, tiny("16").running("stuck"))
		until(ctx, "the inputs to ask for the desired revision again", stuckOn("Deployment openshift-cluster-api/tiny"), listed(16),
			says("Degraded", "False", "AsExpected"))
		release(ctx, tiny("17"))
		until(ctx, "the limit to be reported again", inState(harness.MaxRevisions))

		status(ctx, func(s *operatorv1alpha1.ClusterAPIStatus) {
			s.Revisions = append(s.Revisions[:1:1], s.Revisions[2:]...)
		})
		installed(ctx, 17)
		until(ctx, "the conditions of a finished installation", finished)
		Expect(inventories(ctx)).To(ConsistOf("capstan-inventory-17"))
		expectGone(ctx, configMap("kept", "one"))
	})
})

// tiny is a provider that is quickly told apart from others of its kind.
func tiny(content string) *provider {
	all := newProvider("tiny")
	return emptyProvider("tiny").with(all.find("ServiceAccount", "tiny"), all.find("Deployment", "tiny"), configMap("content", content))
}
