package clusterapi_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("An installation waits", func() {
	It("for the platform, and goes on when the Infrastructure tells it", func(ctx SpecContext) {
		begin(ctx, harness.World{Images: push(ctx, newProvider("alpha"))})
		operate(harness.OperatorOptions{})
		v := until(ctx, "the operator to wait for the platform", inState(harness.WaitingOnInfra),
			says("RevisionControllerProgressing", "True", "WaitingOnExternal", "Infrastructure cluster has no status.platformStatus.type"),
			says("Progressing", "True", "WaitingOnExternal"), says("Degraded", "False", "AsExpected"))
		Expect(v.Condition("Available")).To(BeNil())
		Expect(v.Revisions()).To(BeEmpty())
		expectGone(ctx, newProvider("alpha").objects...)

		Expect(env.SetPlatform(ctx, configv1.AWSPlatformType)).To(Succeed())
		installed(ctx, 1)
	})

	It("for the platform also while the Infrastructure has a status of it without a type", func(ctx SpecContext) {
		begin(ctx, harness.World{Images: push(ctx, newProvider("alpha"))})
		Expect(env.SetPlatform(ctx, "")).To(Succeed())
		operate(harness.OperatorOptions{})
		until(ctx, "the operator to wait for the platform", inState(harness.WaitingOnInfra),
			says("RevisionControllerProgressing", "True", "WaitingOnExternal", "Infrastructure cluster has no status.platformStatus.type"))
		silent(ctx)
		Expect(env.SetPlatform(ctx, configv1.AWSPlatformType)).To(Succeed())
		installed(ctx, 1)
	})

	It("for a ClusterAPI object that is created late", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, NoClusterAPI: true, Images: push(ctx, newProvider("alpha"))})
		operate(harness.OperatorOptions{})
		until(ctx, "the operator to ask for a ClusterAPI", inState(harness.WaitingOnInfra),
			says("Progressing", "True", "WaitingOnExternal", "ClusterAPI cluster does not exist"))

		Expect(env.CreateClusterAPI(ctx)).To(Succeed())
		installed(ctx, 1)
	})

	It("for a Deployment that does not become Available before it begins with the next wave", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").running("one"), newProvider("beta").at(30))})
		free := hold(ctx, "one")
		operate(harness.OperatorOptions{SteeredClock: true})
		v := soon(ctx, "the message to name the Deployment", stuckOn("Deployment openshift-cluster-api/alpha"),
			says("InstallerControllerProgressing", "True", "Progressing", "wave", "Degraded at"))
		Expect(v.Current()).To(BeEmpty())
		Expect(v.Condition("Available")).To(BeNil())
		expectGone(ctx, newProvider("alpha").find("ValidatingWebhookConfiguration", "alpha"))
		expectGone(ctx, newProvider("beta").objects...)

		free()
		installed(ctx, 1)
		uids(ctx, newProvider("beta").objects...)
	})

	It("for nobody to create the ClusterOperator: it does so itself, also when it is deleted in the middle", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").running("one"))})
		missing := &configv1.ClusterOperator{ObjectMeta: metav1.ObjectMeta{Name: harness.ClusterOperatorName}}
		Expect(env.Client.Delete(ctx, missing)).To(Succeed())
		free := hold(ctx, "one")
		operate(harness.OperatorOptions{SteeredClock: true})
		first := soon(ctx, "the ClusterOperator to be created", stuckOn("Deployment openshift-cluster-api/alpha"))

		Expect(env.Client.Delete(ctx, missing)).To(Succeed())
		again := soon(ctx, "the ClusterOperator to be created again", stuckOn("Deployment openshift-cluster-api/alpha"))
		Expect(again.ClusterOperator.UID).NotTo(Equal(first.ClusterOperator.UID))
		Expect(again.Revisions()).To(Equal(first.Revisions()))

		free()
		v := installed(ctx, 1)
		Expect(v.Revisions()).To(HaveLen(1))
		until(ctx, "the conditions of a finished installation", finished)
	})
})

var _ = Describe("The platform", func() {
	images := func(ctx SpecContext) map[string]string {
		return push(ctx, newProvider("core").at(10), newProvider("aws").on("AWS"), newProvider("vsphere").on("VSphere"))
	}

	DescribeTable("chooses from the same images", func(ctx SpecContext, platform configv1.PlatformType, chosen, left []string) {
		begin(ctx, harness.World{Platform: platform, Images: images(ctx)})
		operate(harness.OperatorOptions{})
		v := installed(ctx, 1)
		Expect(components(v)).To(Equal(chosen))
		for _, name := range chosen {
			uids(ctx, newProvider(name).objects...)
		}
		for _, name := range left {
			expectGone(ctx, newProvider(name).objects...)
		}
	},
		Entry("on AWS", configv1.AWSPlatformType, []string{"core", "aws"}, []string{"vsphere"}),
		Entry("on VSphere", configv1.VSpherePlatformType, []string{"core", "vsphere"}, []string{"aws"}),
	)

	It("may choose nothing, which installs a revision without components", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.NonePlatformType, Images: push(ctx, newProvider("aws").on("AWS"))})
		operate(harness.OperatorOptions{})
		v := installed(ctx, 1)
		Expect(components(v)).To(BeEmpty())
		until(ctx, "the conditions of a finished installation", finished)
		expectGone(ctx, newProvider("aws").objects...)
	})
})
